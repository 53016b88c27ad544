#include "counting/size_kernel.h"

#include <algorithm>
#include <optional>

#include "adstack/stacks.h"
#include "counting/promises.h"
#include "counting/repeatable.h"
#include "diag/errors/adstack.h"
#include "ir/clone.h"
#include "ir/module.h"
#include "sizing/trip_count.h"
#include "transform/simplify.h"

// A size kernel is a copy of one task in which nothing can be seen from outside but what it counts: stores,
// atomics and sums into parameters are left out, assertions and prints too, and so is all that depends on
// them (Repeatable). Counting is put where it is cheapest: the trip count of a `for` at its head, the counter
// of a `while` after it, any other push at the push, an iteration where it passes a gate. Simplification then
// finds that most of the copy has no effect left.
//
//   %count = while carry(%k = 0, %v = %v0) {        the loop stays, for its condition; its pushes go:
//     continue_if (gt %v, 1.0)                      nothing pops them any more
//   } do { stack.push %s, %v at %k  ... }
//   atomic max %sizes[0], %count
//   if (gt %m, 0.0) { atomic add %sizes[1], 1 }     a gate: its body is gone
//
// An iteration counts once, however often it comes by: where a gate stands in a loop, or a group has several,
// a local flag collects, and is added up at the end of the iteration.
//
// A gate whose condition is lost counts as passed wherever the innermost gate around it passes, so that a
// count is never too small. That takes care of pops as well: a derived kernel pops nothing in an iteration
// that pushed nothing, so that a gate with pops alone may be left out where its condition is lost (it was
// taped itself, as a rule); a kernel of the user's promises nothing, and the gate counts there too.

namespace adc::counting {
namespace {

using adstack::AdstackPlan, adstack::PlanConfig, adstack::PlannedAccess, adstack::PlannedGroup;
using adstack::PlannedStack, adstack::TaskPlan;
using artifact::kNoNode;
using ir::Block, ir::Function, ir::Inst, ir::kI64, ir::Op, ir::Type, ir::Value;
using sizing::TripCount, sizing::WideIndex;

bool IsOpen(const TaskPlan& task) {
  return std::any_of(task.stacks.begin(), task.stacks.end(),
                     [](const PlannedStack& stack) { return stack.capacity == kNoNode; });
}

bool CountsElements(const artifact::SizeExprPool& exprs, const TaskPlan& task) {
  return std::any_of(task.stacks.begin(), task.stacks.end(),
                     [&](const PlannedStack& stack) { return WantsCounting(exprs, stack); });
}

class SizeKernelBuilder {
 public:
  SizeKernelBuilder(ir::Module& module, const analysis::Structure& structure, const analysis::Task& task,
                    const artifact::SizeExprPool& exprs, const TaskPlan& plan)
      : module_(module),
        structure_(structure),
        from_(structure.function()),
        exprs_(exprs),
        plan_(plan),
        work_(task),
        keeps_rows_(CountsElements(exprs, plan)),
        repeatable_(structure, task, plan, keeps_rows_),
        promises_(module, from_, task, plan.promises) {}

  /// An access of which cannot be checked what is promised of it; invalid where there is none.
  Inst Unchecked() const { return promises_.FirstUnknown(structure_, work_, plan_, keeps_rows_); }

