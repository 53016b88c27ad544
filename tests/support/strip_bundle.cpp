// strip_bundle IN OUT KIND TARGET: a bundle without one of its sections, and otherwise as it should be: what
// is left when somebody takes code out. KIND is the four characters, TARGET the number in the metadata.

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "artifact/bundle.h"

using namespace adc::artifact;

int main(int count, char** words) {
  if (count != 5) return 2;
  std::ifstream in(words[1], std::ios::binary);
  std::vector<uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  BundleIndex index;
  Metadata metadata;
  Error error;
  if (!ReadBundle(file, Limits(), nullptr, &index, &metadata, &error)) return 3;
  std::vector<std::unique_ptr<Vector<uint8_t>>> contents;
  std::vector<SectionInput> kept;
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& section = index.sections[number];
    char kind[5];
    SectionKindName(section.kind, kind);
    if (std::string(words[3]) == kind && section.target == std::strtoul(words[4], nullptr, 10)) continue;
    Vector<uint8_t>& bytes = *contents.emplace_back(std::make_unique<Vector<uint8_t>>());
    if (!ReadSection(file, index, number, Limits(), &bytes, &error)) return 3;
    kept.push_back({section.kind,
                    section.target,
                    (section.flags & kSectionRequired) != 0,
                    (section.flags & kSectionZstd) != 0,
                    section.alignment,
                    {bytes.data(), bytes.size()}});
  }
  Vector<uint8_t> written;
  if (kept.size() + 1 != index.sections.size() || !WriteBundle(kept, &written, &error)) return 4;
  std::ofstream out(words[2], std::ios::binary);
  out.write(reinterpret_cast<const char*>(written.data()), static_cast<std::streamsize>(written.size()));
  return out.good() ? 0 : 5;
}
