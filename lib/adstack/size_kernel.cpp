#include "adstack/size_kernel.h"

#include <algorithm>
#include <optional>

#include "adstack/trip_count.h"
#include "analysis/memory.h"
#include "analysis/tasks.h"
#include "ir/clone.h"
#include "transform/simplify.h"

// A size kernel is a copy of one task in which nothing can be seen from outside but what it counts: stores,
// atomics and sums into parameters are left out, assertions and prints too. Counting is put where it is
// cheapest: the trip count of a `for` at its head, the counter of a `while` behind it, anything else at the
// push. Simplification then finds that most of the copy has no effect left.
//
//   %count = while carry(%k = 0, %v = %v0) {        the loop stays, for its condition; its pushes go:
//     continue_if (gt %v, 1.0)                      nothing pops them any more
//   } do { stack.push %s, %v at %k  ... }
//   %known = load %sizes[0]
//   if (gt %count, %known) { atomic max %sizes[0], %count }

namespace adc::adstack {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::kI64;
using ir::Op;
using ir::Type;
using ir::Value;

class SizeKernelBuilder {
 public:
  SizeKernelBuilder(ir::Module& module, const Function& from, const TaskPlan& plan, uint32_t task)
      : module_(module), from_(from), plan_(plan), task_(task) {}

  /// Null where the counts depend on what cannot be repeated without its effect.
  Function* Run() {
    std::string name = std::string(module_.Text(from_.name)) + ".size" + std::to_string(task_);
    made_ = CloneSignature(from_, module_.Intern(name), map_);
    made_->role = ir::KernelRole::Size;
    made_->derived_from = from_.name;
    sizes_ = made_->AddParameter(Type::Buffer(kI64, 1), module_.Intern(FreshName()), {});
    for (uint32_t number = 0; number < plan_.stacks.size(); ++number) Enter(number);

    builder_.emplace(module_, *made_, made_->Body());
    analysis::Task task = analysis::TasksOf(from_)[task_];
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    for (uint32_t place = task.first; place < task.last; ++place) Copy(body[place]);
    if (!repeatable_) return nullptr;
    builder_->SetBlock(made_->Body());
    builder_->Terminate(Op::Return, {});
    StringId made_name = made_->name;
    module_.AddFunction(made_->kind, made_name);
    module_.Replace(std::move(made_));
    return module_.Find(made_name);
  }

 private:
  std::string FreshName() const {
    std::string name = "sizes";
    auto taken = [&] {
      return std::any_of(from_.Params().begin(), from_.Params().end(),
                         [&](Value param) { return module_.Text(from_[param].name) == name; });
    };
    while (taken()) name += ".n";
    return name;
  }

  void Enter(uint32_t number) {
    const PlannedStack& stack = plan_.stacks[number];
    of_stack_[stack.stack] = number;
    if (stack.capacity != kNoNode) return;
    for (const PlannedAccess& access : stack.accesses) {
      if (from_[access.inst].op != Op::StackPush) continue;
      if (!access.guard.Valid()) {
        counted_at_push_.Insert(access.inst);
        continue;
      }
      counted_at_loop_[access.guard].push_back({number, access.inst});
    }
    if (stack.addressing == artifact::Addressing::kCounted) needs_counter_.Insert(stack.stack);
  }

  bool IsParameter(Value base) const {
    const ir::ValueData& data = from_[base];
    return data.kind == ir::ValueKind::BlockParam && Block(data.owner) == from_.Body();
  }

  Value Mapped(Value value) {
    ir::Cloner cloner(from_, *builder_, map_);
    return cloner.Map(value);
  }