  /// Null where a stack's count depends on what cannot be repeated, or where there is nothing to count.
  Function* Run(uint32_t task, bool count_rows) {
    for (uint32_t number = 0; number < plan_.stacks.size(); ++number) {
      of_stack_[plan_.stacks[number].stack] = number;
      if (!WantsCounting(exprs_, plan_.stacks[number])) continue;
      if (CanCount(plan_.stacks[number])) {
        EnterStack(number);
      } else if (plan_.stacks[number].capacity == kNoNode &&
                 plan_.stacks[number].storage != artifact::Storage::kSaved) {
        return nullptr;
      }
    }
    for (uint32_t group = 0; group < plan_.groups.size() && count_rows; ++group) EnterGroup(group);
    if (counted_stacks_.empty() && counted_.empty() && plan_.promises.empty()) return nullptr;
    std::string name = std::string(module_.Text(from_.name)) + ".size" + std::to_string(task);
    made_ = CloneSignature(from_, module_.Intern(name), map_);
    made_->role = ir::KernelRole::Size;
    made_->derived_from = from_.name;
    promises_.AddWords(*made_);
    sizes_ = made_->AddParameter(Type::Buffer(kI64, 1), ir::FreshName(module_, from_, "sizes"), {});
    builder_.emplace(module_, *made_, made_->Body());
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    for (uint32_t place = work_.first; place < work_.last; ++place) Copy(body[place]);
    if (!complete_) return nullptr;
    builder_->SetBlock(made_->Body());
    builder_->Terminate(Op::Return, {});
    return &module_.AddFunction(std::move(made_));
  }

  /// The groups whose rows it counts, ascending.
  const std::vector<uint32_t>& counted() const { return counted_; }
  /// The stacks whose elements it counts, ascending.
  const std::vector<uint32_t>& counted_stacks() const { return counted_stacks_; }

 private:
  bool CanCount(const PlannedStack& stack) const {
    bool is_counted = stack.addressing == artifact::Addressing::kCounted;
    for (const PlannedAccess& access : stack.accesses) {
      if (from_[access.inst].op != Op::StackPush && !is_counted) continue;
      Inst around = access.guard.Valid() ? access.guard : from_[from_[access.inst].parent].owner;
      if (around.Valid() && repeatable_.LostControl(around)) return false;
      bool has_slot = !is_counted && !access.guard.Valid();
      if (has_slot && repeatable_.Lost(from_.Operand(access.inst, 2))) return false;
    }
    return true;
  }

  void EnterStack(uint32_t number) {
    const PlannedStack& stack = plan_.stacks[number];
    counted_stacks_.push_back(number);
    bool is_counted = stack.addressing == artifact::Addressing::kCounted;
    if (is_counted) needs_counter_.Insert(stack.stack);
    for (const PlannedAccess& access : stack.accesses) {
      bool is_push = from_[access.inst].op == Op::StackPush;
      if (!is_push && !is_counted) continue;
      if (access.guard.Valid()) {
        counted_at_loop_[access.guard].push_back({number, access.inst});
      } else if (is_push) {
        counted_at_push_.Insert(access.inst);
      }
    }
  }

  bool HasPush(uint32_t group, Block gate) const {
    for (const PlannedStack& stack : plan_.stacks) {
      if (stack.storage != artifact::Storage::kRow || stack.group != group) continue;
      for (const PlannedAccess& access : stack.accesses) {
        if (from_[access.inst].op == Op::StackPush &&
            adstack::BlockContains(from_, gate, from_[access.inst].parent))
          return true;
      }
    }
    return false;
  }

  /// Where iterations of a group are counted, which then enters `counted_`; nowhere where that would be in
  /// every iteration.
  void EnterGroup(uint32_t group) {
    if (!plan_.groups[group].gated || !work_.parallel.Valid()) return;
    Block all = from_[work_.parallel].regions[0];
    bool derived = from_.role != ir::KernelRole::Primal;
    std::vector<Block> points;
    for (Block gate : plan_.groups[group].gates) {
      Block point = gate;
      for (Block block = gate; block != all; block = from_[from_[block].owner].parent) {
        Inst owner = from_[block].owner;
        if (repeatable_.LostControl(owner)) point = adstack::GateOf(from_, from_[owner].parent);
      }
      if (point != gate && derived && !HasPush(group, gate)) continue;
      if (point == all) return;
      bool known =
          std::any_of(points.begin(), points.end(), [&](Block other) { return SameBranch(point, other); });
      if (!known) points.push_back(point);
    }
    bool once = points.size() == 1;
    for (Block block = points[0]; block != all; block = from_[from_[block].owner].parent)
      once = once && from_[from_[block].owner].op == Op::If;
    for (Block point : points) marks_[point].push_back(group);
    if (!once) flags_.push_back({group, {}});
    counted_.push_back(group);
  }

