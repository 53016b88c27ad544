#pragma once
// Whether a section's bytes are what its kind says (H10), as far as can be told without the target's own
// tools.

#include <span>

#include "artifact/bundle.h"

namespace adc::artifact {

/// Checks one section against the metadata: its target exists, and the bytes begin as the kind demands. The
/// code itself is not looked at; whoever loads it does that.
bool CheckPayload(const Section& item, std::span<const uint8_t> bytes, const Metadata& metadata,
                  Error* error);

}  // namespace adc::artifact
