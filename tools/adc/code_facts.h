#pragma once
// The facts that code states about itself, in the form that its device needs to run it at all, against those
// of the metadata: block sizes, bindings and their types, shared memory, number and names of words.

#include <span>
#include <string>

#include "artifact/bundle.h"

namespace adc::tool {

/// Compares each entry point of a SPIR-V, PTX or HSACO section with its row of the metadata. Empty, or the
/// first disagreement, by the name of the entry point. The bytes are those of a section that opened.
std::string CompareFacts(const artifact::Metadata& metadata, const artifact::Section& section,
                         std::span<const uint8_t> bytes);

}  // namespace adc::tool
