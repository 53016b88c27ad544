// `adc extract`: the payloads of a bundle as files.

#include <cstdio>

#include "command_line.h"
#include "commands.h"
#include "driver/files.h"
#include "driver/options.h"
#include "loader.h"

namespace adc::tool {

namespace {

struct Kind {
  const char* four;
  const char* word;
  const char* extension;
};
constexpr Kind kKinds[] = {{"META", "meta", ".json"}, {"OBJ_", "obj", ".o"},       {"SHLB", "image", ".so"},
                           {"PTX_", "ptx", ".ptx"},   {"HSAC", "hsaco", ".hsaco"}, {"SPV_", "spirv", ".spv"},
                           {"MSL_", "msl", ".metal"}};

const Kind* KindOf(std::string_view four) {
  for (const Kind& kind : kKinds) {
    if (four == kind.four) return &kind;
  }
  return nullptr;
}

/// "cpu:x86-64-v3" as part of a file's name.
std::string FileWord(std::string_view target) {
  std::string word;
  for (char letter : target) word += letter == ':' || letter == '/' ? '-' : letter;
  return word;
}

int WriteSection(const adrt_bundle* bundle, uint32_t index, const std::string& path) {
  auto error = Sized<adrt_error>();
  size_t size = 0;
  adrt_status status = adrt_bundle_section_data(bundle, index, nullptr, 0, &size, &error);
  if (status != ADRT_OK) return ReportFailure("section " + std::to_string(index), status, error);
  std::vector<uint8_t> bytes(size);
  status = adrt_bundle_section_data(bundle, index, bytes.data(), bytes.size(), &size, &error);
  if (status != ADRT_OK) return ReportFailure("section " + std::to_string(index), status, error);
  diag::Status written = driver::WriteWhole(path, std::span<const uint8_t>(bytes));
  if (!written) {
    PrintError(written.Failure().text, written.Failure().help);
    return driver::kExitFailed;
  }
  std::printf("%s: %zu bytes\n", path.c_str(), size);
  return driver::kExitOk;
}

}  // namespace

int Extract(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  std::string folder = ".", wanted;
  CommandLine line("adc extract [options] bundle.adcb", "Writes the payloads of a bundle to files.");
  line.Value("--kind", "KIND", "meta, obj, image; default: all",
             [&wanted](std::string_view word) -> std::string {
               for (const Kind& kind : kKinds) {
                 if (word == kind.word) {
                   wanted = kind.four;
                   return {};
                 }
               }
               return "is none of meta, obj, image, ptx, hsaco, spirv, msl";
             });
  line.Text("-o", "DIR", "the folder to write to; default: the current one", &folder);
  line.Example("adc extract relax.adcb --kind=obj -o objects",
               "writes objects/cpu-x86-64-v3.o, for a linker");
  line.Positional("bundle", 1, 1, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  OpenOptions options;
  options.trust = false;
  options.compile_ir = false;
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != driver::kExitOk) return code;
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle.get(), &report, nullptr);
  uint32_t written = 0;
  for (uint32_t index = 0; index < report.section_count; ++index) {
    auto section = Sized<adrt_section_report>();
    adrt_bundle_section(bundle.get(), index, &section, nullptr);
    const Kind* kind = KindOf(section.kind);
    if (kind == nullptr || (!wanted.empty() && wanted != section.kind)) continue;
    auto target = Sized<adrt_target_info>();
    bool has_target = adrt_bundle_target(bundle.get(), section.target, &target, nullptr) == ADRT_OK;
    std::string name = has_target ? FileWord(target.name) : "metadata";
    if (int code = WriteSection(bundle.get(), index, folder + "/" + name + kind->extension);
        code != driver::kExitOk) {
      return code;
    }
    ++written;
  }
  if (written != 0) return driver::kExitOk;
  PrintError("the bundle holds no section of that kind");
  return driver::kExitFailed;
}

}  // namespace adc::tool
