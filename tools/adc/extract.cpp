// `adc extract`: the payloads of a bundle as files.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "host/exit_code.h"
#include "host/files.h"
#include "host/output_places.h"
#include "json_output.h"
#include "linkable.h"
#include "print.h"

namespace adc::tool {

namespace {

struct Kind {
  const char* four;
  const char* word;
  const char* extension;
};
constexpr Kind kKinds[] = {{"META", "meta", ".json"}, {"OBJ_", "obj", ".o"},       {"SHLB", "image", ".so"},
                           {"PTX_", "ptx", ".ptx"},   {"HSAC", "hsaco", ".hsaco"}, {"SPV_", "spirv", ".spv"},
                           {"MSL_", "msl", ".metal"}, {"PRNT", "prints", ".json"}};

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

/// The parts to extract.
struct Wanted {
  std::string bundle;  ///< its file
  std::string kind;    ///< "PTX_"; empty: all
  std::string target;  ///< empty: all
  std::string folder = ".";
  bool linkable = false;  ///< the parts that a program links
  std::string prefix;     ///< of its names
  bool own_object = false;
  bool json = false;
};

/// Writes `name` in the folder, which is made where it is missing, and adds it to `list`.
int WriteFile(const Wanted& wanted, const std::string& name, std::span<const uint8_t> bytes, Json* list) {
  std::error_code failed;  // writing reports the error again
  std::filesystem::create_directories(wanted.folder, failed);
  std::string path = wanted.folder + "/" + name;
  if (FileStatus safe = KeepSources({path}, {wanted.bundle}); !safe) {
    PrintError(safe.Failure().text, "name another folder with -o");
    return kExitUsage;
  }
  FileStatus written = WriteWhole(path, bytes);
  if (!written) {
    PrintError(written.Failure().text, written.Failure().help);
    return kExitFailed;
  }
  list->push_back({{"file", path}, {"bytes", bytes.size()}});
  if (!wanted.json) Print("%s: %zu bytes\n", path.c_str(), bytes.size());
  return kExitOk;
}

/// The name of a section's target; empty where it belongs to none.
std::string TargetOf(const BundleFile& file, const artifact::Section& section) {
  bool has = section.target < file.metadata.targets.size();
  return has ? std::string(file.metadata.targets[section.target].name.view()) : "";
}

int WriteSection(const BundleFile& file, const Wanted& wanted, uint32_t number, const std::string& name,
                 Json* list) {
  std::vector<uint8_t> bytes;
  if (int code = ReadSectionBytes(file, number, &bytes); code != kExitOk) return code;
  return WriteFile(wanted, name, bytes, list);
}

/// Every section that is wanted, named after its target.
int WriteSections(const BundleFile& file, const Wanted& wanted, Json* list) {
  uint32_t written = 0;
  for (uint32_t number = 0; number < file.index.sections.size(); ++number) {
    const artifact::Section& section = file.index.sections[number];
    char four[5];
    artifact::SectionKindName(section.kind, four);
    const Kind* kind = KindOf(four);
    std::string target = TargetOf(file, section);
    if (kind == nullptr || (!wanted.kind.empty() && wanted.kind != four)) continue;
    if (!wanted.target.empty() && wanted.target != target) continue;
    std::string name = FileWord(target);
    if (target.empty()) name = section.kind == artifact::section::kPrints ? "prints" : "metadata";
    int code = WriteSection(file, wanted, number, name + kind->extension, list);
    if (code != kExitOk) return code;
    ++written;
  }
  if (written != 0) return kExitOk;
  PrintError("the bundle holds no such section");
  return kExitFailed;
}

int WriteLinkable(const BundleFile& file, const Wanted& wanted, Json* list) {
  std::vector<LinkableFile> files;
  std::string stem = std::filesystem::path(wanted.bundle).stem().string();
  int code = MakeLinkable(file, wanted.target, {stem, wanted.prefix, wanted.own_object}, &files);
  for (size_t at = 0; code == kExitOk && at < files.size(); ++at)
    code = WriteFile(wanted, files[at].name, files[at].bytes, list);
  return code;
}

}  // namespace

int Extract(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  Wanted wanted;
  CommandLine line("adc extract [options] bundle.adcb",
                   "Writes the payloads of a bundle to files, named after their targets.");
  std::vector<std::string> kinds;
  for (const Kind& kind : kKinds) kinds.emplace_back(kind.word);
  line.OneOf("--kind", "KIND", "meta, obj, image, ptx, hsaco, spirv, msl, prints; default: all", kinds,
             [&wanted](size_t at) { wanted.kind = kKinds[at].four; });
  line.Text("--target", "TARGET", "the code for TARGET alone", &wanted.target);
  line.Flag("--static",
            "what a program links that loads no code, for one CPU target, named after the bundle\n"
            "NAME: NAME_code.o, the object; NAME_entries.c and .h, the table of its entries for\n"
            "adrt_module_from_entries (adrt/adrt_static.h); NAME_static.adcb, the bundle without\n"
            "code of processors",
            &wanted.linkable);
  line.Text("--prefix", "PREFIX",
            "with --static: what the names begin with that linkers see; default: NAME, so that\n"
            "programs may link several bundles",
            &wanted.prefix);
  line.Flag("--own-object",
            "with --static: no object; the program links one for another system, which\n"
            "adc --emit=obj --triple=TRIPLE --prefix=NAME made with the same options",
            &wanted.own_object);
  line.Text("-o", "DIR",
            "the folder to write to, which is made where it is missing; default: the current one",
            &wanted.folder);
  line.Flag("--json", "print the files that were written as a list of objects", &wanted.json);
  line.Example("adc extract relax.adcb --kind=spirv -o shaders", "writes shaders/vulkan-1.2.spv");
  line.Example("adc extract relax.adcb --static --target=cpu:x86-64",
               "writes relax_code.o and the table relax_entries, for a linker");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  wanted.bundle = files[0];
  if ((!wanted.prefix.empty() || wanted.own_object) && !wanted.linkable) {
    PrintError(std::string(wanted.own_object ? "--own-object" : "--prefix") + " requires --static");
    return kExitUsage;
  }
  BundleFile file;
  if (int code = ReadBundleFile(files[0], &file); code != kExitOk) return code;
  Json list = Json::array();
  int code = wanted.linkable ? WriteLinkable(file, wanted, &list) : WriteSections(file, wanted, &list);
  if (code == kExitOk && wanted.json) PrintJson(list);
  return code;
}

}  // namespace adc::tool
