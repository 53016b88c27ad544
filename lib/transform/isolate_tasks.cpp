// The positions in the body block give the task of each value. A prologue runs once per worker, so it cannot
// store: where one of its values must go through memory, everything up to that value is split off as a serial
// task of its own, and the values that the parallel needs of it cross in turn.

#include "transform/isolate_tasks.h"

#include <algorithm>

#include "analysis/memory.h"
#include "analysis/tasks.h"
#include "diag/errors/transform.h"
#include "ir/module.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using analysis::Task, analysis::TaskKind;
using ir::Function, ir::Inst, ir::InstData, ir::Op, ir::Type, ir::Value;

constexpr uint32_t kNoTask = UINT32_MAX;

class IsolateRewriter final : public Rewriter {
 public:
  IsolateRewriter(ir::Module& module, const Function& from, const IsolateTasksConfig& config,
                  diag::Diagnostics& diagnostics)
      : Rewriter(module, from),
        config_(config),
        diagnostics_(diagnostics),
        structure_(from),
        memory_(structure_),
        tasks_(analysis::TasksOf(from)) {
    for (Inst inst : structure_.Order()) {
      if (from[inst].op != Op::Store) continue;
      const ir::ValueData& base = from[from.Operand(inst, 0)];
      bool is_parameter = from.IsParameter(from.Operand(inst, 0));
      if (is_parameter && from.params[base.number].role == ir::ParamRole::Saved)
        saved_.Insert(from.AccessValues(inst)[0]);
    }
  }

  /// False when nothing crosses.
  bool Plan() {
    NumberTasks();
    FindCrossings();
    if (SplitPrologues()) {
      NumberTasks();
      FindCrossings();
    }
    for (const std::vector<Value>& values : crossing_) {
      if (!values.empty()) return true;
    }
    return false;
  }

  std::unique_ptr<Function> RunAll() {
    for (Value v : through_memory_) AddScratch(v);
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    size_t next = 0;
    for (uint32_t task = 0; task < tasks_.size(); ++task) {
      while (next < tasks_[task].first) Visit(body[next++]);
      Provide(task);
      while (next < tasks_[task].last) Visit(body[next++]);
    }
    // Code after the last task has no effect; only the terminator stays.
    if (Inst exit = from_.Terminator(from_.Body()); exit.Valid()) Visit(exit);
    MakeNamesUnique(module_, *into_);
    return std::move(into_);
  }

  bool failed() const { return failed_; }

 private:
  void NumberTasks() {
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    task_of_.assign(from_.InstCount(), kNoTask);
    for (uint32_t task = 0; task < tasks_.size(); ++task) {
      for (uint32_t n = tasks_[task].first; n < tasks_[task].last; ++n) task_of_[body[n].raw] = task;
    }
  }

  /// The task that makes `v`; kNoTask for what every task sees.
  uint32_t TaskOf(Value v) const {
    Inst inst = from_.DefiningInst(v);
    if (!inst.Valid() || from_[inst].parent != from_.Body()) return kNoTask;
    return task_of_[inst.raw];
  }

  void FindCrossings() {
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    crossing_.assign(tasks_.size(), {});
    through_memory_.clear();
    std::vector<uint32_t> last_reader(from_.ValueCount(), kNoTask);
    for (uint32_t task = 0; task < tasks_.size(); ++task) {
      for (uint32_t n = tasks_[task].first; n < tasks_[task].last; ++n) {
        for (Inst inst : structure_.Within(body[n])) {
          for (Value v : from_.Operands(inst)) {
            uint32_t maker = TaskOf(v);
            if (maker == kNoTask || maker == task || last_reader[v.raw] == task) continue;
            last_reader[v.raw] = task;
            crossing_[task].push_back(v);
          }
        }
      }
      // Crossing values that are repeated may rest on others that go through memory.
      IndexSet<Value> visited;
      for (Value v : crossing_[task]) NeedThroughMemory(v, task, visited);
    }
    std::sort(through_memory_.begin(), through_memory_.end());
    through_memory_.erase(std::unique(through_memory_.begin(), through_memory_.end()), through_memory_.end());
  }

