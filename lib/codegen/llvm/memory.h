#pragma once
// Accesses: addresses of elements of buffers, layout fields, thread-local arrays and module constants, and
// the loads, stores and atomic updates of them.
//
// An address is computed in 64 bits: C order for buffers, sums of digit times stride for the fields of a
// layout, where an index splits into one digit per `dense` level. Atomics are relaxed: a task orders only its
// end.

#include "codegen/common/questions.h"
#include "codegen/llvm/alias.h"
#include "codegen/llvm/atomic_update.h"
#include "codegen/llvm/values.h"
#include "ir/module.h"

namespace adc::codegen {

class MemoryEmitter {
 public:
  MemoryEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
                TargetHooks& hooks, ScalarEmitter& scalars, ValueTable& values, const AliasScopes& aliases)
      : module_(module),
        kernel_(kernel),
        builder_(builder),
        hooks_(hooks),
        scalars_(scalars),
        values_(values),
        aliases_(aliases) {}

  /// Whether the accesses emitted from here on run once per iteration of the task's parallel loop.
  void SetInLoop(bool in_loop) { in_loop_ = in_loop; }
  /// No other thread updates what the accesses emitted from here on update: they are not atomic.
  void SetAlone(bool alone) { alone_ = alone; }
  /// The parallel loop that is being emitted and its flat iteration, i64; null: none, or it is not known.
  void SetIteration(ir::Inst loop, llvm::Value* iteration) {
    loop_ = loop;
    iteration_ = iteration;
  }

  void EmitAlloca(ir::Inst inst);
  /// The array of a team, which lies at `memory`. Its elements, and its bytes.
  llvm::Value* EmitCommonArray(ir::Inst inst, llvm::Value* memory);
  uint32_t LengthOf(ir::Inst array) const;
  uint32_t BytesOf(ir::Inst array) const;
  /// Element `turn`, an i64, becomes 0.
  void ClearElement(ir::Inst array, llvm::Value* memory, llvm::Value* turn);
  /// Any access; binds its result where it has one.
  void EmitAccess(ir::Inst inst);
  /// The atomic update that ends a sum over a chunk: `value` in register form of `scalar` goes to the cell of
  /// `access`. A wider scalar than the cell's is rounded after the update.
  void EmitAtomic(ir::Inst access, ir::Op op, ir::Scalar scalar, llvm::Value* value);
  /// The address of the cell of `access`.
  llvm::Value* AddressOf(ir::Inst access) { return CellOf(access).address; }
  /// The new value of an update in register form.
  llvm::Value* Combine(ir::Op op, ir::Scalar scalar, llvm::Value* old, llvm::ArrayRef<llvm::Value*> operands);
  void EmitRowAccess(ir::Inst inst);
  /// The address of the first element of a module constant.
  llvm::Value* TableOf(ir::Value base) { return ArrayAddress(base); }

 private:
  struct Cell {
    BaseKind kind = BaseKind::Buffer;
    llvm::Value* address = nullptr;
    ir::Scalar scalar = ir::Scalar::F32;
    bool common = false;  ///< of an array of a team
  };

  Cell CellOf(ir::Inst inst);
  /// The element that the indices of an access to a buffer or an array name, i64.
  llvm::Value* ElementOf(ir::Inst inst);
  llvm::Value* LayoutOffset(const ir::LayoutField& field, ir::Inst inst);
  llvm::Value* ArrayAddress(ir::Value base);
  /// The access; its result in register form, or null.
  llvm::Value* Access(ir::Inst inst);
  llvm::Value* Load(ir::Inst inst, const Cell& cell, bool in_loop);
  void Store(ir::Inst inst, const Cell& cell, llvm::Value* value, bool in_loop);
  llvm::Value* PlainUpdate(ir::Inst inst, const Cell& cell, ir::Op op, llvm::ArrayRef<llvm::Value*> operands,
                           bool in_loop);
  llvm::Value* AtomicUpdate(ir::Inst inst, const Cell& cell, ir::Op op,
                            llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* UpdateLoop(ir::Inst inst, const Cell& cell, ir::Op op, llvm::Value* operand);
  AtomicCell Atomic(const Cell& cell) const;
  MarkAccess MarkOf(ir::Inst inst) const;
  llvm::Value* CompareExchange(ir::Inst inst, const Cell& cell, llvm::Value* expected, llvm::Value* desired);
  llvm::Align AlignOf(const Cell& cell) const { return llvm::Align(ir::ByteSize(cell.scalar)); }

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  ScalarEmitter& scalars_;
  ValueTable& values_;
  const AliasScopes& aliases_;
  bool in_loop_ = false;
  bool alone_ = false;
  ir::Inst loop_;
  llvm::Value* iteration_ = nullptr;
  SideTable<ir::Value, llvm::Value*> arrays_;
};

}  // namespace adc::codegen
