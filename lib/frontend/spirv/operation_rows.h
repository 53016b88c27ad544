#pragma once
// Operations of SPIR-V that are one operation of the IR.

#include <cstdint>

#include "ir/op.h"

namespace adc::frontend::spirv {

/// The meaning of an operation of SPIR-V in terms of its operands.
enum class Form : uint8_t {
  Plain,
  Unsigned,  ///< integers are unsigned, whatever their type; the result has its own type again
  Negated,   ///< true where the operation is not, NaN included
  Swapped,   ///< the second operand is the first one of the IR's operation
  UnsignedSwapped,
  Convert,  ///< to the type of the result
  UnsignedConvert,
};

struct Row {
  uint32_t from;
  ir::Op to;
  Form form = Form::Plain;
};

/// The row of a core operation, or of an instruction of GLSL.std.450; null where it is more than one
/// operation.
const Row* RowOf(uint32_t operation);
const Row* ExtendedRowOf(uint32_t instruction);

}  // namespace adc::frontend::spirv
