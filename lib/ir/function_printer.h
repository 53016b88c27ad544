#pragma once
// A function as text: comments, signature, blocks, structured control.

#include <string>

#include "ir/function.h"

namespace adc::ir {

/// Appends the text of `function`, which may be broken: no index is followed unseen.
void PrintFunction(const Module& module, const Function& function, std::string& out);

}  // namespace adc::ir
