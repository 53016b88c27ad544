#pragma once
// Objects under names of their own, so that a program can link those of several bundles.

#include <span>
#include <string_view>

#include "artifact/error.h"
#include "artifact/memory.h"

namespace adc::artifact {

/// `object`, an ELF object for linkers, with `prefix` before the name of every symbol that it defines for
/// others, and with one symbol more: `alias`, the same function as the one that was called `alias_of`. All
/// symbols that the object needs from elsewhere stay as they are. Safe for any bytes; false where they are no
/// such object, or where that function is missing.
bool WithPrefix(std::span<const uint8_t> object, std::string_view prefix, std::string_view alias,
                std::string_view alias_of, Vector<uint8_t>* written, Error* error);

}  // namespace adc::artifact
