#pragma once
// Bounds of the integers of a kernel as size expressions.

#include <optional>
#include <vector>

#include "ir/function.h"
#include "sizing/range_algebra.h"

namespace adc::sizing {

/// How often a loop, or one axis of a `parallel`, runs.
struct Trips {
  NodeId upper = kNoNode;  ///< never too small; unknown for a `while` without `max`
  bool exact = false;
};

/// Translates integer values of one kernel. Sound: the true value never lies outside of the range, as long as
/// no sum of 32 bits and nothing of 64 bits wraps: products wrap in the expression where they do in the
/// kernel, and so does what grows out of numbers of known size. Exact for scalar
/// arguments, shapes, loop indices, elements of buffers that the same task does not write (what an earlier
/// task writes is there when the task is sized), arithmetic on those, and carried values that grow by what is
/// known.
class Bounds {
 public:
  /// The facts that expressions may use.
  enum class Known : uint8_t {
    AtLaunch,   ///< all that the loader knows when it sizes stacks: contents of buffers too, trips that it
                ///< counted, and the length of segments (ir::ParamRole::Segment), which it chooses
    Arguments,  ///< arguments and shapes: nothing is read or counted, and a segment is all of its loop
  };

  Bounds(const ir::Module& module, const ir::Function& function, SizeAlgebra& algebra,
         Known known = Known::AtLaunch);

  Range Of(ir::Value value);
  /// Of the slot of a push or pop, in numbers that do not wrap: where a slot of the kernel would, its tape is
  /// longer than any that can be had.
  Range OfSlot(ir::Value slot, uint32_t depth = 0);
  /// Of a `for`, a `while` (its body), a `parallel` or `parallel over` axis.
  Trips TripsOf(ir::Inst loop, uint32_t axis = 0);
  /// Level of the index of `loop`; kMaxSizeLevels or more: too deep for an index of its own.
  uint32_t LevelOf(ir::Inst loop, uint32_t axis = 0) const;

  /// The largest `expr` over all iterations that reach `block`, counted from `outer` (exclusive; the whole
  /// kernel where invalid). Conditions of enclosing branches count where they are known before the launch and
  /// alike for all iterations. `*loose` is set where no iteration may come near: `expr` changes from one to
  /// the next, and a condition or the end of a loop that is not known keeps some from `block`.
  NodeId LargestIn(ir::Block block, NodeId expr, ir::Block outer = {}, bool* loose = nullptr);
  NodeId SmallestIn(ir::Block block, NodeId expr, ir::Block outer = {});

  /// The expression of an i1, where it is exact and depends on no index and no buffer.
  NodeId UniformCondition(ir::Value condition);
  /// Sum of `body` over the iterations of `loop` before the current one.
  NodeId SumOfEarlier(ir::Inst loop, NodeId body);
  SizeAlgebra& algebra() { return algebra_; }

 private:
  struct Entry {
    enum State : uint8_t { New, Busy, Done } state = New;
    Range range;
  };

  Range Compute(ir::Value value);
  Range OfInst(ir::Inst inst, uint32_t result);
  Range OfControl(ir::Inst inst, uint32_t result);
  Range OfArithmetic(ir::Inst inst, ir::Scalar scalar);
  Range OfBits(ir::Inst inst, ir::Scalar scalar);
  Range OfParam(ir::Block block, uint32_t number, ir::Type type);
  Range OfCarried(ir::Inst loop, uint32_t number);
  Range OfLoopResult(ir::Inst loop, uint32_t number);
  Range OfLoad(ir::Inst inst);
  Range OfPop(ir::Inst inst);
  uint32_t TaskOf(ir::Inst inst) const;
  Range Closed(ir::Inst loop, Range range);
  /// The result of a loop: `left` where it runs at all, else `initial`. Its body may read an element that is
  /// only there where it runs, and sizing must not read elsewhere.
  Range WhereItRuns(ir::Inst loop, Range left, Range initial);
  /// `ceildiv count, part`: by a part that is chosen, the chosen one of the quotients, and one part at most
  /// where it is as long as all.
  Range Parts(ir::Value count, ir::Value part);
  /// The result of `value` may leave its type by far: a product of two numbers that are not small.
  bool MayWrap(ir::Value value) const;
  /// `value` as `param` plus something, where it is that.
  std::optional<Range> Increment(ir::Value value, ir::Value param, uint32_t depth);
  /// The change in one iteration, or in none where the loop may stop earlier than it says.
  Range ChangeOfSome(Trips trips, Range step);
  uint32_t DepthOf(ir::Block block) const;

  const ir::Module& module_;
  const ir::Function& function_;
  SizeAlgebra& algebra_;
  RangeAlgebra ranges_;
  const Known given_;
  SideTable<ir::Value, Entry> known_;
  SideTable<ir::Value, std::vector<ir::Inst>> pushes_;  ///< by stack
  SideTable<ir::Inst, uint32_t> task_of_;               ///< of the instructions of the kernel's body
  std::vector<std::vector<bool>> written_;              ///< by task, by parameter: the task may write it
  uint32_t depth_ = 0;
};

}  // namespace adc::sizing
