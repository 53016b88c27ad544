#pragma once
// Whether a section's bytes are what its kind says (H10), as far as can be told without the target's own
// tools.

#include <span>

#include "artifact/budget.h"
#include "artifact/bundle.h"

namespace adc::artifact {

/// Checks one section against the metadata: its target exists, the bytes have the form that the kind demands,
/// and code for devices has the entry points that the metadata states. A CPU's image is checked by the code
/// that maps it. Steps beyond a few looks at each byte are taken from the budget.
bool CheckPayload(const Section& item, std::span<const uint8_t> bytes, const Metadata& metadata,
                  OpenBudget* budget, Error* error);

}  // namespace adc::artifact