  /// The same branch of two `if`s, one after the other, with one condition.
  bool SameBranch(Block left, Block right) const {
    if (left == right) return true;
    const ir::InstData &a = from_[from_[left].owner], &b = from_[from_[right].owner];
    return a.op == Op::If && b.op == Op::If && a.parent == b.parent &&
           from_.Operand(from_[left].owner, 0) == from_.Operand(from_[right].owner, 0) &&
           (a.regions[0] == left) == (b.regions[0] == right);
  }

  Value GroupElement(uint32_t group) {
    return builder_->I64(static_cast<int64_t>(plan_.stacks.size() + plan_.promises.size() + group));
  }

  void AddOne(uint32_t group) {
    Value index = GroupElement(group), one = builder_->I64(1);
    builder_->Access(Op::AtomicAdd, sizes_, {&index, 1}, {&one, 1});
  }

  /// At the start of a block of the copy that stands for `block`.
  void Mark(Block block) {
    for (uint32_t group : marks_.Get(block)) {
      auto flag =
          std::find_if(flags_.begin(), flags_.end(), [&](const Flag& one) { return one.group == group; });
      if (flag == flags_.end()) {
        AddOne(group);
        continue;
      }
      SetFlag(*flag, 1);
    }
  }

  struct Flag {
    uint32_t group = 0;
    Value array;  ///< one i32: the iteration has passed
  };

  void SetFlag(const Flag& flag, int32_t value) {
    Value zero = builder_->I64(0), number = builder_->I32(value);
    builder_->Access(Op::Store, flag.array, {&zero, 1}, {&number, 1});
  }

  void BeginIteration() {
    for (Flag& flag : flags_) {
      flag.array = builder_->Alloca(Type::Array(ir::kI32, 1));
      SetFlag(flag, 0);
    }
  }

  void EndIteration() {
    for (const Flag& flag : flags_) {
      Value zero = builder_->I64(0);
      Value passed = builder_->Make(Op::Ne, {builder_->Load(flag.array, {&zero, 1}), builder_->I32(0)});
      builder_->Where(passed, [&] { AddOne(flag.group); });
    }
  }

  /// A lost value is never read: zero stands for it where an operand is needed.
  Value Mapped(Value value) {
    if (repeatable_.Lost(value)) return builder_->Zero(from_.TypeOf(value));
    bool is_result = from_[value].kind == ir::ValueKind::Result;
    if (is_result && !map_.Get(value).Valid()) {
      complete_ = false;
      return builder_->Zero(ir::kI32);
    }
    ir::Cloner cloner(from_, *builder_, map_);
    return cloner.Map(value);
  }

  bool IsCopied(Value stack) const {
    uint32_t number = of_stack_.Get(stack);
    return number != UINT32_MAX && (keeps_rows_ || plan_.stacks[number].storage != artifact::Storage::kRow);
  }

  void Copy(Inst inst) {
    if (!complete_) return;
    builder_->SetSpan(from_[inst].span);
    if (promises_.Marks(inst)) {
      promises_.Mark(*builder_, inst, sizes_, plan_.stacks.size(),
                     [&](Value value) { return Mapped(value); });
    }
    if (repeatable_.IsLeftOut(inst, [&](Value stack) { return IsCopied(stack); })) return;
    Op op = from_[inst].op;
    std::vector<std::pair<uint32_t, Inst>> counts = counted_at_loop_.Get(inst);
    if (op == Op::For) {
      for (const auto& [number, push] : counts) {
        Value trips = TripCount(*builder_, Mapped(from_.Operand(inst, 0)), Mapped(from_.Operand(inst, 1)),
                                Mapped(from_.Operand(inst, 2)));
        Count(number, trips);
      }
    }
    CountAtAccess(inst);
    Clone(inst);
    // The number of the stack travels on its stack.new, since simplification numbers values anew.
    if (op == Op::StackNew) {
      uint32_t number = of_stack_.Get(from_.Result(inst));
      (*made_)[made_->DefiningInst(map_[from_.Result(inst)])].attr = number;
    }
    if (op == Op::While) {
      for (const auto& [number, push] : counts) {
        uint32_t carried = from_[from_.Operand(push, 2)].number;
        Count(number, Unsigned(map_[from_.Result(inst, carried)]));
      }
    }
  }

