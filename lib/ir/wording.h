#pragma once
// Advice in the words of the language in which the user writes.

#include <string>
#include <string_view>

#include "ir/module.h"

namespace adc::ir {

/// How an attribute of a parameter (ir/param_words.h) is written there, in quotes.
std::string AttributeText(const Module& module, std::string_view word);
/// A clause: the requirement of a loop that is unrolled.
std::string UnrolledLoop(const Module& module, bool is_while);
/// A clause: the way to make iterations of a `parallel` run one after the other.
std::string RunInOrder(const Module& module);

}  // namespace adc::ir
