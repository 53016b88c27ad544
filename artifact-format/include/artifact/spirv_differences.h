#pragma once
// SPIR-V with differences in the place of ids. An id names one value of a module, so that code which repeats
// has other ids each time and compresses badly; how far an id is from the one before it repeats as well.

#include <cstdint>
#include <span>

namespace adc::artifact {

/// Replaces ids by differences in place: artifact-format/README.md says which. False if `module` is not a
/// header and whole instructions, and then some of its words are replaced.
bool ToDifferences(std::span<uint8_t> module);
/// The reverse.
bool FromDifferences(std::span<uint8_t> module);

}  // namespace adc::artifact
