// `adc verify`: the loader's own checks on a bundle, then those of the tools that know each form of code.
// None of the code is run.

#include <cstdio>

#include "bundle_file.h"
#include "code_check.h"
#include "command_line.h"
#include "commands.h"
#include "driver/fact_note.h"
#include "keys/keys.h"
#include "loader.h"
#include "print.h"
#include "support/exit_code.h"
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
    std::optional<std::string> other = driver::CompareFactNote(file.metadata, section.target, bytes);
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
  line.Positional("bundle", 1, SIZE_MAX, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  int worst = kExitOk;
  options.compile_ir = false;
  for (const std::string& path : files) {
    Bundle bundle;
    std::vector<uint8_t> bytes;
    int code = ReadBundle(path, options, &bytes);
    auto error = Sized<adrt_error>();
    adrt_status status =
        code == kExitOk ? OpenBytes(bytes, TrustFor(path, options), &bundle, &error) : ADRT_OK;
    if (status != ADRT_OK) code = ReportFailure("'" + path + "'", status, error);
    std::string silent;
    if (code == kExitOk) code = CheckAllCode(path, std::move(bytes), &silent);
    auto report = Sized<adrt_bundle_report>();
    if (code == kExitOk) code = CheckSigned(path, bundle.get(), options.trust, &report);
    if (code != kExitOk) {
      if (worst != kExitBadBundle) worst = code;
      continue;
    }
    std::string signature(adrt_signature_text(report.signature));
    if (report.signature == ADRT_SIGNATURE_GOOD) signature = "signed by " + keys::Hex(report.signer);
    Print("%s: good (%u kernels, %u targets, %u sections), %s\n", path.c_str(), report.kernel_count,
          report.target_count, report.section_count, signature.c_str());
    if (!silent.empty())
      Print("%s: not seen, since the code has no note of it: stacks and iterations of %s\n", path.c_str(),
            silent.c_str());
  }
  return worst;
}

}  // namespace adc::tool
