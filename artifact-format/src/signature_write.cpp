#include <cstring>

#include "artifact/signature.h"

// Apart from reading signatures, which the loader does: whoever links this links the writer of bundles and
// the compressor, and the loader must not.

namespace adc::artifact {

bool WithSignatures(std::span<const uint8_t> file, const BundleIndex& index,
                    std::span<const Signature> signatures, Vector<uint8_t>* written, Error* error) {
  if (index.major != kFormatMajor || index.minor != kFormatMinor) {
    return Fail(error, Code::kVersion, Rule::kNone, "the bundle has format version ", uint32_t{index.major},
                ".", uint32_t{index.minor}, "; bundles of ", uint32_t{kFormatMajor}, ".",
                uint32_t{kFormatMinor}, " can be written: compile it again");
  }
  Vector<Vector<uint8_t>> contents;
  Vector<SectionInput> sections;
  if (!contents.TryResize(index.sections.size())) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the sections of the bundle");
  }
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& item = index.sections[number];
    if (item.kind == section::kSignature) continue;
    if (!ReadSection(file, index, number, Limits(), &contents[number], error)) return false;
    sections.push_back({item.kind,
                        item.target,
                        (item.flags & kSectionRequired) != 0,
                        (item.flags & kSectionZstd) != 0,
                        item.alignment,
                        {contents[number].data(), contents[number].size()},
                        /*over_budget=*/true});  // as it was, for the signed bundle to hold the same bytes
  }
  if (!signatures.empty()) {
    SectionInput input;
    input.kind = section::kSignature;
    input.bytes = {reinterpret_cast<const uint8_t*>(signatures.data()), signatures.size_bytes()};
    Vector<Signature> copy;
    if (!ReadSignatures(input.bytes, &copy, error)) return false;
    sections.push_back(input);
  }
  BundleIndex again;
  if (!WriteBundle({sections.data(), sections.size()}, written, error) ||
      !ReadIndex({written->data(), written->size()}, Limits(), nullptr, &again, error)) {
    return false;
  }
  if (std::memcmp(again.content_id, index.content_id, sizeof again.content_id) == 0) return true;
  return Fail(error, Code::kCorrupt, Rule::kNone, "the content id is not that of the sections");
}

}  // namespace adc::artifact
