#include "adstack/plan.h"

#include <algorithm>

#include "adstack/address_counted.h"
#include "adstack/depth.h"
#include "adstack/flag_words.h"
#include "adstack/forbid_s2.h"
#include "adstack/group_stacks.h"
#include "adstack/replay_cost.h"
#include "adstack/saved_stacks.h"
#include "adstack/stacks.h"
#include "ir/module.h"
#include "sizing/bounds.h"
#include "sizing/compact_pool.h"
#include "sizing/trips_param.h"
#include "support/check.h"

// From facts to a plan. Capacities are built in a working pool, which collects every intermediate expression
// of the analysis; the plan keeps a fresh pool of what it refers to, so that the bundle carries no more than
// the loader evaluates.

namespace adc::adstack {
namespace {

using artifact::SizeClass, artifact::SizeExprPool, artifact::SizeOp, artifact::Storage;
using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;
using sizing::Bounds, sizing::Range, sizing::SizeAlgebra, sizing::Trips;

/// Elements beyond this are never private, whatever they take.
constexpr int64_t kMostPrivate = 1 << 20;
/// Steps that evaluating one capacity may take at compile time.
constexpr uint64_t kMostFolding = 1 << 22;

uint64_t PrivateBytes(const PlannedStack& stack) {
  if (stack.IsBits()) return uint64_t{FlagWords(stack.most)} * ir::ByteSize(kFlagWord.scalar);
  return uint64_t{stack.most} * ir::ByteSize(stack.scalar);
}

/// The stacks of `task` that `bytes` of private memory hold, the smallest first: more memory holds these and
/// further ones.
std::vector<uint32_t> SmallTapes(const TaskPlan& task, uint64_t bytes) {
  std::vector<uint32_t> tapes;
  for (uint32_t n = 0; n < task.stacks.size(); ++n) {
    if (task.stacks[n].most != artifact::kNoIndex) tapes.push_back(n);
  }
  std::sort(tapes.begin(), tapes.end(), [&](uint32_t left, uint32_t right) {
    return std::pair(PrivateBytes(task.stacks[left]), left) <
           std::pair(PrivateBytes(task.stacks[right]), right);
  });
  uint64_t taken = 0;
  size_t fitting = 0;
  while (fitting < tapes.size()) {
    taken += PrivateBytes(task.stacks[tapes[fitting]]);
    if (taken > bytes) break;
    ++fitting;
  }
  tapes.resize(fitting);
  return tapes;
}

class Planner {
 public:
  Planner(ir::Module& module, Function& kernel, const PlanConfig& config, diag::Diagnostics& diagnostics)
      : module_(module),
        kernel_(kernel),
        config_(config),
        diagnostics_(diagnostics),
        structure_(kernel),
        algebra_(work_),
        bounds_(module, kernel, algebra_) {}

  AdstackPlan Run() {
    plan_.lanes = config_.lanes;
    plan_.private_bytes = config_.private_bytes;
    std::vector<analysis::Task> tasks = analysis::TasksOf(kernel_);
    for (const analysis::Task& task : tasks) plan_.tasks.push_back(PlanTask(task));
    PlanSaved();
    facts_ = CollectStacks(kernel_, structure_, tasks, diagnostics_);
    for (uint32_t n = 0; n < facts_.size(); ++n) PlanStack(n);
    for (TaskPlan& task : plan_.tasks) {
      ChoosePrivate(task);
      NumberStacks(task);
      // So far the group of a stack is the position of its facts.
      std::vector<const StackFacts*> facts;
      for (const PlannedStack& stack : task.stacks) facts.push_back(&facts_[stack.group]);
      GroupStacks(kernel_, structure_, work_, facts, task);
      for (size_t n = 0; n < task.stacks.size(); ++n) FindGuards(task.stacks[n], *facts[n]);
    }
    FindCheapReplays(kernel_, plan_);
    Compact();
    return std::move(plan_);
  }

 private:
  TaskPlan PlanTask(const analysis::Task& task) {
    TaskPlan plan;
    if (task.kind == analysis::TaskKind::Serial) {
      plan.place = kernel_[kernel_[kernel_.Body()].insts[task.first]].span;
      return plan;
    }
    plan.kind = artifact::TaskKind::kParallel;
    plan.place = kernel_[task.parallel].span;
    const ir::InstData& data = kernel_[task.parallel];
    if (data.op == Op::Parallel && data.attr != ir::kNoAttr) plan.block_size = data.attr;
    auto axes = static_cast<uint32_t>(kernel_[data.regions[0]].params.size());
    for (uint32_t axis = 0; axis < axes; ++axis) {
      Trips trips = bounds_.TripsOf(task.parallel, axis);
      ADC_CHECK(trips.exact, "a parallel loop without bounds or a trip kernel");
      plan.extents.push_back(trips.upper);
      // A size kernel is given what was counted for the kernel that it sizes.
      Value counted = sizing::TripsParam(kernel_, task.parallel, axis);
      if (kernel_.role != ir::KernelRole::Size && counted.Valid() && plan.trip_kernel.empty())
        plan.trip_kernel = sizing::TripKernelName(module_, kernel_, counted);
    }
    return plan;
  }

