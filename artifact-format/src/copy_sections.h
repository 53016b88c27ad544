#pragma once
// The shared part of all writers that make a bundle from another bundle: its sections, without some of them.

#include "artifact/bundle.h"

namespace adc::artifact {

/// Sections of a bundle to write again, and their memory.
struct SectionCopies {
  Vector<Vector<uint8_t>> contents;
  Vector<SectionInput> sections;
};

/// Every section of `file` that `leaves_out` does not name. `over_budget`: for the new bundle to hold the
/// same bytes even where they are over the writer's budget.
bool CopySections(std::span<const uint8_t> file, const BundleIndex& index, bool (*leaves_out)(uint32_t kind),
                  bool over_budget, SectionCopies* copies, Error* error);

}  // namespace adc::artifact
