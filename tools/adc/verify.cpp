// `adc verify`: the loader's own checks on a bundle, then those of the tools that know each form of code.
// None of the code is run.

#include <cstdio>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "code_check.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "ir/module.h"
#include "json_output.h"
#include "keys/keys.h"
#include "loader.h"
#include "print.h"
#include "product/fact_note.h"
#include "trust.h"

namespace adc::tool {

namespace {

/// That every target of the metadata has code, a CPU's in both of its forms: the entries of the metadata name
/// places in it. An exit code, as below.
int CheckTargetsHaveCode(const std::string& path, const BundleFile& file) {
  int result = kExitOk;
  for (uint32_t target = 0; target < file.metadata.targets.size(); ++target) {
    bool has_object = file.index.Find(artifact::section::kObject, target) != nullptr;
    bool has_image = file.index.Find(artifact::section::kImage, target) != nullptr;
    if (has_object == has_image) continue;  // other kinds of targets have one form, and none is said below
    std::string name(file.metadata.targets[target].name.view());
    PrintError(
        "'" + path + "': target '" + name + "' has no " +
            (has_object ? "image (SHLB): the loader cannot run it" : "object (OBJ_): it cannot be linked"),
        "it was taken out; compile again with the targets that the bundle is to hold");
    result = kExitBadBundle;
  }
  for (uint32_t target = artifact::TargetWithoutCode(file.metadata, file.index);
       target != artifact::kNoTarget;
       target = artifact::TargetWithoutCode(file.metadata, file.index, target + 1)) {
    std::string name(file.metadata.targets[target].name.view());
    PrintError("'" + path + "': the metadata names target '" + name + "', and no section holds its code",
               "it was taken out; compile again with the targets that the bundle is to hold");
    result = kExitBadBundle;
  }
  return result;
}

/// The code of every section, as the tools for its form see it. An exit code, after what is wrong was
/// printed. `silent`: the sections whose code has no note of what it was compiled to be launched with.
int CheckAllCode(const std::string& path, std::vector<uint8_t> content, std::string* silent) {
  BundleFile file;
  if (int code = TakeBundle(path, std::move(content), &file); code != kExitOk) return code;
  int result = CheckTargetsHaveCode(path, file);
  for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
    const artifact::Section& section = file.index.sections[number];
    if (section.target == artifact::kNoTarget) continue;
    std::vector<uint8_t> bytes;
    if (int code = ReadSectionBytes(file, number, &bytes); code != kExitOk) return code;
    std::string wrong = CheckCode(file.metadata, section, bytes);
    std::optional<std::string> other = product::CompareFactNote(file.metadata, section.target, bytes);
    if (!other) *silent += (silent->empty() ? "" : ", ") + SectionTitle(file, section);
    if (wrong.empty() && other && !other->empty())
      wrong = "the metadata differs from the code's own note of " + *other;
    if (wrong.empty()) continue;
    PrintError("'" + path + "': " + SectionTitle(file, section) + ": " + Printable(wrong));
    result = kExitBadBundle;
  }
  return result;
}

/// Where keys are given, that one of them has signed the content. An exit code; `report` is filled.
int CheckSigned(const std::string& path, const adrt_bundle* bundle, const Trust& trust,
                adrt_bundle_report* report) {
  adrt_bundle_info(bundle, report, nullptr);
  if (trust.keys.empty() || report->signature == ADRT_SIGNATURE_GOOD) return kExitOk;
  PrintError("'" + path + "': " + adrt_signature_text(report->signature),
             report->signature == ADRT_SIGNATURE_BAD
                 ? "the content is not what was signed: take the bundle from where it was made"
                 : "none of the given keys has signed it");
  return kExitBadBundle;
}

/// The facts that are printed of a good bundle.
struct Good {
  adrt_bundle_report report = Sized<adrt_bundle_report>();
  std::string silent;  ///< sections whose code has no note
};

/// An exit code, after what is wrong was printed.
int VerifyOne(const std::string& path, const OpenOptions& options, Good* good) {
  Bundle bundle;
  std::vector<uint8_t> bytes;
  if (int code = ReadBundle(path, options, &bytes); code != kExitOk) return code;
  auto error = Sized<adrt_error>();
  adrt_status status = OpenBytes(bytes, TrustFor(path, options), &bundle, &error);
  if (status != ADRT_OK) return ReportFailure("'" + path + "'", status, error);
  if (int code = CheckAllCode(path, std::move(bytes), &good->silent); code != kExitOk) return code;
  return CheckSigned(path, bundle.get(), options.trust, &good->report);
}

std::string SignatureText(const adrt_bundle_report& report) {
  if (report.signature == ADRT_SIGNATURE_GOOD) return "signed by " + keys::Hex(report.signer);
  return adrt_signature_text(report.signature);
}

void Say(const std::string& path, const Good& good) {
  const adrt_bundle_report& report = good.report;
  Print("%s: good (%u kernels, %u targets, %u sections), %s\n", path.c_str(), report.kernel_count,
        report.target_count, report.section_count, SignatureText(report).c_str());
  if (!good.silent.empty())
    Print("%s: not seen, since the code has no note of it: stacks and iterations of %s\n", path.c_str(),
          good.silent.c_str());
}

/// Where `code` says that the bundle is bad, standard error has the reason.
Json AsJson(const std::string& path, int code, const Good& good) {
  Json object = {{"file", path}, {"good", code == kExitOk}};
  if (code != kExitOk) return object;
  const adrt_bundle_report& report = good.report;
  object["kernels"] = report.kernel_count;
  object["targets"] = report.target_count;
  object["sections"] = report.section_count;
  object["signature"] = SignatureText(report);
  object["without_note"] = good.silent;
  return object;
}

}  // namespace

int Verify(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  OpenOptions options;
  CommandLine line(
      "adc verify [options] bundle.adcb...",
      "Checks bundles as the loader does before it takes them: form, hashes, metadata, payloads. Then the\n"
      "code: SPIR-V by its validator, machine code by LLVM's readers, PTX and Metal's text against what\n"
      "a launch gives, and the note that the compiler leaves in each of them (of stacks and iterations,\n"
      "parameters and entry points) against the metadata. None of it is run. Exit code 3 where one is bad.");
  line.Example("adc verify *.adcb", "one line for each; exit code 3 where one is bad");
  AddKeyOption(line, "the bundle must be signed by this public key; of several keys, by one",
               &options.trust.keys);
  line.Example("adc verify --key=studio.pub relax.adcb", "exit code 3 where studio has not signed it");
  bool json = false;
  line.Flag("--json", "print a list of objects; reasons go to standard error", &json);
  line.Positional("bundle", 1, SIZE_MAX, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  Json list = Json::array();
  int worst = kExitOk;
  options.compile_ir = false;
  for (const std::string& path : files) {
    Good good;
    int code = VerifyOne(path, options, &good);
    if (json) {
      list.push_back(AsJson(path, code, good));
    } else if (code == kExitOk) {
      Say(path, good);
    }
    if (code != kExitOk && worst != kExitBadBundle) worst = code;
  }
  if (json) PrintJson(list);
  return worst;
}

}  // namespace adc::tool
