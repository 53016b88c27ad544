#pragma once
// The rules of one instruction by itself: number and types of its operands and results, its attributes. The
// parser reports them with a caret at the operand, the verifier for whatever a pass has made.

#include <optional>
#include <string>

#include "diag/errors.h"
#include "ir/function.h"

namespace adc::ir {

struct Misfit {
  diag::ErrorId id;
  uint32_t operand = kNoAttr;  ///< position of the operand at fault; kNoAttr: the instruction as a whole
  std::string text;
  std::string help = {};
};

/// Why operands of these types do not fit an operation that ResultType refuses; never empty text.
Misfit ExplainOperands(const Module& module, Op op, std::span<const Type> operands);

/// The first rule that `inst` breaks. Operands, regions and attributes may be anything: nothing is followed
/// before it is checked. Terminators have no rule by themselves (their region asks), nor have the values that
/// regions yield.
std::optional<Misfit> CheckInst(const Module& module, const Function& function, Inst inst);

/// How many operands an operation of plain form takes; 0: any number from 1.
uint32_t Arity(OpForm form);

/// How messages name an instruction: `'add'`.
std::string OpName(Op op);

}  // namespace adc::ir
