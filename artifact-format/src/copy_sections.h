#pragma once
// What bundles share that are written from another bundle: its sections, without some of them.

#include "artifact/bundle.h"

namespace adc::artifact {

/// Sections of a bundle to write again, and the memory behind them.
struct SectionCopies {
  Vector<Vector<uint8_t>> contents;
  Vector<SectionInput> sections;
};

/// Every section of `file` that `leaves_out` does not name. `over_budget`: for the new bundle to hold the
/// same bytes even where they are over the writer's budget.
bool CopySections(std::span<const uint8_t> file, const BundleIndex& index, bool (*leaves_out)(uint32_t kind),
                  bool over_budget, SectionCopies* copies, Error* error);

}  // namespace adc::artifact