  /// The slots of saved values begin at 0: their largest one says how many there are, whatever the contents
  /// of buffers. How a loop is cut into segments changes the order in which slots are read, and not which: a
  /// bound for one segment that is the whole loop holds for all, and needs no length, which a launch chooses
  /// only after it knows its buffers.
  void PlanSaved() {
    Bounds bounds(module_, kernel_, algebra_, Bounds::Known::Arguments);
    plan_.saved.assign(kernel_.params.size(), kNoNode);
    for (uint32_t n = 0; n < kernel_.params.size(); ++n) {
      if (kernel_.params[n].role == ir::ParamRole::Saved) plan_.saved[n] = algebra_.Const(0);
    }
    for (Inst access : structure_.Order()) {
      uint32_t param = SavedParam(kernel_, access);
      if (param == ir::kNoAttr) continue;
      NodeId elements = SavedElements(kernel_, bounds, access);
      ADC_CHECK(elements != kNoNode, "saved values that should be a stack");
      plan_.saved[param] = algebra_.Max(plan_.saved[param], elements);
    }
  }

  /// Of what the stack holds.
  std::string NameOf(Value stack) const {
    std::string_view name = module_.Text(kernel_[stack].name);
    constexpr std::string_view kTape = "tape.";
    return std::string(name.starts_with(kTape) ? name.substr(kTape.size()) : name);
  }

  void PlanStack(uint32_t number) {
    const StackFacts& facts = facts_[number];
    Value value = kernel_.Result(facts.maker);
    bool is_saved = facts.param != ir::kNoAttr;
    if (!is_saved && (!facts.pushed || !facts.popped)) {
      plan_.idle_stacks.push_back(value);
      return;
    }
    PlannedStack stack;
    stack.stack = value;
    stack.scalar = facts.scalar;
    stack.place = facts.place;
    stack.name = NameOf(value);
    stack.gate = facts.gate;
    stack.gates = facts.gates;
    stack.group = number;  // position in facts_ until groups are numbered
    if (is_saved) stack.storage = Storage::kSaved;
    stack.param = facts.param;
    stack.addressing = facts.indexed ? artifact::Addressing::kIndexed : artifact::Addressing::kCounted;
    // A stack that is only popped was pushed by another kernel, which asked for its memory; the extent of
    // that memory bounds the slots.
    stack.capacity = Folded(facts.indexed ? LargestSlot(facts, &stack.loose)
                                          : DeepestFill(kernel_, facts, bounds_, &stack.loose));
    stack.loose = stack.loose && stack.capacity != kNoNode;
    plan_.tasks[facts.task].stacks.push_back(std::move(stack));
  }

  /// Folds an expression that depends on nothing to a number, as long as its evaluation takes at most
  /// kMostFolding steps.
  NodeId Folded(NodeId expr) {
    if (expr == kNoNode || work_.ClassOf(expr) != SizeClass::kS0 || !work_.HasLoops(expr)) return expr;
    artifact::SizeEnv env;
    env.budget = kMostFolding;
    artifact::EvalResult result = artifact::Evaluate(work_, expr, env);
    return result.ok() ? algebra_.Const(result.value) : expr;
  }

  NodeId LargestSlot(const StackFacts& facts, bool* loose) {
    NodeId capacity = algebra_.Const(0);
    for (Inst access : facts.accesses) {
      if (kernel_[access].op != Op::StackPush) continue;
      Range slot = bounds_.OfSlot(kernel_.Operand(access, 2));
      *loose = *loose || !slot.Exact();
      NodeId slots = algebra_.Add(slot.upper, algebra_.Const(1));
      NodeId most = bounds_.LargestIn(kernel_[access].parent, slots, {}, loose);
      capacity = algebra_.Max(capacity, algebra_.Clamp0(most));
    }
    return capacity;
  }

  void FindGuards(PlannedStack& stack, const StackFacts& facts) {
    for (Inst access : facts.accesses) {
      Block inner = kernel_[access].parent;
      auto gate = std::find_if(stack.gates.begin(), stack.gates.end(),
                               [&](Block one) { return BlockContains(kernel_, one, inner); });
      stack.accesses.push_back({access, GuardOf(facts, access, *gate)});
    }
  }

  /// The loop around `access`, inside `gate`, whose iteration number is the slot.
  Inst GuardOf(const StackFacts& facts, Inst access, Block gate) {
    if (!facts.indexed) return {};
    Value slot = kernel_.Operand(access, kernel_[access].operand_count - 1);
    Range range = bounds_.OfSlot(slot);
    if (!range.Exact() || work_[range.lower].op != SizeOp::kIndex) return {};
    uint32_t level = work_[range.lower].axis;
    Block inner = kernel_[access].parent;
    while (inner != gate) {
      Inst owner = kernel_[inner].owner;
      if (!owner.Valid()) return {};
      const ir::InstData& data = kernel_[owner];
      if (analysis::IsSerialLoop(data.op) && bounds_.LevelOf(owner) == level) {
        if (data.op == Op::For) return owner;
        // The test of a `while` compares its counter: it must have it, and come before the access.
        const ir::ValueData& counter = kernel_[slot];
        bool is_carried =
            counter.kind == ir::ValueKind::BlockParam && Block(counter.owner) == data.regions[0];
        return is_carried && inner == data.regions[1] ? owner : Inst();
      }
      inner = data.parent;
    }
    return {};
  }

