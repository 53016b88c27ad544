#pragma once
// A layout tree as structs of C.

#include <string>

#include "artifact/metadata.h"
#include "product/header_names.h"

namespace adc::product {

/// A struct called `word` with a struct for the cell of each `dense`, and assertions of sizes and offsets.
/// `names` has the names of the file.
std::string LayoutStructText(const artifact::LayoutMeta& layout, const std::string& word, HeaderScope& names);

}  // namespace adc::product
