#include "raise/lanes.h"

#include <algorithm>

#include "analysis/uses.h"

namespace adc::raise {
namespace {

using ir::Inst;
using ir::Op;
using ir::Scalar;

/// Registers of lanes: four of them hide what one waits for.
constexpr uint32_t kVectors = 4;

class Marker {
 public:
  Marker(ir::Function& kernel, Inst parallel, const RaiseConfig& config)
      : kernel_(kernel),
        config_(config),
        parallel_(parallel),
        block_(kernel[parallel].regions[0]),
        uses_(kernel) {}

  void Run() {
    if (!MayMix(block_)) return;
    const std::vector<Inst>& insts = kernel_[block_].insts;
    uint32_t last = ir::kNoAttr;
    for (uint32_t place = 0; place < insts.size(); ++place) {
      if (kernel_[insts[place]].op != Op::While || !InLanes(insts[place])) continue;
      kernel_[insts[place]].words.Add(ir::Word::Lanes);
      last = place;
    }
    if (last == ir::kNoAttr) return;
    kernel_[parallel_].component = kVectors * config_.lane_bytes / widest_;
    if (EndsInLanes(last + 1)) kernel_[parallel_].words.Add(ir::Word::LanesEnd);
  }

 private:
  /// Whether the block has no effect that another iteration, begun before it has ended, could see. A worker's
  /// iterations share its row and its local arrays.
  bool MayMix(ir::Block block) const {
    for (Inst inst : kernel_[block].insts) {
      const ir::InstData& data = kernel_[inst];
      ir::Effect effect = ir::InfoOf(data.op).effect;
      bool is_sum = (data.op == Op::AtomicMax || data.op == Op::AtomicAdd) &&
                    kernel_.TypeOf(kernel_.Operand(inst, 0)).IsBuffer();
      bool harmless = effect == ir::Effect::Pure || effect == ir::Effect::Control || data.op == Op::Load ||
                      data.op == Op::Shape || is_sum;
      if (!harmless) return false;
      for (ir::Block region : data.regions) {
        if (region.Valid() && !MayMix(region)) return false;
      }
    }
    return true;
  }

  bool InLanes(Inst loop) {
    uint32_t widest = 4;
    for (ir::Block region : {kernel_[loop].regions[0], kernel_[loop].regions[1]}) {
      for (ir::Value param : kernel_[region].params) {
        if (!FitsLane(param)) return false;
        widest = std::max(widest, ir::ByteSize(kernel_.TypeOf(param).scalar));
      }
      for (Inst inst : kernel_[region].insts) {
        if (!ir::IsTerminator(kernel_[inst].op) && !InLane(inst)) return false;
      }
    }
    widest_ = std::max(widest_, widest);
    return true;
  }

  /// Whether from `place` on there is arithmetic alone, and sums of integers into one cell.
  bool EndsInLanes(uint32_t place) const {
    const std::vector<Inst>& insts = kernel_[block_].insts;
    for (; place + 1 < insts.size(); ++place) {
      const ir::InstData& data = kernel_[insts[place]];
      if (data.op != Op::AtomicMax && data.op != Op::AtomicAdd) {
        if (data.op == Op::Load || !InLane(insts[place])) return false;
        continue;
      }
      if (!ir::IsInteger(kernel_.TypeOf(kernel_.AccessValues(insts[place])[0]).scalar)) return false;
      if (data.result_count > 0 && uses_.IsUsed(kernel_.Result(insts[place]))) return false;
      for (ir::Value index : kernel_.Indices(insts[place])) {
        if (!kernel_.IntegerConstant(index)) return false;
      }
    }
    return true;
  }

  bool InLane(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    if (data.result_count != 1 || !FitsLane(kernel_.Result(inst))) return false;
    if (data.op == Op::Load) {
      // A gather, which leaves lanes out that have ended.
      ir::Type base = kernel_.TypeOf(kernel_.Operand(inst, 0));
      return base.IsBuffer() && ir::ByteSize(kernel_.TypeOf(kernel_.Result(inst)).scalar) >= 4;
    }
    return IsVectorOp(data.op, kernel_.TypeOf(kernel_.Operand(inst, 0)).scalar) &&
           std::all_of(kernel_.Operands(inst).begin(), kernel_.Operands(inst).end(),
                       [&](ir::Value operand) { return FitsLane(operand); });
  }

  bool FitsLane(ir::Value value) const {
    ir::Type type = kernel_.TypeOf(value);
    return type.IsScalar() && type.scalar != Scalar::F16;
  }

  /// Whether vectors have it: a function that is called for each lane, or a division of integers, which runs
  /// lane by lane, would run for lanes that have ended.
  bool IsVectorOp(Op op, Scalar operand) const {
    if (ir::InfoOf(op).effect != ir::Effect::Pure) return false;
    bool divides = op == Op::Div || op == Op::Rem || op == Op::Mod || op == Op::FloorDiv || op == Op::CeilDiv;
    bool is_function =
        ir::ClassOf(op) == ir::OpClass::Function || op == Op::Rem || (op == Op::Fma && !config_.lanes_fuse);
    return !is_function && (!divides || ir::IsFloat(operand));
  }

  ir::Function& kernel_;
  const RaiseConfig& config_;
  Inst parallel_;
  ir::Block block_;
  analysis::Uses uses_;
  uint32_t widest_ = 4;
};

}  // namespace

void MarkLanes(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (config.lane_bytes == 0 || kernel.role != ir::KernelRole::Size) return;
  for (Inst loop : kernel[kernel.Body()].insts) {
    bool parallel = kernel[loop].op == Op::Parallel || kernel[loop].op == Op::ParallelOver;
    if (parallel) Marker(kernel, loop, config).Run();
  }
}

}  // namespace adc::raise
