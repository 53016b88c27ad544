#pragma once
// Code for the iterations of a parallel loop that run side by side (raise/lanes.h).
//
//   %r, %n = while carry(%a = %x, %k = 0) {        active = all lanes
//     continue_if (gt %a, 1.0)                     loop: active &= a > 1.0; leave where none is
//   } do {                                               a = active ? a * 0.5 : a;  k = active ? k + 1 : k
//     yield (mul %a, 0.5), (add %k, 1) }
//
// The statements before and after such loops run lane by lane, and hand over in small local arrays.

#include <vector>

#include "codegen/llvm/body.h"

namespace adc::codegen {

/// The loops of a body that run in lanes.
struct LaneLoops {
  std::vector<uint32_t> places;  ///< of each `while` in its block, ascending
  uint32_t lanes = 0;            ///< iterations that run at once
  bool ends_in_lanes = false;    ///< the statements after the last of them run in lanes too
};

/// Those of `parallel`, as its words say; no places where none is in lanes.
LaneLoops LaneLoopsOf(const ir::Function& kernel, ir::Inst parallel);

class LaneEmitter {
 public:
  /// `counter`: the index that differs from lane to lane; invalid where none does.
  LaneEmitter(const ir::Module& module, const ir::Function& kernel, llvm::IRBuilder<>& builder,
              TargetHooks& hooks, BodyEmitter& body, FloatMode float_mode, ir::Inst parallel,
              ir::Value counter, const LaneLoops& loops);

  /// Emits `loops.lanes` iterations. `begin(lane)`, lane an i64, tells the hooks and binds the counter.
  template <class Begin>
  void EmitGroup(const Begin& begin) {
    uint32_t first = 0;
    for (size_t part = 0; part <= loops_.places.size(); ++part) {
      bool is_last = part == loops_.places.size();
      uint32_t last = is_last ? End() : loops_.places[part];
      if (is_last && loops_.ends_in_lanes) {
        EmitEnd(first, last);
        break;
      }
      OpenLanes();
      begin(lane_);
      EmitPart(first, last);
      CloseLanes();
      if (!is_last) EmitWhile((*insts_)[last]);
      first = last + 1;
    }
  }

 private:
  using Value = llvm::Value;

  uint32_t End() const { return static_cast<uint32_t>(insts_->size() - 1); }
  uint32_t PartOf(uint32_t place) const;
  void FindHandedOver();
  void HandOver(ir::Value value);
  void OpenLanes();
  void CloseLanes();
  void EmitPart(uint32_t first, uint32_t last);
  void EmitEnd(uint32_t first, uint32_t last);
  void EmitSum(ir::Inst inst);
  Value* SlotOf(ir::Value value, Value* lane);
  void EmitWhile(ir::Inst inst);
  void EmitBlock(ir::Block block);
  void EmitPure(ir::Inst inst);
  Value* EmitLoad(ir::Inst inst);
  /// The value in all lanes.
  Value* Get(ir::Value value);
  Value* Index(ir::Value value);
  llvm::SmallVector<Value*> Yielded(ir::Block block);
  Value* Splat(Value* value) { return builder_.CreateVectorSplat(loops_.lanes, value); }
  llvm::BasicBlock* NewBlock(const char* name);

  const ir::Module& module_;
  const ir::Function& kernel_;
  llvm::IRBuilder<>& builder_;
  TargetHooks& hooks_;
  BodyEmitter& body_;
  const LaneLoops& loops_;
  ScalarEmitter single_;  ///< for one lane
  ScalarEmitter scalars_;
  const std::vector<ir::Inst>* insts_;  ///< of the parallel loop's block
  ir::Value counter_;
  IndexSet<ir::Value> varying_;                        ///< made by the block itself
  SideTable<ir::Value, llvm::AllocaInst*> arrays_;     ///< of what is handed over from part to part
  std::vector<std::vector<ir::Value>> saved_, taken_;  ///< by part
  SideTable<ir::Value, Value*> values_;                ///< in lanes
  llvm::PHINode* lane_ = nullptr;
  llvm::BasicBlock* lane_loop_ = nullptr;
  Value* active_ = nullptr;  ///< <lanes x i1>
};

}  // namespace adc::codegen
