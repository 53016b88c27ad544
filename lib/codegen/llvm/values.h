#pragma once
// The LLVM values that stand for each IR value: results as they are emitted, constants and parameters on
// demand.
//
// An i32 value used as an index may have a *wide* twin, the same number as i64. Loop counters run in 64 bits
// and arithmetic on them that cannot wrap (raise/ranges.h) is done in both widths, so that addresses are
// affine in the counters and LLVM need not prove that a 32-bit sum did not wrap.

#include "codegen/llvm/scalars.h"
#include "ir/function.h"

namespace adc::codegen {

class ValueTable {
 public:
  ValueTable(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
             TargetHooks& hooks, ScalarEmitter& scalars)
      : module_(module), kernel_(kernel), builder_(builder), hooks_(hooks), scalars_(scalars) {}

  llvm::Value* Get(ir::Value v);
  llvm::SmallVector<llvm::Value*> GetAll(std::span<const ir::Value> values);
  /// The bound value; null: none, as for the old value of a sum, which no instruction reads.
  llvm::Value* Find(ir::Value v) const { return values_.Get(v); }
  void Bind(ir::Value v, llvm::Value* value) { values_.Set(v) = value; }
  /// Binds a value that has been bound before, where its instructions are emitted once more.
  void BindAnew(ir::Value v, llvm::Value* value) {
    values_.Set(v) = value;
    wide_.Set(v) = nullptr;
  }
  /// Binds a loop counter, whose i64 form is given.
  void BindCounter(ir::Value v, llvm::Value* wide);

  /// An i32 or i64 value as i64.
  llvm::Value* Index(ir::Value v);

  /// Emits a pure operation on scalars and binds its result, with its wide twin where it has one.
  void EmitPure(ir::Inst inst);
  /// `shape`: binds the result.
  void EmitShape(ir::Inst inst);

 private:
  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  ScalarEmitter& scalars_;
  SideTable<ir::Value, llvm::Value*> values_;
  SideTable<ir::Value, llvm::Value*> wide_;
};

}  // namespace adc::codegen
