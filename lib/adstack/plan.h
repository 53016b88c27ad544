#pragma once
// The adstack plan of a kernel: how many iterations each task has, which stacks it keeps, how large they get,
// where they live. The loader sizes a launch from it; this is the compiler's form of it.

#include <string>
#include <vector>

#include "artifact/metadata.h"
#include "diag/diagnostics.h"
#include "ir/function.h"
#include "sizing/size_algebra.h"

namespace adc::adstack {

using artifact::kNoNode, artifact::NodeId;

struct PlanConfig {
  uint32_t lanes = 1;            ///< rows lie interleaved in blocks of this many; 1 on a CPU
  uint32_t private_bytes = 256;  ///< per task: small tapes up to this size in all need no row
  bool forbid_s2 = false;        ///< a size that only device data gives is an error (E0504)
};

/// How one push, pop or top stays inside its stack.
struct PlannedAccess {
  ir::Inst inst;
  /// The `for` or `while` whose iteration number is the slot: one comparison there guards all its iterations.
  /// Invalid: the access is guarded by itself.
  ir::Inst guard;
};

struct PlannedGroup {
  /// A thread claims its row where the first of these blocks begins that it comes to, and has it in all.
  std::vector<ir::Block> gates;
  bool gated = false;      ///< the blocks are branches of an `if`
  bool counted = false;    ///< the task's size kernel counts the iterations that claim a row
  diag::SourceSpan place;  ///< of the first branch; invalid where the group has no gate
};

struct PlannedStack {
  ir::Value stack;
  uint32_t id = 0;  ///< its number; in a size kernel that of the stack it counts for
  ir::Scalar scalar = ir::Scalar::F32;
  diag::SourceSpan place;        ///< of what is pushed
  std::string name;              ///< of what is pushed, as the source has it; empty where it has none
  ir::Block gate;                ///< the innermost branch, or body, around all accesses
  std::vector<ir::Block> gates;  ///< where its row is claimed; `gate` alone where it needs none
  NodeId capacity = kNoNode;     ///< elements; kNoNode: nothing says it before the launch
  bool counted = false;          ///< the task's size kernel counts the elements
  bool loose = false;            ///< `capacity` is a bound that launches may stay well below
  uint32_t group = 0;
  uint32_t share = artifact::kNoIndex;      ///< stacks of one group and number take the same bytes
  uint32_t cpu_share = artifact::kNoIndex;  ///< on a CPU, whose workers have one row: stacks of one number do
  uint32_t param = ir::kNoAttr;             ///< saved: the parameter whose buffer it lies in
  artifact::Addressing addressing = artifact::Addressing::kIndexed;
  artifact::Storage storage = artifact::Storage::kRow;
  uint32_t most = artifact::kNoIndex;  ///< elements, whatever the launch; kNoIndex: too many to be private
  uint32_t private_length = 0;         ///< elements, where the storage is private
  std::vector<PlannedAccess> accesses;

  /// Flags lie as bits of 32-bit words (adstack/flag_words.h), but for those that a kernel saves.
  bool IsBits() const { return scalar == ir::Scalar::I1 && storage != artifact::Storage::kSaved; }
};

/// A promise of a parameter that the task's size kernel checks (counting/promises.h).
struct PlannedPromise {
  uint32_t param = 0;
  diag::SourceSpan place;  ///< of the task's first write
};

struct TaskPlan {
  artifact::TaskKind kind = artifact::TaskKind::kSerial;
  diag::SourceSpan place;
  uint32_t block_size = 0;      ///< of the `parallel`; 0: free
  std::vector<NodeId> extents;  ///< iterations per axis of a parallel task; negative counts as 0
  std::vector<PlannedGroup> groups;
  /// Those in rows first, in textual order, then the private and the saved ones (before MovePrivate): the
  /// number of a stack in row.load, row.store, row.capacity and status.raise is its position here.
  std::vector<PlannedStack> stacks;
  std::vector<PlannedPromise> promises;
  std::string size_kernel;  ///< name of the kernel that counts what expressions do not say well; empty: none
  /// Segments of its loops cost less to run again than memory takes for whole tapes, on a device that cannot
  /// cache these (adstack/replay_cost.h).
  bool cheap_replay = false;
  std::string trip_kernel;  ///< name of the kernel that counts iterations of axes; empty: none
};

/// Expressions refer to parameters of the kernel by position. One plan per kernel, with or without stacks.
struct AdstackPlan {
  uint32_t lanes = 1;
  uint32_t private_bytes = 0;  ///< of the target that it is for
  artifact::SizeExprPool exprs;
  std::vector<TaskPlan> tasks;  ///< as analysis::TasksOf has them
  /// By parameter: elements of a buffer of saved values that a launch fills or reads, beside those of the
  /// stacks that lie in it; kNoNode for others.
  std::vector<NodeId> saved;
  /// Stacks that nothing pops, or nothing pushes: lowering drops their accesses.
  std::vector<ir::Value> idle_stacks;

  /// The worst class of any capacity of the task; S2 where one is unknown.
  artifact::SizeClass ClassOf(const TaskPlan& task) const;
};

/// Plans one kernel.
///
/// Values that are saved in slots that only data bounds become stacks (MakeSavedStacks), and counted stacks
/// whose slots are plain get slots (AddressCounted). Then every stack gets its capacity from the bounds of
/// the loops that fill it, private storage where it is small whatever the launch, its claim group from the
/// innermost branch around its accesses, and bytes shared with stacks that never live at the same time
/// (GroupStacks).
///
/// *Requires*: tasks isolated, derivatives taken, trip kernels added. *Guarantees*: no capacity is below what
/// a launch pushes, unless 32-bit integer arithmetic of a bound wraps, which the guard reports at run time.
/// *Breaks*: nothing. Errors: E0501, E0502, E0504.
AdstackPlan PlanAdstacks(ir::Module& module, ir::Function& kernel, const PlanConfig& config,
                         diag::Diagnostics& diagnostics);

/// `plan` for a target whose private memory holds tapes up to `private_bytes`, which are no fewer than
/// `plan.private_bytes`: stacks leave their rows, and nothing else changes. Stacks and groups keep their
/// numbers, so that one size kernel counts for both, and a group may be left without stacks; where all are
/// and nothing is counted, there are none. Constants that the copy needs enter `plan.exprs`, so that its
/// expressions are those of all copies.
AdstackPlan MovePrivate(AdstackPlan& plan, uint32_t private_bytes);
/// True when both plans of one kernel keep each stack in the same kind of memory.
bool SameStorage(const AdstackPlan& left, const AdstackPlan& right);

/// The plan for people: tasks, groups, gates, rows, stacks with their expressions, classes and places.
/// `lanes` says by how many lanes rows interleave on which targets; empty: nothing is said of that.
std::string PrintPlan(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
                      const diag::SourceManager& sources, std::string_view lanes = {});

/// The entry of the bundle for one task's stacks. Expressions keep their positions in `plan.exprs`.
artifact::AdstackPlanMeta PlanMeta(const AdstackPlan& plan, const TaskPlan& task,
                                   const diag::SourceManager& sources);

}  // namespace adc::adstack
