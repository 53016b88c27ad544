#include "artifact/strip.h"

// Apart from reading, as signature_write.cpp is: the loader must not link the writer of bundles.

namespace adc::artifact {

namespace {

bool Without(std::span<const uint8_t> file, const BundleIndex& index, bool (*goes)(uint32_t kind),
             Vector<uint8_t>* written, Error* error) {
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
    if (goes(item.kind)) continue;
    if (!ReadSection(file, index, number, Limits(), &contents[number], error)) return false;
    sections.push_back({item.kind,
                        item.target,
                        (item.flags & kSectionRequired) != 0,
                        (item.flags & kSectionZstd) != 0,
                        item.alignment,
                        {contents[number].data(), contents[number].size()}});
  }
  return WriteBundle({sections.data(), sections.size()}, written, error);
}

}  // namespace

bool IsStrippable(uint32_t kind) {
  return kind == section::kSourceMap || kind == section::kDebugInfo || kind == section::kSignature;
}

bool WithoutStrippable(std::span<const uint8_t> file, const BundleIndex& index, Vector<uint8_t>* written,
                       Error* error) {
  return Without(file, index, IsStrippable, written, error);
}

bool WithoutProcessorCode(std::span<const uint8_t> file, const BundleIndex& index, Vector<uint8_t>* written,
                          Error* error) {
  auto goes = [](uint32_t kind) {
    return kind == section::kObject || kind == section::kImage || kind == section::kSignature;
  };
  return Without(file, index, goes, written, error);
}

}  // namespace adc::artifact
