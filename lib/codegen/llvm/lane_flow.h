#pragma once
// Structured code that several lanes run in step, as LLVM IR: values that differ are vectors, branches and
// loops are under masks, values that all lanes share stay scalars (analysis/uniform.h).
//
//   %r = if %c { A yield %a }          if any lane of mask & c: A
//        else { B yield %b }           if any lane of mask & ~c: B;   r = select(c, a, b)
//
//   while carry(%a = %x) { test }      going = mask
//                                      loop: going &= test; leave where none goes on
//                                            a = select(going, yielded, a)
//
// A lane computes what it would compute alone, operation by operation. A lane that is not active holds some
// number, never poison. With 0 lanes there is one, of scalars, and every mask is an i1.
//
// A derived class says what is shared and emits what touches memory.

#include "analysis/uniform.h"
#include "codegen/llvm/lane_vectors.h"
#include "codegen/llvm/scalars.h"

namespace adc::codegen {

class LaneFlow : protected LaneVectors {
 public:
  virtual ~LaneFlow() = default;

 protected:
  LaneFlow(const ir::Function& function, llvm::IRBuilder<>& builder, TargetHooks& hooks, FloatMode mode,
           LaneShape shape, const analysis::Uniform& uniform);

  /// The one number of a shared value; its i64 form, of an index.
  virtual Value* Shared(ir::Value value) = 0;
  virtual Value* SharedIndex(ir::Value value) = 0;
  virtual void BindShared(ir::Value value, Value* number) = 0;
  /// Binds a shared counter, by its i64 form.
  virtual void BindCounter(ir::Value counter, Value* wide) = 0;
  /// An instruction all of whose results are shared.
  virtual void EmitShared(ir::Inst inst, uint32_t position) = 0;
  /// A function of numbers that differ.
  virtual Value* EmitFunction(ir::Inst inst, llvm::ArrayRef<Value*> operands) = 0;
  /// Emits an operation that is neither arithmetic nor control flow.
  virtual void EmitOther(ir::Inst inst, uint32_t position) = 0;
  virtual bool Decides(ir::Inst inst) const = 0;
  /// Emits the side of a branch elsewhere, and gives the values that it yields; false: it is emitted here.
  virtual bool EmitApart(ir::Block, std::vector<Value*>*) { return false; }
  virtual void SetPlace(ir::Inst) {}
  /// Tells of an operation that was just emitted.
  virtual void NotePure(ir::Inst) {}

  void EmitBlock(ir::Block block);
  /// The value in all lanes.
  Value* Get(ir::Value value);
  /// An i32 or i64 value as i64 in all lanes.
  Value* Index(ir::Value value);
  void Bind(ir::Value value, Value* lanes) { values_.Set(value) = lanes; }
  bool IsShared(ir::Value value) const { return uniform_.Has(value); }
  virtual Value* EmitOperation(ir::Inst inst, llvm::ArrayRef<Value*> operands);
  virtual void EmitPure(ir::Inst inst, uint32_t position);
  /// Whether `inst` is no instruction but a function (EmitFunction).
  bool IsFunction(ir::Inst inst) const;

  const ir::Function& function_;
  TargetHooks& hooks_;
  ScalarEmitter scalars_;  ///< in lanes
  Value* mask_ = nullptr;  ///< lanes that are active, i1 each

 private:
  /// The value that a loop carries in one place.
  struct Carried {
    ir::Value param, result;
    llvm::PHINode* shared = nullptr;  ///< the number that all active lanes have
    llvm::PHINode* lanes = nullptr;   ///< the number that each lane has, or had when it ended
  };

  /// Binds a value that lanes share, or that each has.
  void BindEither(ir::Value value, Value* shared, Value* lanes) {
    IsShared(value) ? BindShared(value, shared) : Bind(value, lanes);
  }
  void EmitIf(ir::Inst inst);
  void EmitBranch(ir::Inst inst);
  void EmitChoice(ir::Inst inst);
  void EmitSide(ir::Inst inst, uint32_t side, Value* mask, bool always, std::vector<Value*>* values);
  bool IsCheap(ir::Block block) const;
  void EmitFor(ir::Inst inst);
  void EmitSharedFor(ir::Inst inst);
  void EmitSteppedFor(ir::Inst inst);
  void EmitCountedFor(ir::Inst inst);
  void EmitWhile(ir::Inst inst);
  std::vector<Carried> BeginCarried(ir::Inst inst, uint32_t first, ir::Block block, uint32_t first_param,
                                    llvm::BasicBlock* before);
  /// Ends a trip: lanes of `active` take what `block` yields. Null: all that are in the loop.
  void EndCarried(std::vector<Carried>& carried, ir::Block block, Value* active, llvm::BasicBlock* latch,
                  std::vector<std::pair<Value*, Value*>>* next = nullptr);
  std::vector<std::pair<Value*, Value*>> Yielded(std::vector<Carried>& carried, ir::Block block,
                                                 Value* active);
  /// `mask` as `loop` carries it.
  Value* ToCarried(ir::Inst loop, Value* mask);
  Value* Step(ir::Inst inst) const;
  Value* LastOf(ir::Inst inst, Value* low, Value* high);

  const analysis::Uniform& uniform_;
  SideTable<ir::Value, Value*> values_;
};

}  // namespace adc::codegen
