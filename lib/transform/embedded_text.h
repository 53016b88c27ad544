#pragma once
// Functions of the compiler that are written in IR text, which the build makes a string of
// (adc_embed_text in cmake/AdcLibrary.cmake).

#include <memory>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace adc::transform {

enum class EmbeddedForm : uint8_t {
  AsWritten,
  Inlined,     ///< no function calls another
  Simplified,  ///< inlined, and simplified as kernels are
};

/// The functions of `text`, of the file `name`, verified. Text that is not well formed is an internal error,
/// which says the reason.
std::unique_ptr<ir::Module> ReadEmbeddedText(std::string_view name, std::string text, EmbeddedForm form);

/// Puts `by` in the place of each `what`: how the text gets types and numbers.
void ReplaceAll(std::string& text, std::string_view what, std::string_view by);

}  // namespace adc::transform