  void ChoosePrivate(TaskPlan& task) {
    for (PlannedStack& stack : task.stacks) {
      if (stack.capacity == kNoNode || stack.storage == Storage::kSaved) continue;
      int64_t most = std::max<int64_t>(algebra_.RangeOf(stack.capacity).high, 1);
      if (most <= kMostPrivate) stack.most = static_cast<uint32_t>(most);
    }
    for (uint32_t position : SmallTapes(task, config_.private_bytes)) {
      PlannedStack& stack = task.stacks[position];
      stack.private_length = stack.most;
      stack.capacity = algebra_.Const(stack.most);
      stack.loose = false;
      stack.storage = Storage::kPrivate;
    }
    std::vector<PlannedStack> ordered;
    for (Storage storage : {Storage::kRow, Storage::kPrivate, Storage::kSaved}) {
      for (PlannedStack& stack : task.stacks) {
        if (stack.storage == storage) ordered.push_back(std::move(stack));
      }
    }
    task.stacks = std::move(ordered);
  }

  void NumberStacks(TaskPlan& task) {
    for (uint32_t number = 0; number < task.stacks.size(); ++number) {
      uint32_t given = kernel_[kernel_.DefiningInst(task.stacks[number].stack)].attr;
      task.stacks[number].id = given == ir::kNoAttr ? number : given;
    }
  }

  void Compact() {
    std::vector<NodeId*> roots;
    for (NodeId& elements : plan_.saved) {
      if (elements != kNoNode) roots.push_back(&elements);
    }
    for (TaskPlan& task : plan_.tasks) {
      for (NodeId& extent : task.extents) roots.push_back(&extent);
      for (PlannedStack& stack : task.stacks) roots.push_back(&stack.capacity);
    }
    sizing::CompactPool(work_, plan_.exprs, roots);
  }

  const ir::Module& module_;
  Function& kernel_;
  const PlanConfig& config_;
  diag::Diagnostics& diagnostics_;
  analysis::Structure structure_;
  SizeExprPool work_;
  SizeAlgebra algebra_;
  Bounds bounds_;
  AdstackPlan plan_;
  std::vector<StackFacts> facts_;
};

}  // namespace

SizeClass AdstackPlan::ClassOf(const TaskPlan& task) const {
  bool counts = !task.trip_kernel.empty() || !task.promises.empty();
  SizeClass worst = counts ? SizeClass::kS2 : SizeClass::kS0;
  for (NodeId extent : task.extents) worst = std::max(worst, exprs.ClassOf(extent));
  for (const PlannedStack& stack : task.stacks) worst = std::max(worst, exprs.ClassOf(stack.capacity));
  return worst;
}

AdstackPlan MovePrivate(AdstackPlan& plan, uint32_t private_bytes) {
  std::vector<std::vector<uint32_t>> small;
  for (const TaskPlan& task : plan.tasks) {
    small.push_back(SmallTapes(task, private_bytes));
    for (uint32_t position : small.back()) plan.exprs.Const(task.stacks[position].most);
  }
  AdstackPlan moved = plan;
  moved.private_bytes = private_bytes;
  for (size_t number = 0; number < moved.tasks.size(); ++number) {
    for (uint32_t position : small[number]) {
      PlannedStack& stack = moved.tasks[number].stacks[position];
      if (stack.storage == Storage::kPrivate) continue;
      stack.storage = Storage::kPrivate;
      stack.private_length = stack.most;
      stack.capacity = moved.exprs.Const(stack.most);
      stack.loose = stack.counted = false;
      stack.group = stack.share = stack.cpu_share = artifact::kNoIndex;
      stack.gates = {stack.gate};
    }
    TaskPlan& task = moved.tasks[number];
    bool has_rows = std::any_of(task.stacks.begin(), task.stacks.end(),
                                [](const PlannedStack& stack) { return stack.storage == Storage::kRow; });
    if (!has_rows && task.size_kernel.empty()) task.groups.clear();
  }
  return moved;
}

bool SameStorage(const AdstackPlan& left, const AdstackPlan& right) {
  for (size_t task = 0; task < left.tasks.size(); ++task) {
    for (size_t n = 0; n < left.tasks[task].stacks.size(); ++n) {
      if (left.tasks[task].stacks[n].storage != right.tasks[task].stacks[n].storage) return false;
    }
  }
  return true;
}

AdstackPlan PlanAdstacks(ir::Module& module, Function& kernel, const PlanConfig& config,
                         diag::Diagnostics& diagnostics) {
  MakeSavedStacks(module, kernel);
  AddressCounted(module, kernel);
  AdstackPlan plan = Planner(module, kernel, config, diagnostics).Run();
  if (config.forbid_s2) ForbidDeviceData(module, kernel, plan, diagnostics);
  return plan;
}

}  // namespace adc::adstack
