#pragma once
// The members of structures and blocks, with their places in memory, for host programs.

#include <optional>

#include "frontend/spirv/types.h"
#include "ir/struct_member.h"

namespace adc::frontend::spirv {

/// The members of `structure`; `bytes` lie from one to the next, 0 of a block that is all of a buffer.
/// Nothing for other types, and where strides are no multiples of numbers.
std::optional<ir::StructMember> DescribeStruct(const Types& types, Id structure, uint64_t bytes);

}  // namespace adc::frontend::spirv
