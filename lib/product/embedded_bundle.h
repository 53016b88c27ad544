#pragma once
// A bundle as the text of a C source, for programs that have it inside of them.

#include <cstdint>
#include <span>
#include <string>

namespace adc::product {

/// The name of the bundle in the source `file`: the file's name without its ending, as a word of C that ends
/// in "_adcb". adc_add_kernels gives EMBED's bundle this name too.
std::string EmbeddedName(const std::string& file);

/// A source of C11 and C++ that defines `name`, an array of these bytes aligned as sections are, and
/// name_size.
std::string EmbeddedText(std::span<const uint8_t> bundle, const std::string& name);

}  // namespace adc::product
