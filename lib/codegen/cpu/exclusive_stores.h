#pragma once
// A check of what LLVM wrote for AArch64.

#include <cstdint>
#include <span>

namespace adc::codegen {

/// The number of exclusive stores (`stxr`, `stlxr` and those of pairs) in an AArch64 object whose status goes
/// to the zero register: the loop around such a store never sees that it failed.
uint32_t CountUnseenExclusiveStores(std::span<const uint8_t> object);

}  // namespace adc::codegen