  void Clone(Inst inst) {
    std::vector<Value> operands;
    for (Value operand : from_.Operands(inst)) operands.push_back(Mapped(operand));
    std::vector<Type> results;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n)
      results.push_back(from_.TypeOf(from_.Result(inst, n)));
    Function& into = *made_;
    Inst copy = builder_->Create(from_[inst].op, operands, results);
    const ir::InstData& source = from_[inst];
    ir::CopyAttributes(source, into[copy]);
    for (uint32_t n = 0; n < results.size(); ++n) map_[from_.Result(inst, n)] = into.Result(copy, n);
    Block outer = builder_->block();
    for (uint32_t region = 0; region < from_.RegionCount(inst); ++region) {
      Block source_region = from_[inst].regions[region];
      Block block = into.NewBlock(copy);
      into[copy].regions[region] = block;
      for (Value param : from_[source_region].params)
        map_[param] = into.AddParam(block, from_.TypeOf(param), from_[param].name);
      builder_->SetBlock(block);
      bool is_iteration = inst == work_.parallel;
      if (is_iteration) BeginIteration();
      Mark(source_region);
      Inst end = from_.Terminator(source_region);
      for (Inst inner : from_[source_region].insts) {
        if (is_iteration && inner == end) EndIteration();
        Copy(inner);
      }
      builder_->SetBlock(outer);
    }
  }

  /// Counting of stacks that no loop counts for.
  void CountAtAccess(Inst inst) {
    const ir::InstData& data = from_[inst];
    if (data.op == Op::StackNew) {
      if (needs_counter_.Has(from_.Result(inst)))
        counters_[from_.Result(inst)] = builder_->Alloca(Type::Array(kI64, 1));
      return;
    }
    if (data.op != Op::StackPush && data.op != Op::StackPop) return;
    Value stack = from_.Operand(inst, 0);
    Value counter = counters_.Get(stack);
    if (counter.Valid()) {
      Value zero = builder_->I64(0), one = builder_->I64(1);
      Value count = builder_->Load(counter, {&zero, 1});
      Value next = builder_->Make(data.op == Op::StackPush ? Op::Add : Op::Sub, {count, one});
      builder_->Access(Op::Store, counter, {&zero, 1}, {&next, 1});
      if (data.op == Op::StackPush) Count(of_stack_.Get(stack), next);
      return;
    }
    if (data.op != Op::StackPush || !counted_at_push_.Has(inst)) return;
    Value slot = WideIndex(*builder_, Mapped(from_.Operand(inst, 2)));
    Count(of_stack_.Get(stack), builder_->Make(Op::Add, {slot, builder_->I64(1)}));
  }

  /// The counter of a `while` as i64. One of 32 bits counts to 2^32 - 1 so, which is more than the loop may
  /// tape.
  Value Unsigned(Value counter) {
    if (made_->TypeOf(counter) != ir::kI32) return WideIndex(*builder_, counter);
    return builder_->Cast(builder_->Cast(counter, ir::kU32), kI64);
  }

  /// Raises sizes[number] to `count`.
  void Count(uint32_t number, Value count) {
    Value index = builder_->I64(number);
    builder_->Access(Op::AtomicMax, sizes_, {&index, 1}, {&count, 1});
  }