  void Copy(Inst inst) {
    const ir::InstData& data = from_[inst];
    Op op = data.op;
    builder_->SetSpan(data.span);
    if (op == Op::Assert || op == Op::Print) return;
    if (analysis::WritesMemory(op) && IsParameter(from_.Operand(inst, 0))) {
      // The result of an atomic is what other iterations left there: counting twice would not repeat it. Left
      // undefined here, it makes any use give up.
      return;
    }
    for (Value operand : from_.Operands(inst)) {
      bool is_result = from_[operand].kind == ir::ValueKind::Result;
      if (is_result && !map_.Get(operand).Valid()) {
        repeatable_ = false;
        return;
      }
    }
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
        Count(number, WideIndex(*builder_, map_[from_.Result(inst, carried)]));
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
    ir::InstData& target = into[copy];
    target.flags = source.flags;
    target.index_count = source.index_count;
    target.attr = source.attr;
    target.component = source.component;
    target.symbol = source.symbol;
    for (uint32_t n = 0; n < results.size(); ++n) map_[from_.Result(inst, n)] = into.Result(copy, n);
    Block outer = builder_->block();
    for (uint32_t region = 0; region < from_.RegionCount(inst); ++region) {
      Block source_region = from_[inst].regions[region];
      Block block = into.NewBlock(copy);
      into[copy].regions[region] = block;
      for (Value param : from_[source_region].params)
        map_[param] = into.AddParam(block, from_.TypeOf(param), from_[param].name);
      builder_->SetBlock(block);
      for (Inst inner : from_[source_region].insts) {
        if (!repeatable_) break;
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

  /// Raises sizes[number] to `count`. Most iterations only read: they find it high enough.
  void Count(uint32_t number, Value count) {
    Value index = builder_->I64(number);
    Value known = builder_->Load(sizes_, {&index, 1});
    Value more = builder_->Make(Op::Gt, {count, known});
    Block outer = builder_->block();
    Inst branch = builder_->If(more, {});
    builder_->SetBlock((*made_)[branch].regions[1]);
    builder_->Yield({});
    builder_->SetBlock((*made_)[branch].regions[0]);
    builder_->Access(Op::AtomicMax, sizes_, {&index, 1}, {&count, 1});
    builder_->Yield({});
    builder_->SetBlock(outer);
  }

  ir::Module& module_;
  const Function& from_;
  const TaskPlan& plan_;
  uint32_t task_;
  std::unique_ptr<Function> made_;
  std::optional<ir::Builder> builder_;
  ir::ValueMap map_;
  Value sizes_;
  bool repeatable_ = true;
  SideTable<Value, uint32_t> of_stack_{0, UINT32_MAX};
  SideTable<Inst, std::vector<std::pair<uint32_t, Inst>>> counted_at_loop_;
  IndexSet<Inst> counted_at_push_;
  IndexSet<Value> needs_counter_;
  SideTable<Value, Value> counters_;
};

}  // namespace

bool NeedsSizeKernel(const TaskPlan& task) {
  return std::any_of(task.stacks.begin(), task.stacks.end(),
                     [](const PlannedStack& stack) { return stack.capacity == kNoNode; });
}

std::vector<SizeKernel> AddSizeKernels(ir::Module& module, const Function& kernel, AdstackPlan& plan,
                                       diag::Diagnostics& diagnostics) {
  std::vector<SizeKernel> made;
  for (uint32_t task = 0; task < plan.tasks.size(); ++task) {
    if (!NeedsSizeKernel(plan.tasks[task])) continue;
    Function* function = SizeKernelBuilder(module, kernel, plan.tasks[task], task).Run();
    if (function == nullptr) continue;
    transform::SimplifyFunction(module, *function, {});
    SizeKernel size{function, PlanAdstacks(module, *function, {}, diagnostics)};
    bool runs_dry = false;
    for (const TaskPlan& own : size.plan.tasks) {
      for (const PlannedStack& stack : own.stacks) {
        bool counted = stack.addressing == artifact::Addressing::kCounted;
        runs_dry = runs_dry || (counted && stack.capacity == kNoNode);
      }
    }
    if (runs_dry) {
      // Dropping values of a stack without slots would leave its pops with wrong ones, and loops that depend
      // on them might never end.
      std::vector<unsigned char> keep(module.functions.size(), 1);
      keep.back() = 0;
      module.KeepFunctions(keep);
      continue;
    }
    plan.tasks[task].size_kernel = module.Text(function->name);
    made.push_back(std::move(size));
  }
  return made;
}

}  // namespace adc::adstack
