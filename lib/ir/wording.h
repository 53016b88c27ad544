#pragma once
// Values, and advice in the words of the language in which the user writes.

#include <string>
#include <string_view>

#include "ir/module.h"

namespace adc::ir {

/// The name of a value, in quotes; `otherwise` where it has none.
std::string NameOf(const Module& module, const Function& function, Value value,
                   const char* otherwise = "a value");
/// How an attribute of a parameter (ir/param_words.h) is written there, in quotes.
std::string AttributeText(const Module& module, std::string_view word);
/// A clause: the requirement of a loop that is unrolled.
std::string UnrolledLoop(const Module& module, bool is_while);
/// A clause: the way to make iterations of a `parallel` run one after the other.
std::string RunInOrder(const Module& module);

}  // namespace adc::ir
