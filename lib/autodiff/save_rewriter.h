#pragma once
// Stores the values that a gradient reads again, each in a slot of a buffer (autodiff/save_overwritten.h).

#include <functional>
#include <map>

#include "autodiff/activity.h"
#include "autodiff/slot_bounds.h"
#include "transform/rewriter.h"

namespace adc::autodiff {

/// Requires: each saved value is the only result of a load or an atomic.
/// Guarantees: slots of different values and iterations differ, and begin at 0.
class SaveRewriter final : public transform::Rewriter {
 public:
  SaveRewriter(ir::Module& module, const ir::Function& from, const transform::FoldConfig& fold)
      : Rewriter(module, from, fold), activity_(module, from, DiffParameters::FromAttributes(module, from)) {}

  /// Values of loops that have no number are left out; false where `leaves` does not allow that.
  bool Plan(std::span<const ir::Inst> values,
            const std::function<bool(ir::Inst value, ir::Inst loop)>& leaves);
  /// Whether any value is saved.
  bool Saves() const { return !sites_.empty(); }
  /// Whether the function has counters, local arrays that are to become values.
  bool Counts() const { return !totals_.empty(); }

 private:
  /// A loop or axis around a value: its counter, its begin, its step, and its largest number of trips.
  struct Digit {
    ir::Value index;    ///< of the loop, which begins at `first`
    ir::Value counter;  ///< or, built, one that begins at 0
    ir::Value first, trips;
    int64_t step = 1;
    bool loose = false;  ///< it may run less often
  };
  /// The outermost and the innermost; the `parallel` and nothing.
  using OpenLoops = std::pair<ir::Inst, ir::Inst>;
  /// Values that lie in one buffer, one after the other, or where `open` is not empty, interleaved: `slots`
  /// for each number of the top digit.
  struct Buffer {
    ir::Value param, slots;  ///< built
  };
  struct Site {
    ir::Inst inst;
    std::vector<ir::Inst> loops;      ///< outermost first
    std::vector<ir::Inst> open = {};  ///< those of them that only data bounds
    ir::Value base = {};              ///< built: the first slot
    size_t buffer = 0;
    ir::Value open_axis = {};                          ///< an index of the `parallel` that only data bounds
    std::map<ir::Value, IndexedAxis> by_element = {};  ///< indices that are numbers of elements
    bool exclusive = false;  ///< one of these says which iteration of the `parallel` it is, too

    bool IsOpen() const { return !open.empty() || open_axis.Valid(); }
    OpenLoops OpenAround() const {
      if (open_axis.Valid()) return {loops.front(), {}};
      return open.empty() ? OpenLoops() : OpenLoops(open.front(), open.back());
    }
  };

  ir::Inst FindBounds(Site& site) const;
  bool IsArgumentAxis(ir::Inst loop, size_t axis) const;
  /// Whether the top digit says which iteration of `loop` it is.
  static bool IsInTopDigit(const Site& site, ir::Inst loop);

  ir::Value Wide(ir::Value v);
  ir::Value Rebuilt(ir::Value v);
  ir::Value Both(ir::Op op, ir::Value left, ir::Value right);
  ir::Value Most(ir::Value v) { return Extreme(v, true); }
  ir::Value Least(ir::Value v) { return Extreme(v, false); }
  ir::Value Extreme(ir::Value v, bool most);
  ir::Value BeginOf(const IndexOf& at);
  ir::Value EndOf(const IndexOf& at);
  int64_t ExtentOf(ir::Inst loop, size_t axis) const;

  std::vector<Digit> DigitsOf(const Site& site, ir::Inst loop);
  std::vector<Digit> DigitsOf(const Site& site);
  ir::Value NumberOf(const Digit& digit);
  ir::Value TopDigit(const Site& site);
  /// Of the counter that is a local array.
  ir::Value Total(ir::Value array);

  void Prepare(ir::Inst anchor, const std::vector<ir::Inst>& values);
  void Save(const Site& site);
  void CopyCounted(ir::Inst inst);
  void CountUp(ir::Inst inner);
  void Visit(ir::Inst inst) override;

  Activity activity_;
  std::map<ir::Inst, ir::Value> counters_;  ///< of `while` loops around sites, built
  std::map<ir::Inst, Site> sites_;          ///< by the instruction whose result is saved
  std::map<ir::Inst, std::vector<ir::Inst>>
      anchored_;  ///< these, by the instruction of the kernel's body around them
  std::vector<Buffer> buffers_;
  /// By the outermost and the innermost of several open loops: iterations of the latter since the former
  /// began, in a local array.
  std::map<OpenLoops, ir::Value> totals_;
};

}  // namespace adc::autodiff
