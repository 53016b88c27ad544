#pragma once
// An operation without regions as text, from its spelling to its attributes; the results stand in front of it
// already.

#include <string>

#include "ir/function.h"
#include "ir/operand_printer.h"

namespace adc::ir {

/// Adds `inst`, which is neither structured control nor a terminator, to `out`.
void PrintOperation(const Module& module, const Function& function, Inst inst, OperandPrinter& print,
                    std::string& out);

}  // namespace adc::ir
