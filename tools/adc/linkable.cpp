// Object and table belong together by a name: the object has a symbol that ends in the bundle's content id,
// and the table takes the address of its first entry under this name. A table with the object of another
// compilation does not link.

#include "linkable.h"

#include <adrt/adrt_static.h>

#include <cctype>
#include <map>

#include "artifact/linkable.h"
#include "artifact/strip.h"
#include "command_line.h"
#include "host/exit_code.h"
#include "print.h"

namespace adc::tool {

bool IsIdentifier(std::string_view name) {
  for (char letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0 && letter != '_') return false;
  }
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0;
}

namespace {

std::string AsIdentifier(std::string_view name) {
  std::string word;
  for (char letter : name) word += IsIdentifier(std::string("_") + letter) ? letter : '_';
  return IsIdentifier(word) ? word : "adc_" + word;
}

/// A literal of C, whatever the text holds.
std::string Literal(std::string_view text) {
  std::string literal = "\"";
  for (char letter : text) {
    bool is_plain = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                    std::string_view(" _-.:").find(letter) != std::string_view::npos;
    char octal[8];
    std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(letter)));
    literal += is_plain ? std::string(1, letter) : octal;
  }
  return literal + "\"";
}

std::string IdText(const uint8_t (&id)[artifact::kContentIdSize]) {
  std::string text = "{";
  for (uint8_t byte : id) text += std::to_string(byte) + ", ";
  text.resize(text.size() - 2);
  return text + "}";
}

std::string ShortId(const uint8_t (&id)[artifact::kContentIdSize]) {
  std::string text;
  for (uint32_t index = 0; index < 8; ++index) {
    char digits[4];
    std::snprintf(digits, sizeof digits, "%02x", id[index]);
    text += digits;
  }
  return text;
}

class Linkable {
 public:
  Linkable(const BundleFile& file, LinkableNames names) : file_(file), names_(std::move(names)) {
    if (names_.prefix.empty()) names_.prefix = AsIdentifier(names_.stem);
  }

  int Run(const std::string& target, std::vector<LinkableFile>* files) {
    if (!IsIdentifier(names_.prefix)) {
      PrintError("--prefix: '" + names_.prefix + "' is no identifier of C",
                 "letters, digits and underscores, and no digit first");
      return kExitUsage;
    }
    if (names_.stem.find_first_of("\"\\\n\r") != std::string::npos) {
      PrintError("the bundle's name has a quote, a backslash or a line break, which #include does not take",
                 "rename the bundle");
      return kExitUsage;
    }
    if (int code = FindObject(target); code != kExitOk) return code;
    if (int code = ReadEntries(); code != kExitOk) return code;
    artifact::Vector<uint8_t> static_bundle, renamed;
    artifact::BundleIndex index;
    artifact::Error error;
    std::vector<uint8_t> object;
    if (int code = ReadSectionBytes(file_, section_, &object); code != kExitOk) return code;
    if (!artifact::WithoutProcessorCode(file_.bytes, file_.index, &static_bundle, &error) ||
        !artifact::ReadIndex({static_bundle.data(), static_bundle.size()}, {}, nullptr, &index, &error) ||
        !artifact::WithPrefix(object, names_.prefix + "_", Mark(), entries_.begin()->first, &renamed,
                              &error)) {
      PrintError(std::string(error.message()));
      return kExitBadBundle;
    }
    if (!names_.own_object) Add("_code.o", {renamed.begin(), renamed.end()}, files);
    AddText("_entries.c", TableText(index.content_id), files);
    AddText("_entries.h", HeaderText(), files);
    Add("_static.adcb", {static_bundle.begin(), static_bundle.end()}, files);
    return kExitOk;
  }

 private:
  void Add(const char* ending, std::vector<uint8_t> bytes, std::vector<LinkableFile>* files) const {
    files->push_back({names_.stem + ending, std::move(bytes)});
  }
  void AddText(const char* ending, const std::string& text, std::vector<LinkableFile>* files) const {
    Add(ending, {text.begin(), text.end()}, files);
  }

