#pragma once
// Which values of a task can be computed again, outside of the launch and without its effects.

#include <functional>

#include "adstack/plan.h"
#include "analysis/memory.h"
#include "analysis/tasks.h"

namespace adc::counting {

/// The values that a copy of a task, which writes no memory of the launch, cannot know: results of atomics,
/// loads of cells that the task itself may have written by then, values out of stacks that the copy does not
/// keep, and all values that are computed from those. Const once made.
class Repeatable {
 public:
  /// `keeps_rows`: the copy has the task's stacks in rows too; else only those in private memory. `absent`:
  /// parameters whose content the copy has not, or not as the task has it. `racing`: loads of what other
  /// iterations may write; none where it is taken that there are none.
  Repeatable(const analysis::Structure& structure, const analysis::Task& task, const adstack::TaskPlan& plan,
             bool keeps_rows, const IndexSet<ir::Value>& absent = {}, const IndexSet<ir::Inst>& racing = {});

  /// `value`, of the task, is none that the copy can have.
  bool Lost(ir::Value value) const { return values_.Has(value); }
  /// How often the regions of `control` run is lost, or lies inside of something of which it is.
  bool LostControl(ir::Inst control) const { return controls_.Has(control); }
  /// A local array or stack that holds, or may hold, something lost.
  bool LostContent(ir::Value container) const { return containers_.Has(container); }
  /// The copy leaves out the instruction with its regions. `has_stack`: the stacks that it has.
  bool IsLeftOut(ir::Inst inst, const std::function<bool(ir::Value)>& has_stack) const;

 private:
  void Visit(ir::Inst inst, bool under_lost);
  void VisitRegions(ir::Inst inst, bool under_lost);
  void VisitLoop(ir::Inst inst, bool under_lost);
  void VisitStack(ir::Inst inst, bool under_lost);
  void VisitAccess(ir::Inst inst, bool under_lost);
  bool MayHaveWritten(ir::Inst load) const;
  bool AnyLost(std::span<const ir::Value> values) const;
  void LoseResults(ir::Inst inst);
  void Lose(ir::Value value) { changed_ = values_.Insert(value) || changed_; }
  void LoseContent(ir::Value container) { changed_ = containers_.Insert(container) || changed_; }
  void LoseControl(ir::Inst control) { changed_ = controls_.Insert(control) || changed_; }

  const analysis::Structure& structure_;
  const ir::Function& from_;
  analysis::MemoryClasses memory_;
  uint32_t begin_ = 0;  ///< textual number of the task's first instruction
  bool keeps_rows_;
  IndexSet<ir::Value> in_rows_;  ///< stacks that lie in a row
  IndexSet<ir::Value> absent_;   ///< parameters
  IndexSet<ir::Inst> racing_;    ///< loads
  IndexSet<ir::Value> values_, containers_;
  IndexSet<ir::Inst> controls_;
  bool changed_ = false;
};

}  // namespace adc::counting
