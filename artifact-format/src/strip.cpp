#include "artifact/strip.h"

#include "copy_sections.h"

// Apart from reading, as signature_write.cpp is: the loader must not link the writer of bundles.

namespace adc::artifact {

bool IsStrippable(uint32_t kind) {
  return kind == section::kSourceMap || kind == section::kDebugInfo || kind == section::kSignature;
}

bool WithoutStrippable(std::span<const uint8_t> file, const BundleIndex& index, Vector<uint8_t>* written,
                       Error* error) {
  SectionCopies copies;
  if (!CopySections(file, index, IsStrippable, /*over_budget=*/false, &copies, error)) return false;
  return WriteBundle({copies.sections.data(), copies.sections.size()}, written, error);
}

}  // namespace adc::artifact
