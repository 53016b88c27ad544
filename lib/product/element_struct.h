#pragma once
// Elements of buffers as structs of C, as the kernel's source has them.

#include <optional>
#include <string>

#include "ir/struct_member.h"

namespace adc::product {

/// The struct `type`, with padding as members, and assertions of its size and of the places of its members.
/// Nothing where C has no such struct: where members overlap, or lie where their alignment forbids it.
std::optional<std::string> ElementStructText(const ir::StructMember& element, const std::string& type);

/// A comment that lists the members of what no struct says.
std::string MembersRemark(const ir::StructMember& element, const std::string& param);

}  // namespace adc::product
