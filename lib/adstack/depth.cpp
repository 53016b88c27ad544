#include "adstack/depth.h"

// A stack without slots is a counter, and its capacity is the counter's largest value. Every piece of code
// has two numbers: `peak`, how far the counter may rise above where it started, and `net`, the change of the
// counter at the end, as a range. In sequence
//
//   peak = max(peak1, net1.upper + peak2),  net = net1 + net2
//
// a branch takes the hull (or, where its condition is known, selects), and a loop adds up its body: before
// iteration k the counter has moved by the sum of net over 0..k, and the peak is the largest of that plus the
// body's peak. Since expressions are in normal form, `n` pushes and `n` pops cancel, and a stack that is
// emptied in every iteration of an outer loop does not count more than once.

namespace adc::adstack {
namespace {

using artifact::kNoNode;
using ir::Block, ir::Inst, ir::Op;
using sizing::Bounds, sizing::Range, sizing::SizeAlgebra, sizing::Trips;

struct Fill {
  NodeId peak;
  Range net;
};

class FillAnalysis {
 public:
  FillAnalysis(const ir::Function& kernel, const StackFacts& stack, Bounds& bounds, bool* loose)
      : kernel_(kernel), stack_(stack), bounds_(bounds), algebra_(bounds.algebra()), loose_(loose) {
    for (Inst access : stack.accesses) {
      Block block = kernel[access].parent;
      while (touched_.Insert(block)) {
        Inst owner = kernel[block].owner;
        if (!owner.Valid()) break;
        block = kernel[owner].parent;
      }
    }
  }

  /// From just after the stack's making, when it is empty, to the end of its block.
  NodeId Run() {
    Block home = kernel_[stack_.maker].parent;
    return bounds_.LargestIn(home, algebra_.Clamp0(OfBlock(home, true).peak), {}, loose_);
  }

 private:
  NodeId Zero() { return algebra_.Const(0); }

  Fill OfBlock(Block block, bool from_maker) {
    Fill sum{Zero(), Range::Exactly(Zero())};
    bool started = !from_maker;
    for (Inst inst : kernel_[block].insts) {
      if (inst == stack_.maker) {
        started = true;
        continue;
      }
      if (!started) continue;
      Fill next = OfInst(inst);
      sum.peak = algebra_.Max(sum.peak, algebra_.Add(sum.net.upper, next.peak));
      sum.net = ranges_.Sum(sum.net, next.net);
    }
    return sum;
  }

  bool Touches(Inst inst) const {
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      if (touched_.Has(kernel_[inst].regions[region])) return true;
    }
    return false;
  }

  Fill OfInst(Inst inst) {
    const ir::InstData& data = kernel_[inst];
    bool own = data.operand_count > 0 && kernel_.Operand(inst, 0) == kernel_.Result(stack_.maker);
    if (own && data.op == Op::StackPush) return {algebra_.Const(1), Range::Exactly(algebra_.Const(1))};
    if (own && data.op == Op::StackPop) return {Zero(), Range::Exactly(algebra_.Const(-1))};
    if (!Touches(inst)) return {Zero(), Range::Exactly(Zero())};
    if (data.op == Op::If) return OfIf(inst);
    if (data.op == Op::For) return OfLoop(inst, OfBlock(data.regions[0], false), bounds_.TripsOf(inst));
    if (data.op == Op::While) {
      // The test runs once more than the body; both together as often as the test is a bound on either.
      Fill test = OfBlock(data.regions[0], false), body = OfBlock(data.regions[1], false);
      Fill both{algebra_.Max(test.peak, algebra_.Add(test.net.upper, body.peak)),
                ranges_.Sum(test.net, body.net)};
      Trips trips{algebra_.Add(bounds_.TripsOf(inst).upper, algebra_.Const(1)), false};
      if (test.peak == Zero() && test.net.upper == Zero()) trips = bounds_.TripsOf(inst);
      return OfLoop(inst, both, trips);
    }
    // A parallel inside of a stack's home: one iteration is what a thread sees, and the hull of all is a
    // bound.
    Fill body = OfBlock(data.regions[0], false);
    return {bounds_.LargestIn(data.regions[0], body.peak, data.parent),
            {bounds_.SmallestIn(data.regions[0], body.net.lower, data.parent),
             bounds_.LargestIn(data.regions[0], body.net.upper, data.parent)}};
  }

  Fill OfIf(Inst inst) {
    Fill then_fill = OfBlock(kernel_[inst].regions[0], false);
    Fill else_fill = OfBlock(kernel_[inst].regions[1], false);
    Range condition = bounds_.Of(kernel_.Operand(inst, 0));
    if (condition.Exact()) {
      NodeId peak = algebra_.pool().Select(condition.lower, then_fill.peak, else_fill.peak);
      return {peak, ranges_.Choose(condition, then_fill.net, else_fill.net)};
    }
    *loose_ = true;
    Range net = ranges_.Union(then_fill.net, else_fill.net);
    return {algebra_.Max(then_fill.peak, else_fill.peak), net};
  }

  Fill OfLoop(Inst loop, Fill body, Trips trips) {
    uint32_t level = bounds_.LevelOf(loop);
    *loose_ = *loose_ || !trips.exact;
    bool never_grows = body.net.upper != kNoNode && algebra_.RangeOf(body.net.upper).high <= 0;
    bool never_falls = body.net.lower != kNoNode && algebra_.RangeOf(body.net.lower).low >= 0;
    NodeId before = never_grows ? Zero() : bounds_.SumOfEarlier(loop, body.net.upper);
    Fill fill;
    fill.peak = algebra_.MaxOver(level, trips.upper, algebra_.Add(before, body.peak), true);
    if (body.peak == Zero() && never_grows) fill.peak = Zero();
    if (trips.exact && body.net.Exact()) {
      fill.net = Range::Exactly(algebra_.SumBelow(level, trips.upper, body.net.lower));
      return fill;
    }
    // A loop that may stop earlier moves by less.
    NodeId down = trips.exact ? body.net.lower : algebra_.Min(body.net.lower, Zero());
    NodeId up = trips.exact ? body.net.upper : algebra_.Clamp0(body.net.upper);
    fill.net.lower = never_falls && !trips.exact ? Zero() : algebra_.SumBelow(level, trips.upper, down);
    fill.net.upper = never_grows && !trips.exact ? Zero() : algebra_.SumBelow(level, trips.upper, up);
    return fill;
  }

  const ir::Function& kernel_;
  const StackFacts& stack_;
  Bounds& bounds_;
  SizeAlgebra& algebra_;
  sizing::RangeAlgebra ranges_{algebra_};
  bool* loose_;
  IndexSet<Block> touched_;
};

}  // namespace

NodeId DeepestFill(const ir::Function& kernel, const StackFacts& stack, Bounds& bounds, bool* loose) {
  return FillAnalysis(kernel, stack, bounds, loose).Run();
}

}  // namespace adc::adstack
