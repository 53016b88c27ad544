#include "artifact/strip.h"

#include "copy_sections.h"

// Apart from reading, as signature_write.cpp is: the loader must not link the writer of bundles.

namespace adc::artifact {

namespace {

bool Without(std::span<const uint8_t> file, const BundleIndex& index, bool (*goes)(uint32_t kind),
             TakeDebugOut take_debug_out, Vector<uint8_t>* written, Error* error) {
  SectionCopies copies;
  if (!CopySections(file, index, goes, /*over_budget=*/false, &copies, error)) return false;
  for (size_t number = 0, at = 0; take_debug_out && number < index.sections.size(); ++number) {
    if (goes(index.sections[number].kind)) continue;
    Vector<uint8_t>& bytes = copies.contents[number];
    if (!take_debug_out(index.sections[number].kind, &bytes, error)) return false;
    copies.sections[at++].bytes = {bytes.data(), bytes.size()};
  }
  return WriteBundle({copies.sections.data(), copies.sections.size()}, written, error);
}

}  // namespace

bool IsStrippable(uint32_t kind) {
  return kind == section::kSourceMap || kind == section::kDebugInfo || kind == section::kSignature;
}

bool WithoutStrippable(std::span<const uint8_t> file, const BundleIndex& index, TakeDebugOut take_debug_out,
                       Vector<uint8_t>* written, Error* error) {
  return Without(file, index, IsStrippable, take_debug_out, written, error);
}

bool WithoutProcessorCode(std::span<const uint8_t> file, const BundleIndex& index, Vector<uint8_t>* written,
                          Error* error) {
  auto goes = [](uint32_t kind) {
    return kind == section::kObject || kind == section::kImage || kind == section::kSignature;
  };
  return Without(file, index, goes, nullptr, written, error);
}

}  // namespace adc::artifact