  void NeedThroughMemory(Value v, uint32_t task, IndexSet<Value>& visited) {
    uint32_t maker = TaskOf(v);
    if (maker == kNoTask || maker == task || !visited.Insert(v)) return;
    if (from_.TypeOf(v).IsArray() || from_.TypeOf(v).IsStack()) return;
    if (!IsRepeated(v, task)) {
      through_memory_.push_back(v);
      return;
    }
    for (Value operand : from_.Operands(from_.DefiningInst(v))) NeedThroughMemory(operand, task, visited);
  }

  /// True when `v` is computed again in `task` instead of being stored and loaded.
  bool IsRepeated(Value v, uint32_t task) {
    uint32_t cost = 0;
    IndexSet<Value> counted;
    if (CountRepeat(v, task, cost, counted)) return true;
    // A value that no register of the target can hold is put together again from its parts.
    Op op = from_[from_.DefiningInst(v)].op;
    return op == Op::VecMake || op == Op::MatMake;
  }

  bool CountRepeat(Value v, uint32_t task, uint32_t& cost, IndexSet<Value>& counted) {
    if (TaskOf(v) == kNoTask || TaskOf(v) == task || !counted.Insert(v)) return true;
    Inst inst = from_.DefiningInst(v);
    const InstData& data = from_[inst];
    if (!analysis::IsPureOrRead(data.op) || ++cost > config_.repeat_limit) return false;
    if (data.op == Op::Load) {
      // A value that is saved for the gradient is saved where it was read first.
      if (analysis::IsLocalAccess(from_, inst) || saved_.Has(v)) return false;
      // The reading task runs later, so its own writes count for a parallel one too.
      const std::vector<Inst>& body = from_[from_.Body()].insts;
      const Task& reader = tasks_[task];
      bool parallel = reader.kind == TaskKind::Parallel;
      uint32_t end =
          parallel ? structure_.End(body[reader.last - 1]) : structure_.Position(body[reader.first]);
      if (memory_.IsWrittenBetween(memory_.ClassOf(inst), structure_.Position(inst), end)) return false;
    }
    for (Value operand : from_.Operands(inst)) {
      if (!CountRepeat(operand, task, cost, counted)) return false;
    }
    return true;
  }

  /// True when a prologue made a value that must be stored, and was split.
  bool SplitPrologues() {
    std::vector<Task> split;
    bool any = false;
    for (const Task& task : tasks_) {
      Task rest = task;
      if (task.kind == TaskKind::Parallel) {
        for (uint32_t n = task.last - 1; n-- > task.first;) {
          Inst inst = from_[from_.Body()].insts[n];
          if (from_[inst].result_count != 1) continue;
          if (!std::binary_search(through_memory_.begin(), through_memory_.end(), from_.Result(inst)))
            continue;
          split.push_back({TaskKind::Serial, task.first, n + 1, {}});
          rest.first = n + 1;
          any = true;
          break;
        }
      }
      split.push_back(rest);
    }
    tasks_ = std::move(split);
    return any;
  }

  void AddScratch(Value v) {
    ir::ParamInfo info;
    info.role = ir::ParamRole::Scratch;
    info.span = from_[from_.DefiningInst(v)].span;
    StringId name = from_[v].name;
    std::string text = name.Valid() ? std::string(module_.Text(name)) : "task" + std::to_string(TaskOf(v));
    Type type = from_.TypeOf(v);
    std::vector<Value>& buffers = scratch_[v];
    buffers.push_back(into_->AddParameter(Type::Buffer(type, 0), module_.Intern(text + ".scratch"), info));
  }

  void Visit(Inst inst) override {
    Copy(inst);
    if (from_[inst].parent != from_.Body()) return;
    for (uint32_t n = 0; n < from_[inst].result_count; ++n) {
      Value result = from_.Result(inst, n);
      for (Value buffer : scratch_.Get(result)) StoreScratch(result, buffer);
    }
  }

