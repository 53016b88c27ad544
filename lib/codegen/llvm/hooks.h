#pragma once
// The services that the emission of a task body asks of a target: the sources of arguments, rows and the
// status block, and the calls of functions that are no instruction. One implementation per target folder.

#include <cstdint>
#include <utility>

#include "codegen/common/status_code.h"
#include "ir/words.h"
#include "llvm/IR/IRBuilder.h"
#include "target/target.h"

namespace adc::codegen {

class GpuDialect;

class TargetHooks {
 public:
  virtual ~TargetHooks() = default;

  virtual const target::Target& Description() const = 0;
  /// The lanes that run in step with this worker's; null where a worker runs by itself.
  virtual const GpuDialect* Wave() const { return nullptr; }
  /// Number of waves that share memory with this one, and this one's number among them, i32.
  virtual uint32_t WavesOfBlock() const { return 1; }
  virtual llvm::Value* WaveInBlock() { return nullptr; }
  /// Number of this thread in its block, i32; null where a worker runs by itself.
  virtual llvm::Value* InBlock() { return nullptr; }
  /// The scope in which atomic updates of buffers are seen.
  virtual llvm::SyncScope::ID AtomicScope() const { return llvm::SyncScope::System; }

  /// Address of the first element of a buffer or layout parameter.
  virtual llvm::Value* BufferAddress(uint32_t param) = 0;
  /// Extent of an axis of a buffer parameter, i64, not negative.
  virtual llvm::Value* Extent(uint32_t param, uint32_t axis) = 0;
  /// A component of a by-value parameter, row-major, in its register type.
  virtual llvm::Value* ParameterComponent(uint32_t param, uint32_t component) = 0;

  /// The value that stands for this worker's row of a claim group, i64.
  virtual llvm::Value* Row(uint32_t group) = 0;
  /// Byte offset of a stack inside its row and its capacity in elements, i64.
  virtual llvm::Value* StackOffset(uint32_t stack) = 0;
  virtual llvm::Value* StackCapacity(uint32_t stack) = 0;
  /// Address of the element of `size` bytes at byte `byte` of row `row`.
  virtual llvm::Value* RowAddress(llvm::Value* row, llvm::Value* byte, uint32_t size) = 0;

  /// Reports to the status block. `needed`: i64, or null.
  virtual void Raise(StatusCode code, uint32_t index, llvm::Value* needed) = 0;

  /// Thread-local memory that lives as long as the task.
  virtual llvm::AllocaInst* Local(llvm::Type* type, const llvm::Twine& name) = 0;

  /// A mathematical function of f32 or f64 operands that is no instruction (sin to erf, pow, atan2, float
  /// rem). `words`: of the operation.
  virtual llvm::Value* CallMath(ir::Op op, ir::Scalar scalar, llvm::ArrayRef<llvm::Value*> operands,
                                ir::Words words) = 0;
  /// Sine and cosine of one operand, f32 or f64. `words`: of both operations.
  virtual std::pair<llvm::Value*, llvm::Value*> CallSinCos(ir::Scalar scalar, llvm::Value* operand,
                                                           ir::Words words) = 0;
};

}  // namespace adc::codegen