  ir::Module& module_;
  const analysis::Structure& structure_;
  const Function& from_;
  const artifact::SizeExprPool& exprs_;
  const TaskPlan& plan_;
  analysis::Task work_;
  bool keeps_rows_;  ///< stacks are counted: their own content may be needed for that
  Repeatable repeatable_;
  PromiseMarks promises_;
  std::unique_ptr<Function> made_;
  std::optional<ir::Builder> builder_;
  ir::ValueMap map_;
  Value sizes_;
  bool complete_ = true;  ///< nothing was missing so far
  SideTable<Value, uint32_t> of_stack_{0, UINT32_MAX};
  SideTable<Inst, std::vector<std::pair<uint32_t, Inst>>> counted_at_loop_;
  IndexSet<Inst> counted_at_push_;
  IndexSet<Value> needs_counter_;
  SideTable<Value, Value> counters_;
  SideTable<Block, std::vector<uint32_t>> marks_;  ///< groups that count where a block begins
  std::vector<Flag> flags_;                        ///< of groups that may be marked more than once
  std::vector<uint32_t> counted_, counted_stacks_;
};

/// Whether the promises of the task, if it has some, can be checked before a launch; else an error.
bool CanCheck(const Function& kernel, const TaskPlan& task, const SizeKernelConfig& config, Inst unknown,
              diag::Diagnostics& diagnostics) {
  if (task.promises.empty() || (config.count_elements && !unknown.Valid())) return true;
  diag::SourceSpan place = unknown.Valid() ? kernel[unknown].span : task.promises[0].place;
  const char* why =
      unknown.Valid()
          ? "whether and where this accesses memory is known when the kernel runs, and not before: "
            "a promise marked 'checked' is checked before each launch"
          : "a promise marked 'checked' is checked by counting, which --forbid-s2 excludes";
  diagnostics.Error(diag::E0505, place, why)
      .AddHelp(
          "mark the parameter 'disjoint', which is trusted; --check-writes checks it while the kernel runs");
  return false;
}

}  // namespace

bool WantsCounting(const artifact::SizeExprPool& exprs, const PlannedStack& stack) {
  return stack.storage != artifact::Storage::kPrivate &&
         (stack.capacity == kNoNode || stack.loose || exprs.HasLoops(stack.capacity));
}

std::vector<SizeKernel> AddSizeKernels(ir::Module& module, const Function& kernel, AdstackPlan& plan,
                                       const SizeKernelConfig& config, diag::Diagnostics& diagnostics) {
  std::vector<SizeKernel> made;
  analysis::Structure structure(kernel);
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  PlanConfig plan_config;
  plan_config.private_bytes = plan.private_bytes;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    TaskPlan& own = plan.tasks[task];
    bool rows = config.count_rows && std::any_of(own.groups.begin(), own.groups.end(),
                                                 [](const PlannedGroup& group) { return group.gated; });
    bool elements = CountsElements(plan.exprs, own) && (config.count_elements || IsOpen(own));
    own.promises = PromisesOf(kernel, tasks[task]);
    if (!elements && !rows && own.promises.empty()) continue;
    SizeKernelBuilder builder(module, structure, tasks[task], plan.exprs, own);
    if (!CanCheck(kernel, own, config, builder.Unchecked(), diagnostics)) continue;
    Function* function = builder.Run(task, rows);
    if (function == nullptr) continue;
    transform::SimplifyFunction(module, *function, {});
    SizeKernel size{function, adstack::PlanAdstacks(module, *function, plan_config, diagnostics)};
    bool runs_dry = false;
    for (TaskPlan& part : size.plan.tasks) {
      for (PlannedStack& stack : part.stacks) {
        bool counted = stack.addressing == artifact::Addressing::kCounted;
        runs_dry = runs_dry || (counted && stack.capacity == kNoNode);
        // The size kernel also counts for itself the stacks that it counts for the task, round by round.
        if (!counted && WantsCounting(size.plan.exprs, stack) &&
            std::ranges::count(builder.counted_stacks(), stack.id) > 0) {
          stack.capacity = kNoNode;
          stack.most = artifact::kNoIndex;
          stack.loose = false;
        }
      }
    }
    if (runs_dry) {
      // Dropping values of a stack without slots would leave its pops with wrong ones, and loops that depend
      // on them might never end.
      module.DropFunction(*function);
      continue;
    }
    own.size_kernel = module.Text(function->name);
    for (uint32_t group : builder.counted()) own.groups[group].counted = true;
    for (uint32_t stack : builder.counted_stacks()) own.stacks[stack].counted = true;
    made.push_back(std::move(size));
  }
  return made;
}

}  // namespace adc::counting