  int FindObject(const std::string& wanted) {
    std::string list;
    uint32_t objects = 0;
    for (uint32_t number = 0; number < file_.index.sections.size(); ++number) {
      const artifact::Section& section = file_.index.sections[number];
      if (section.kind != artifact::section::kObject || section.target >= file_.metadata.targets.size())
        continue;
      std::string target(file_.metadata.targets[section.target].name.view());
      list += (list.empty() ? "" : ", ") + target;
      if (!wanted.empty() && wanted != target) continue;
      ++objects;
      section_ = number;
      target_ = section.target;
    }
    if (objects == 1) return kExitOk;
    PrintError(objects == 0
                   ? "the bundle has no object" + (wanted.empty() ? "" : " for target '" + wanted + "'")
                   : "the bundle has objects of several targets, whose symbols are the same",
               list.empty() ? "compile it for a CPU target" : "say which with --target: " + list);
    return objects == 0 ? kExitFailed : kExitUsage;
  }

  int ReadEntries() {
    for (const artifact::KernelMeta& kernel : file_.metadata.kernels) {
      for (uint32_t task = 0; task < kernel.tasks.size(); ++task) {
        for (const artifact::EntryMeta& entry : kernel.tasks[task].entries) {
          if (entry.target != target_) continue;
          std::string symbol(entry.symbol.view());
          if (!IsIdentifier(symbol)) {
            PrintError("the entry '" + symbol + "' is no identifier of C", "compile the bundle again");
            return kExitBadBundle;
          }
          entries_.emplace(symbol, names_.prefix + "_" + symbol);
        }
      }
    }
    if (!entries_.empty()) return kExitOk;
    PrintError("the bundle has no entry for the target", "compile the bundle again");
    return kExitBadBundle;
  }

  /// The name that only the object of this bundle has.
  std::string Mark() const { return names_.prefix + "_code_" + ShortId(file_.index.content_id); }
  std::string MarkText() const {
    return "/* The first entry, by a name that the object of this bundle alone has. */\nvoid " + Mark() +
           "(const struct adrt_cpu_frame* frame, uint64_t begin, uint64_t end);\n\n";
  }
  std::string Head() const {
    return "/* Made by " + AsComment(file_.metadata.producer.view()) + " of " + AsComment(names_.stem) +
           ".adcb, for " + AsComment(TargetName()) + ". */\n";
  }
  std::string_view TargetName() const { return file_.metadata.targets[target_].name; }
  /// Text that ends no comment.
  static std::string AsComment(std::string_view text) {
    std::string literal = Literal(text);
    return literal.substr(1, literal.size() - 2);
  }

  std::string HeaderText() const {
    std::string guard = names_.prefix + "_ENTRIES_H", list;
    for (char& letter : guard) letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
    for (const auto& [name, function] : entries_)
      list += "void " + function + "(const struct adrt_cpu_frame* frame, uint64_t begin, uint64_t end);\n";
    return Head() + "#ifndef " + guard + "\n#define " + guard +
           "\n\n#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
           "/* For adrt_module_from_entries (adrt/adrt_static.h). */\nextern const struct adrt_entries " +
           names_.prefix +
           "_entries;\n\n/* The entries, one per task, for calls without the loader (artifact/cpu_abi.h). "
           "*/\n"
           "struct adrt_cpu_frame;\n" +
           list + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n";
  }

  std::string TableText(const uint8_t (&static_id)[artifact::kContentIdSize]) const {
    std::string rows, ids = IdText(file_.index.content_id) + ",\n        " + IdText(static_id);
    for (const auto& [name, function] : entries_) {
      bool is_first = name == entries_.begin()->first && !names_.own_object;
      rows += "    {\"" + name + "\", " + (is_first ? Mark() : function) + "},\n";
    }
    return Head() + "#include \"" + names_.stem + "_entries.h\"\n\n#include <adrt/adrt_static.h>\n\n" +
           (names_.own_object ? "" : MarkText()) + "static const adrt_entry entries[] = {\n" + rows +
           "};\n\nconst adrt_entries " + names_.prefix + "_entries = {\n    sizeof(adrt_entries),\n    " +
           std::to_string(ADRT_ENTRIES_ABI) + ",\n    " + Literal(names_.stem) + ",\n    " +
           Literal(TargetName()) + ",\n    {\n        " + ids + ",\n    },\n    entries,\n    " +
           std::to_string(entries_.size()) + ",\n    0,\n    {0, 0},\n};\n";
  }

  const BundleFile& file_;
  LinkableNames names_;
  uint32_t section_ = 0, target_ = 0;
  std::map<std::string, std::string> entries_;  ///< as the metadata and as linkers name them
};

}  // namespace

int MakeLinkable(const BundleFile& file, const std::string& target, LinkableNames names,
                 std::vector<LinkableFile>* files) {
  return Linkable(file, std::move(names)).Run(target, files);
}

}  // namespace adc::tool
