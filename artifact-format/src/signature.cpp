#include "artifact/signature.h"

#include <cstring>

#include "bundle_layout.h"

namespace adc::artifact {

void MakeSignedBytes(const BundleIndex& index, uint8_t (&bytes)[kSignedBytes]) {
  std::memcpy(bytes, "ADCSIGN1", 8);
  Store<uint16_t>(bytes + 8, index.major);
  Store<uint16_t>(bytes + 10, index.minor);
  Store<uint32_t>(bytes + 12, 0);  // required features: this reader refuses any
  std::memcpy(bytes + 16, index.content_id, kContentIdSize);
}

bool ReadSignatures(std::span<const uint8_t> section, Vector<Signature>* signatures, Error* error) {
  size_t count = section.size() / sizeof(Signature);
  if (section.empty() || section.size() % sizeof(Signature) != 0 || count > kMaxSignatures) {
    return Fail(error, Code::kMalformed, Rule::kH3, "section SIGN has ", uint64_t{section.size()},
                " bytes; 96 for each of 1 to ", kMaxSignatures, " signatures are possible");
  }
  signatures->clear();
  if (!signatures->TryResize(count)) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for signatures");
  }
  std::memcpy(signatures->data(), section.data(), section.size());
  for (size_t row = 1; row < count; ++row) {
    if (std::memcmp((*signatures)[row - 1].key, (*signatures)[row].key, kPublicKeySize) >= 0) {
      return Fail(error, Code::kMalformed, Rule::kH3, "section SIGN: keys do not ascend");
    }
  }
  return true;
}

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
                        {contents[number].data(), contents[number].size()}});
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
