#pragma once
// Questions about a kernel's instructions that every printer asks.

#include "ir/function.h"

namespace adc::codegen {

/// The memory that an access comes to: of a parameter, an array of the kernel's, or a module constant.
enum class BaseKind : uint8_t { Buffer, Layout, Local, Constant };
BaseKind BaseOf(const ir::Function& kernel, ir::Inst access);

/// True where the access updates its element atomically: not in local arrays, not a decided `add_to`.
bool IsAtomicUpdate(const ir::Function& kernel, ir::Inst inst);

/// Whether two accesses come to components of one element.
bool IsOneElement(const ir::Function& kernel, ir::Inst a, ir::Inst b);

/// The component that an access comes to; 0 of a scalar.
inline uint32_t ComponentOf(const ir::InstData& access) {
  return access.component == ir::kNoAttr ? 0 : access.component;
}

/// The type of the value that an update takes.
inline ir::Scalar UpdateScalar(const ir::Function& kernel, ir::Inst update) {
  return kernel.TypeOf(kernel.AccessValues(update)[0]).scalar;
}

/// The component of a by-value parameter that a `vec.get` or `mat.get` reads, row-major.
uint32_t ParameterComponentOf(const ir::Function& kernel, ir::Inst inst);

/// The type that a pure operation works on: of its first operand, of a select of the second.
inline ir::Scalar OperandScalar(const ir::Function& kernel, ir::Inst inst) {
  return kernel.TypeOf(kernel.Operand(inst, kernel[inst].op == ir::Op::Select ? 1 : 0)).scalar;
}

/// Whether an `if` needs code for where its condition does not hold.
inline bool HasElse(const ir::Function& kernel, ir::Inst branch) {
  return kernel[kernel[branch].regions[1]].insts.size() > 1 || kernel[branch].result_count != 0;
}

}  // namespace adc::codegen
