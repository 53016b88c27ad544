#pragma once
// The adstacks of a kernel: the pushes and pops of each, its task, its gate, and which of them never live at
// the same time.

#include <vector>

#include "analysis/structure.h"
#include "analysis/tasks.h"
#include "diag/diagnostics.h"
#include "ir/function.h"

namespace adc::adstack {

/// One stack and every instruction that touches it.
struct StackFacts {
  ir::Inst maker;  ///< its stack.new
  ir::Scalar scalar = ir::Scalar::F32;
  std::vector<ir::Inst> accesses;  ///< pushes, pops and tops in textual order
  bool indexed = false;            ///< every access names its slot; else none does
  bool pushed = false;
  bool popped = false;           ///< popped or read at the top
  uint32_t param = ir::kNoAttr;  ///< the buffer of saved values that it lies in (adstack/saved_stacks.h)
  uint32_t task = 0;             ///< position in analysis::TasksOf
  /// The innermost branch of an `if` that holds all accesses; where there is none, the body of the task's
  /// parallel, or of the kernel.
  ir::Block gate;
  /// The blocks in which a thread needs the stack's row: `gate` alone, or, if every access lies in some
  /// branch further in, those branches, in textual order (a forward and a reverse sweep with one condition).
  std::vector<ir::Block> gates;
  /// Facts that hold wherever the stack is touched: conditions of `if`s, and whether they are true there.
  std::vector<std::pair<ir::Value, bool>> conditions;
  diag::SourceSpan place;  ///< of what is pushed
};

/// The stacks in textual order. Reports misuse (E0501, E0502) and leaves such a stack out.
std::vector<StackFacts> CollectStacks(const ir::Function& kernel, const analysis::Structure& structure,
                                      const std::vector<analysis::Task>& tasks,
                                      diag::Diagnostics& diagnostics);

/// True when no iteration holds values in both stacks at one time, so that they may take the same bytes. A
/// stack lives from its first to its last access within one run of the block that makes it, and where a
/// condition decides whether it is touched at all, in runs that find it so.
bool NeverLiveTogether(const ir::Function& kernel, const analysis::Structure& structure,
                       const StackFacts& left, const StackFacts& right);

/// The position in `tasks` of the one that `inst` is in; the number of tasks where it is after the last.
uint32_t TaskOf(const ir::Function& kernel, const analysis::Structure& structure,
                const std::vector<analysis::Task>& tasks, ir::Inst inst);

/// The innermost branch of an `if` that is `block` or holds it; where there is none, the body of the parallel
/// around it, or of the kernel.
ir::Block GateOf(const ir::Function& function, ir::Block block);

/// True when `outer` is `inner` or holds it.
bool BlockContains(const ir::Function& function, ir::Block outer, ir::Block inner);

}  // namespace adc::adstack
