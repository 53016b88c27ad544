// Puts in place of the SPIR-V of a bundle what adc makes of that SPIR-V:
//
//   adc_read_back OUTPUT INPUT...     each INPUT into the folder OUTPUT, under its own name
//
// A line for each bundle: its name, a tab, and how many entries were read back, or "REFUSED ..." with the
// first error. The new code has the entries and the bindings of the old one, so that the loader plans, binds
// and launches it in the same way: with the words, the heap and the status block of the kernel that the code
// was printed from.
//
// Exit code 1: a file cannot be read or written, or what was read back does not fit.

#include <artifact/bundle.h>
#include <artifact/metadata.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace {

namespace artifact = adc::artifact;
namespace fs = std::filesystem;

constexpr uint32_t kEntryPoint = 15, kCapability = 17, kFunction = 54;

std::vector<uint8_t> Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool Save(const fs::path& path, const void* data, size_t bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(data), static_cast<std::streamsize>(bytes));
  return static_cast<bool>(file.flush());
}

std::vector<uint32_t> WordsOf(const std::vector<uint8_t>& bytes) {
  std::vector<uint32_t> words(bytes.size() / 4);
  std::memcpy(words.data(), bytes.data(), words.size() * 4);
  return words;
}

/// The names of the entry points, in order, and where their instructions begin.
struct Entry {
  size_t at = 0, length = 0, name_words = 0;
  std::string name;
};
std::vector<Entry> EntriesOf(const std::vector<uint32_t>& words) {
  std::vector<Entry> entries;
  for (size_t at = 5; at < words.size() && (words[at] & 0xFFFF) != kFunction; at += words[at] >> 16) {
    if ((words[at] & 0xFFFF) != kEntryPoint) continue;
    Entry entry{at, words[at] >> 16, 0, {}};
    const char* text = reinterpret_cast<const char*>(&words[at + 3]);
    entry.name = text;
    entry.name_words = entry.name.size() / 4 + 1;
    entries.push_back(entry);
  }
  return entries;
}

/// Gives the entries of `words` the names of `wanted`, which are as many.
void Rename(std::vector<uint32_t>& words, const std::vector<Entry>& wanted) {
  std::vector<Entry> own = EntriesOf(words);
  for (size_t n = own.size(); n-- > 0;) {
    std::vector<uint32_t> name(wanted[n].name_words);
    std::memcpy(name.data(), wanted[n].name.c_str(), wanted[n].name.size() + 1);
    auto begin = words.begin() + static_cast<std::ptrdiff_t>(own[n].at + 3);
    begin = words.erase(begin, begin + static_cast<std::ptrdiff_t>(own[n].name_words));
    words.insert(begin, name.begin(), name.end());
    size_t length = own[n].length - own[n].name_words + name.size();
    words[own[n].at] = static_cast<uint32_t>(length) << 16 | kEntryPoint;
  }
}

/// States in `metadata` what a device must have for a module.
void AddFeatures(const std::vector<uint32_t>& words, artifact::TargetMeta& target) {
  struct Row {
    uint32_t capability;
    std::string_view feature;
  };
  static constexpr Row kRows[] = {
#define ADC_SPIRV_CAPABILITY(number, name, feature) {number, feature},
#include "artifact/spirv_capabilities.def"
#include "ir/module.h"
#undef ADC_SPIRV_CAPABILITY
  };
  std::set<std::string> features;
  for (const artifact::String& feature : target.features) features.emplace(feature.view());
  for (size_t at = 5; (words[at] & 0xFFFF) == kCapability; at += words[at] >> 16) {
    for (const Row& row : kRows)
      if (row.capability == words[at + 1] && !row.feature.empty()) features.emplace(row.feature);
  }
  artifact::Vector<artifact::String> sorted;
  for (const std::string& feature : features) sorted.push_back(artifact::String(std::string_view(feature)));
  target.features = std::move(sorted);
}

/// What is said of a bundle; nothing where a file fails.
std::optional<std::string> ReadBack(const fs::path& folder, const fs::path& input) {
  std::vector<uint8_t> bytes = Contents(input);
  artifact::BundleIndex index;
  artifact::Metadata metadata;
  artifact::Error error;
  if (!artifact::ReadBundle(bytes, artifact::Limits(), nullptr, &index, &metadata, &error))
    return std::nullopt;
  std::vector<std::vector<uint8_t>> sections;
  std::vector<artifact::SectionInput> inputs;
  uint32_t count = 0;
  std::string refused;
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const artifact::Section& section = index.sections[number];
    artifact::Vector<uint8_t> raw;
    if (!artifact::ReadSection(bytes, index, number, artifact::Limits(), &raw, &error)) return std::nullopt;
    sections.emplace_back(raw.begin(), raw.end());
    inputs.push_back({.kind = section.kind,
                      .target = section.target,
                      .required = (section.flags & artifact::kSectionRequired) != 0,
                      .alignment = section.alignment,
                      .bytes = {}});
    if (section.kind != artifact::section::kSpirv) continue;
    fs::path module = folder / (input.stem().string() + ".spv");
    if (!Save(module, raw.begin(), raw.size())) return std::nullopt;
    adc::driver::CompileOptions options;
    options.emit = adc::driver::Emit::Spirv;
    options.targets = {"vulkan:1.2"};
    options.derive.gradient = false;
    options.quiet_warnings = true;
    options.error_limit = 1;
    // The operations are those that were printed: nothing is contracted that was not.
    options.float_mode = adc::driver::FloatMode::Strict;
    adc::product::Product product;
    if (adc::driver::CompileInputs({module.string()}, options, &product) != adc::kExitOk) return "REFUSED";
    std::vector<Entry> wanted = EntriesOf(WordsOf(sections.back()));
    std::vector<uint32_t> again = WordsOf(product.bytes);
    if (EntriesOf(again).size() != wanted.size()) return "REFUSED: a kernel has several tasks, or none";
    count += static_cast<uint32_t>(wanted.size());
    Rename(again, wanted);
    AddFeatures(again, metadata.targets[section.target]);
    sections.back().resize(again.size() * 4);
    std::memcpy(sections.back().data(), again.data(), again.size() * 4);
  }
  artifact::String json;
  if (!artifact::WriteMetadata(metadata, &json, &error)) return std::nullopt;
  for (size_t n = 0; n < sections.size(); ++n) {
    if (inputs[n].kind == artifact::section::kMeta)
      sections[n].assign(json.view().begin(), json.view().end());
  }
  for (size_t n = 0; n < sections.size(); ++n) inputs[n].bytes = sections[n];
  artifact::Vector<uint8_t> file;
  if (!artifact::WriteBundle(inputs, &file, &error)) return std::nullopt;
  if (!Save(folder / input.filename(), file.begin(), file.size())) return std::nullopt;
  return std::to_string(count) + " entries";
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  int code = 0;
  for (int n = 2; n < count; ++n) {
    fs::path input = words[n];
    std::fprintf(stderr, "== %s\n", input.stem().string().c_str());
    std::optional<std::string> said = ReadBack(words[1], input);
    if (!said) code = 1;
    std::printf("%s\t%s\n", input.stem().string().c_str(), said ? said->c_str() : "FAILED");
    std::fflush(stdout);
  }
  return code;
}
