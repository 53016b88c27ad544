#pragma once
// The body of a parallel loop for several iterations at once, one in each lane (raise/body_lanes.h).
//
//   parallel %i in 0..%n lanes_body lanes 8 {      for cell in 0..n step 8:
//     %v = load %x[%i]                               mask = cell + <0..7> < n
//     %s = sin %v                                    v = masked load of 8 from &x[cell];  s = sin of 8
//     store %y[%i], %s                               masked store of 8 to &y[cell]
//   }
//
// All iterations run through the same code, those of the last group under a mask: a value does not depend on
// where in a group its iteration lies. An index that follows the iteration gives one access of all lanes,
// others are gathered and scattered. Operations that vectors do not have, an atomic update or a report, run
// lane by lane in their order. A local array holds the lanes of an element side by side.
//
// Where products and sums may be contracted, it is done here: whole groups and the last one have code of
// their own on some targets, in which LLVM would be free to choose differently.

#include "analysis/uses.h"
#include "codegen/llvm/axes.h"
#include "codegen/llvm/body.h"
#include "codegen/llvm/own_math.h"
#include "ir/words.h"

namespace adc::codegen {

/// The parts with which the emission of a lane body works.
struct LaneContext {
  const ir::Module& module;
  const ir::Function& kernel;
  llvm::IRBuilder<>& builder;
  TargetHooks& hooks;
  BodyEmitter& body;  ///< emits the code that lanes share, and the code that runs lane by lane
  OwnMath& math;
  const AliasScopes& aliases;
  FloatMode float_mode = FloatMode::Contract;
  LaneShape shape;
};

class LaneBody final : public LaneFlow {
 public:
  LaneBody(const LaneContext& context, ir::Inst parallel, const analysis::Uniform& uniform);

  /// Emits the iterations of cells `cell` to `cell` + lanes of `axis`. `mask`: the lanes that exist; null:
  /// all. `tell(number)`: the current flat iteration, for reports, is that of cell `number`.
  void EmitGroup(const Axis& axis, Value* cell, Value* mask, const std::function<void(Value*)>& tell);

 private:
  /// Where the lanes of an access lie: side by side, in equal distances, or anywhere.
  struct Place {
    ir::Scalar scalar = ir::Scalar::F32;
    Value* address = nullptr;            ///< of lane 0; without a stride: of each lane
    std::optional<int64_t> stride = {};  ///< bytes from lane to lane
  };

  Value* Shared(ir::Value value) override { return context_.body.values().Get(value); }
  Value* SharedIndex(ir::Value value) override { return context_.body.values().Index(value); }
  void BindShared(ir::Value value, Value* number) override { context_.body.values().BindAnew(value, number); }
  void BindCounter(ir::Value counter, Value* wide) override {
    context_.body.values().BindCounter(counter, wide);
  }
  void EmitShared(ir::Inst inst, uint32_t position) override;
  Value* EmitFunction(ir::Inst inst, llvm::ArrayRef<Value*> operands) override;
  Value* EmitOperation(ir::Inst inst, llvm::ArrayRef<Value*> operands) override;
  void EmitPure(ir::Inst inst, uint32_t position) override;
  Value* EmitFused(ir::Inst inst, llvm::ArrayRef<Value*> operands);
  bool IsProduct(ir::Value value) const;
  void EmitOther(ir::Inst inst, uint32_t position) override;
  bool Decides(ir::Inst inst) const override { return function_[inst].Has(ir::Word::AsWritten); }
  void SetPlace(ir::Inst inst) override { context_.body.SetPlace(inst); }
  void NotePure(ir::Inst inst) override;

  int64_t SlopeOf(ir::Value value) const { return slopes_.Get(value); }
  int64_t SlopeOfResult(ir::Inst inst) const;

  void EmitAlloca(ir::Inst inst);
  void EmitAccess(ir::Inst inst, uint32_t position);
  /// Of a number in memory.
  llvm::Type* ElementType(ir::Scalar scalar) const { return scalars_.MemoryType(scalar)->getScalarType(); }
  Place PlaceOf(ir::Inst inst);
  Place LocalPlace(ir::Inst inst);
  Place BufferPlace(ir::Inst inst);
  Place LayoutPlace(ir::Inst inst);
  /// i64: the index as one number, of lane 0, or in lanes.
  Value* IndexOf(ir::Value index, bool in_lanes);
  Value* Number(uint64_t number, bool in_lanes);
  Value* Load(ir::Inst inst, const Place& place);
  void Store(ir::Inst inst, const Place& place, Value* value);
  Value* Addresses(const Place& place);

  Value* Combined(ir::Op op, ir::Scalar scalar, Value* lanes);
  ir::Value BeforeWidening(ir::Value value) const;
  bool EmitReduced(ir::Inst inst, uint32_t position);
  void EmitLaneByLane(ir::Inst inst, uint32_t position);
  Value* Spill(Value* lanes);

  LaneContext context_;
  ir::Inst parallel_;
  analysis::Uses uses_;
  SideTable<ir::Value, int64_t> slopes_;  ///< from lane to lane, where an index follows the iteration
  SideTable<ir::Value, llvm::AllocaInst*> arrays_;
  Value* cell_ = nullptr;
  std::function<void(Value*)> tell_;
};

}  // namespace adc::codegen
