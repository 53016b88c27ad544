// strip_bundle IN OUT KIND TARGET: a bundle without one of its sections, and otherwise as it should be: what
// is left when somebody takes code out. KIND is the four characters, TARGET the number in the metadata.
// strip_bundle IN OUT OTHER: a bundle with the signatures of another one, whatever they say.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "artifact/signature.h"

using namespace adc::artifact;

namespace {

bool Read(const char* path, std::vector<uint8_t>* file, BundleIndex* index) {
  std::ifstream in(path, std::ios::binary);
  file->assign(std::istreambuf_iterator<char>(in), {});
  Metadata metadata;
  Error error;
  return ReadBundle(*file, Limits(), nullptr, index, &metadata, &error);
}

bool Write(const char* path, const Vector<uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return out.good();
}

int MoveSignatures(char** words) {
  std::vector<uint8_t> file, other;
  BundleIndex index, other_index;
  if (!Read(words[1], &file, &index) || !Read(words[3], &other, &other_index)) return 3;
  const Section* section = other_index.Find(section::kSignature);
  if (section == nullptr) return 4;
  Vector<uint8_t> bytes, written;
  Vector<Signature> rows;
  Error error;
  uint32_t number = static_cast<uint32_t>(section - other_index.sections.begin());
  if (!ReadSection(other, other_index, number, Limits(), &bytes, &error) ||
      !ReadSignatures({bytes.data(), bytes.size()}, &rows, &error) ||
      !WithSignatures(file, index, {rows.data(), rows.size()}, &written, &error)) {
    return 4;
  }
  return Write(words[2], written) ? 0 : 5;
}

}  // namespace

int main(int count, char** words) {
  if (count == 4) return MoveSignatures(words);
  if (count != 5) return 2;
  std::vector<uint8_t> file;
  BundleIndex index;
  Error error;
  if (!Read(words[1], &file, &index)) return 3;
  std::vector<std::unique_ptr<Vector<uint8_t>>> contents;
  std::vector<SectionInput> remaining;
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& section = index.sections[number];
    char kind[5];
    SectionKindName(section.kind, kind);
    if (std::string(words[3]) == kind && section.target == std::strtoul(words[4], nullptr, 10)) continue;
    Vector<uint8_t>& bytes = *contents.emplace_back(std::make_unique<Vector<uint8_t>>());
    if (!ReadSection(file, index, number, Limits(), &bytes, &error)) return 3;
    remaining.push_back({section.kind,
                         section.target,
                         (section.flags & kSectionRequired) != 0,
                         (section.flags & kSectionZstd) != 0,
                         section.alignment,
                         {bytes.data(), bytes.size()}});
  }
  Vector<uint8_t> written;
  if (remaining.size() + 1 != index.sections.size() || !WriteBundle(remaining, &written, &error)) return 4;
  return Write(words[2], written) ? 0 : 5;
}
