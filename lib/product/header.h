#pragma once
// The C header of a bundle: the names that an engine uses at compile time instead of strings and positions.

#include <functional>
#include <string>
#include <string_view>

#include "artifact/metadata.h"
#include "ir/struct_member.h"

namespace adc::product {

/// A header that compiles as C11 and C++: per kernel its name, interface hash and the position of each
/// parameter, the structs of its buffers' elements, and where the loader's headers are found its typed call;
/// per layout its size, offset and strides of each field, and its struct; the entry points, for those who
/// link the object. `guard` becomes the include guard. `more` adds to a kernel's part, given the word that
/// its names begin with. `struct_of` says what a parameter's words are in the source; null where that is not
/// known.
using StructOf = std::function<const ir::StructMember*(const artifact::KernelMeta& kernel, uint32_t param)>;
using KernelText = std::function<std::string(const artifact::KernelMeta& kernel, const std::string& word)>;
std::string HeaderText(const artifact::Metadata& metadata, std::string_view guard,
                       const KernelText& more = {}, const StructOf& struct_of = {});

}  // namespace adc::product
