#include "adstack/replay_cost.h"

#include <algorithm>
#include <map>

#include "analysis/structure.h"

// A loop in segments runs forward once more than one with its whole tape. In return its tape stays small, so
// that a device's cache may hold it, where a whole one is written to memory and read again. On a device both
// ways of a byte take about as long as 14 simple operations of f32 (4.3 TB/s and 30 T operations/s on an
// H200). Less is asked for here: the loop over segments has a price too.
//
// Bodies of loops in loops run again at each level. They are left alone.

namespace adc::adstack {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::OpClass;

// In simple operations of f32.
constexpr uint64_t kPerTapedByte = 10, kPerAccessedByte = 7;
constexpr uint64_t kDivision = 10, kFunction = 30, kFunctionOfTwo = 60;

/// The cost of one iteration of a loop.
struct Body {
  uint64_t cost = 0;
  uint32_t loops = 0;  ///< how many are inside each other
};

class ReplayCosts {
 public:
  explicit ReplayCosts(const ir::Function& kernel) : kernel_(kernel) { OfBlock(kernel.Body()); }

  bool IsCheap(const TaskPlan& task) const {
    std::map<Inst, uint64_t> taped = TapedBits(task);
    bool replays = false;
    for (auto [loop, bits] : taped) {
      const Body& body = bodies_.at(loop);
      // A loop over segments pushes checkpoints and has the loop over steps inside.
      if (body.loops > 1) return false;
      if (body.loops == 1) continue;
      if (body.cost * 8 > bits * kPerTapedByte) return false;
      replays = true;
    }
    return replays;
  }

 private:
  Body OfBlock(Block block) {
    Body sum;
    for (Inst inst : kernel_[block].insts) {
      Body one{CostOf(inst), 0};
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
        Body inner = OfBlock(kernel_[inst].regions[region]);
        one.cost += inner.cost;
        one.loops = std::max(one.loops, inner.loops);
      }
      if (IsLoop(inst)) bodies_[inst] = {one.cost, one.loops++};
      sum.cost += one.cost;
      sum.loops = std::max(sum.loops, one.loops);
    }
    return sum;
  }

  bool IsLoop(Inst inst) const { return analysis::IsSerialLoop(kernel_[inst].op); }

  /// The bytes that the instruction reads or makes.
  uint64_t BytesOf(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    uint64_t bytes = 0;
    for (uint32_t n = 0; n < data.result_count; ++n)
      bytes = std::max<uint64_t>(bytes, ir::ByteSize(kernel_.TypeOf(kernel_.Result(inst, n)).scalar));
    for (uint32_t n = 1; n < data.operand_count && data.result_count == 0; ++n)
      bytes = std::max<uint64_t>(bytes, ir::ByteSize(kernel_.TypeOf(kernel_.Operand(inst, n)).scalar));
    return bytes;
  }

  uint64_t CostOf(Inst inst) const {
    switch (ir::ClassOf(kernel_[inst].op)) {
      case OpClass::Arithmetic:
      case OpClass::Compare:
      case OpClass::Bits:
      case OpClass::Convert:
      case OpClass::Composed:
      case OpClass::Vector:
        return (IsDivision(kernel_[inst].op) ? kDivision : 1) * WidthOf(inst);
      case OpClass::Function:
        return (kernel_[inst].operand_count > 1 ? kFunctionOfTwo : kFunction) * WidthOf(inst);
      case OpClass::Random:
        return kFunctionOfTwo;
      case OpClass::Access:
      case OpClass::Atomic:
        return kPerAccessedByte * BytesOf(inst);
      case OpClass::Shape:
      case OpClass::Local:
      case OpClass::Control:
      case OpClass::Terminator:
      case OpClass::Check:
      case OpClass::Stack:
      case OpClass::Row:
        return 1;
    }
    return 1;
  }

  uint64_t WidthOf(Inst inst) const { return BytesOf(inst) > 4 ? 2 : 1; }

  static bool IsDivision(Op op) {
    constexpr Op kDivisions[] = {Op::Div,     Op::Rem,  Op::Mod,   Op::FloorDiv,
                                 Op::CeilDiv, Op::Sqrt, Op::Rsqrt, Op::Rcp};
    return std::find(std::begin(kDivisions), std::end(kDivisions), op) != std::end(kDivisions);
  }

  /// By loop: the bits that each of its iterations pushes into rows. A push in a branch may not be executed.
  std::map<Inst, uint64_t> TapedBits(const TaskPlan& task) const {
    std::map<Inst, uint64_t> taped;
    for (const PlannedStack& stack : task.stacks) {
      if (stack.storage != artifact::Storage::kRow) continue;
      for (const PlannedAccess& access : stack.accesses) {
        if (kernel_[access.inst].op != Op::StackPush) continue;
        Inst owner = kernel_[kernel_[access.inst].parent].owner;
        bool always = true;
        for (; owner.Valid() && !IsLoop(owner); owner = kernel_[kernel_[owner].parent].owner) always = false;
        if (!owner.Valid()) continue;
        taped[owner] += !always ? 0 : stack.IsBits() ? 1 : 8 * ir::ByteSize(stack.scalar);
      }
    }
    return taped;
  }

  const ir::Function& kernel_;
  std::map<Inst, Body> bodies_;
};

}  // namespace

void FindCheapReplays(const ir::Function& kernel, AdstackPlan& plan) {
  bool has_segments = std::ranges::any_of(
      kernel.params, [](const ir::ParamInfo& param) { return param.role == ir::ParamRole::Segment; });
  if (!has_segments) return;
  ReplayCosts costs(kernel);
  for (TaskPlan& task : plan.tasks) task.cheap_replay = costs.IsCheap(task);
}

}  // namespace adc::adstack
