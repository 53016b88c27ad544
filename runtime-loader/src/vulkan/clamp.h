#pragma once
// Bounds for the indices of a module that confine.h has checked. Each index that is no constant in range is
// replaced, in front of its access, by the smaller of it and the last element's:
//
//   %e = OpAccessChain %p %array %i      ->      %m = UMin %u, last        %u: %i as 32 bits without a sign
//                                                %e = OpAccessChain %p %array %m
//
// of an array of the thread `last` is a constant, of a buffer one less than what OpArrayLength says of the
// range that the descriptor binds. So the values that a module computes decide which element it reaches, and
// never memory outside; and an index that the check should miss gives a wrong value. A buffer too short for
// one element is bounded by the device's robust access alone.

#include <span>

#include "artifact/memory.h"

namespace adrt::vulkan {

/// The index of an access chain, which has one at most.
struct Index {
  size_t chain = 0;     ///< where the instruction begins, in words
  uint32_t number = 0;  ///< the index's word in it
  uint32_t type = 0;    ///< of the index: an id
  uint32_t bytes = 0;   ///< of that type
  uint32_t last = 0;    ///< the last element of an array
  uint32_t buffer = 0;  ///< the variable of a buffer, or 0
};

/// Ids that the module has, or 0.
struct KnownIds {
  uint32_t glsl = 0;  ///< GLSL.std.450
  uint32_t word = 0;  ///< the type of integers of 32 bits without a sign
};

/// The module with its indices bounded; `indices` in the order of the file. False where memory is refused.
[[nodiscard]] bool BoundIndices(std::span<const uint32_t> words, std::span<const Index> indices,
                                KnownIds known, adc::artifact::Vector<uint32_t>* bounded);

}  // namespace adrt::vulkan