  void StoreScratch(Value v, Value buffer) {
    Type type = from_.TypeOf(v);
    Value whole = Map(v);
    if (type.IsScalar()) {
      builder_.Access(Op::Store, buffer, {}, {&whole, 1});
      return;
    }
    for (uint32_t k = 0; k < type.Components(); ++k) {
      Value part = Component(whole, k);
      builder_.Access(Op::Store, buffer, {}, {&part, 1}, ir::kNoAttr, k);
    }
  }

  /// Gives `task`, at its start, its own copies of the values that cross into it.
  void Provide(uint32_t task) {
    IndexSet<Value> provided;
    for (Value v : crossing_[task]) ProvideValue(v, task, provided);
  }

  void ProvideValue(Value v, uint32_t task, IndexSet<Value>& provided) {
    uint32_t maker = TaskOf(v);
    if (maker == kNoTask || maker == task || !provided.Insert(v)) return;
    Inst inst = from_.DefiningInst(v);
    builder_.SetSpan(from_[inst].span);
    Type type = from_.TypeOf(v);
    if (type.IsArray() || type.IsStack()) return ProvideArray(v, task);
    if (!scratch_.Get(v).empty() && !IsRepeated(v, task)) {
      Value buffer = scratch_.Get(v)[0];
      Value whole;
      if (type.IsScalar()) {
        whole = builder_.Load(buffer, {});
      } else {
        std::vector<Value> parts;
        for (uint32_t k = 0; k < type.Components(); ++k)
          parts.push_back(builder_.Load(buffer, {}, ir::kNoAttr, k));
        whole = Whole(type, parts);
      }
      return MapNamed(v, whole);
    }
    for (Value operand : from_.Operands(inst)) ProvideValue(operand, task, provided);
    Copy(inst);
  }

  /// An array that one serial task alone uses is made there; any other cannot be.
  void ProvideArray(Value v, uint32_t task) {
    bool movable = tasks_[task].kind == TaskKind::Serial;
    const std::vector<Inst>& body = from_[from_.Body()].insts;
    for (uint32_t other = 0; movable && other < tasks_.size(); ++other) {
      if (other == task) continue;
      movable = std::find(crossing_[other].begin(), crossing_[other].end(), v) == crossing_[other].end();
    }
    const Task& maker = tasks_[TaskOf(v)];
    for (uint32_t n = maker.first; movable && n < maker.last; ++n) {
      for (Inst inst : structure_.Within(body[n])) {
        for (Value operand : from_.Operands(inst)) movable = movable && operand != v;
      }
    }
    if (!movable && !reported_.Has(v)) {
      failed_ = true;
      reported_.Insert(v);
      Inst array = from_.DefiningInst(v);
      diag::Diagnostic& error =
          diagnostics_.Error(diag::E0305, from_[array].span, "a local array is used by more than one task");
      Inst first = body[tasks_[task].last - 1];
      error.AddNote(from_[first].span, "the task that this belongs to would have to see it");
      error.AddHelp("keep the values in a buffer parameter, or make the array inside the parallel loop");
    }
    Copy(from_.DefiningInst(v));
  }

  const IsolateTasksConfig& config_;
  diag::Diagnostics& diagnostics_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;
  std::vector<Task> tasks_;
  std::vector<uint32_t> task_of_;
  std::vector<std::vector<Value>> crossing_;  ///< per task, in order of first use
  std::vector<Value> through_memory_;         ///< ascending
  SideTable<Value, std::vector<Value>> scratch_;
  IndexSet<Value> reported_;
  IndexSet<Value> saved_;  ///< the values that are stored to parameters of saved values
  bool failed_ = false;
};

}  // namespace

bool IsolateTasks(ir::Module& module, const IsolateTasksConfig& config, diag::Diagnostics& diagnostics) {
  bool failed = false;
  for (size_t n = 0; n < module.functions.size(); ++n) {
    if (!module.functions[n]->IsKernel()) continue;
    IsolateRewriter rewriter(module, *module.functions[n], config, diagnostics);
    if (!rewriter.Plan()) continue;
    std::unique_ptr<Function> isolated = rewriter.RunAll();
    failed = failed || rewriter.failed();
    *module.functions[n] = std::move(*isolated);
  }
  return !failed;
}

}  // namespace adc::transform
