#include "counting/recorded_loops.h"

#include <algorithm>

#include "analysis/walk.h"
#include "ir/module.h"

// A loop is *fixed* where its bounds are arithmetic on constants and on the numbers of the iterations around
// it (`for %k in 0..%j`): its bounds change only with those of the loops around it, which are recorded, or
// not at all.

namespace adc::counting {

using adstack::AdstackPlan;
using analysis::ForEachInst;
using ir::Block, ir::Inst, ir::Op, ir::Value;

namespace {

bool IsRecordable(Op op) {
  return analysis::IsSerialLoop(op) || op == Op::Parallel;
}

}  // namespace

RecordedLoops::RecordedLoops(const ir::Module& module, const analysis::Structure& structure,
                             const AdstackPlan& plan, bool keeps_rows, const IndexSet<Value>& absent)
    : structure_(structure), from_(structure.function()), absent_(absent), tasks_(analysis::TasksOf(from_)) {
  for (uint32_t task = 0; task < tasks_.size(); ++task)
    repeatable_.emplace_back(structure, tasks_[task], plan.tasks[task], keeps_rows, absent);
  if (const ir::Function* primal = module.Find(from_.derived_from)) {
    ForEachInst(*primal, [&](Inst inst) {
      if (IsRecordable((*primal)[inst].op)) in_primal_.emplace_back((*primal)[inst].span, (*primal)[inst].op);
    });
  }
  for (const ir::ParamInfo& info : from_.params)
    in_segments_ = in_segments_ || info.role == ir::ParamRole::Segment;
  // Segments of a fixed length take no parameter, and no attribute outlives differentiation: a loop that
  // became two stands in a loop of its own place.
  ForEachInst(from_, [&](Inst inst) {
    if (!IsRecordable(from_[inst].op)) return;
    for (Inst around : structure.Enclosing(inst))
      in_segments_ =
          in_segments_ || (from_[around].span == from_[inst].span && IsRecordable(from_[around].op));
  });
  const std::vector<Inst>& body = from_[from_.Body()].insts;
  for (uint32_t task = 0; task < tasks_.size(); ++task) {
    uint32_t end = structure.End(body[tasks_[task].last - 1]);
    for (uint32_t at = structure.Position(body[tasks_[task].first]); at < end; ++at)
      Visit(structure.Order()[at], task);
  }
  for (const Copies& copies : copies_) {
    bool enough = copies.one_is_known && (copies.one_is_enough || !copies.one_is_lost);
    if (!enough) missed_.push_back(copies.place);
  }
}

RecordedLoops::Copies& RecordedLoops::CopiesOf(Inst loop) {
  // The adjoint sweep of a `while` is a `for` of as many iterations.
  bool is_parallel = from_[loop].op == Op::Parallel;
  for (Copies& copies : copies_) {
    if (copies.place == from_[loop].span && (copies.op == Op::Parallel) == is_parallel) return copies;
  }
  auto times = std::count_if(in_primal_.begin(), in_primal_.end(), [&](const auto& other) {
    return other.first == from_[loop].span && (other.second == Op::Parallel) == is_parallel;
  });
  return copies_.emplace_back(from_[loop].op, from_[loop].span, times == 1 && !in_segments_);
}

void RecordedLoops::Visit(Inst inst, uint32_t task) {
  if (!IsRecordable(from_[inst].op) || IsFixed(inst)) return;
  Copies& copies = CopiesOf(inst);
  RecordedAt at = RecordedAt::Launch;
  if (!Knows(inst, task, &at)) {
    copies.one_is_lost = true;
    return;
  }
  if (!copies.one_is_known || !copies.one_is_enough) chosen_.push_back({inst, task, at});
  copies.one_is_known = true;
}

std::span<const Value> RecordedLoops::Bounds(Inst loop) const {
  std::span<const Value> operands = from_.Operands(loop);
  return from_[loop].op == Op::For ? operands.first(2) : operands;
}

bool RecordedLoops::Knows(Inst loop, uint32_t task, RecordedAt* at) const {
  std::vector<Inst> around = structure_.Enclosing(loop);
  // Where nothing but loops stands around it, their own trips are recorded.
  bool is_gated = std::ranges::any_of(around, [&](Inst one) { return from_[one].op == Op::If; });
  *at = is_gated ? RecordedAt::Visit : RecordedAt::Launch;
  bool is_while = from_[loop].op == Op::While;
  bool of_launch = !is_while;
  for (Value bound : is_while ? std::span<const Value>() : Bounds(loop))
    of_launch = of_launch && IsOfLaunch(bound, task);
  if (*at == RecordedAt::Launch && of_launch) return true;
  if (from_[loop].op == Op::Parallel) return false;
  if (*at == RecordedAt::Launch) *at = RecordedAt::Visit;
  if (repeatable_[task].LostControl(loop)) return false;
  // The iterations of its task are run again, so these must be known.
  Inst parallel = tasks_[task].parallel;
  if (parallel.Valid() && from_[parallel].op == Op::Parallel) {
    for (Value bound : Bounds(parallel)) {
      if (repeatable_[task].Lost(bound) || !IsOfLaunch(bound, task)) return false;
    }
  }
  bool in_loop = std::ranges::any_of(around, [&](Inst one) { return analysis::IsSerialLoop(from_[one].op); });
  if (!in_loop) *at = RecordedAt::Iteration;
  return true;
}

bool RecordedLoops::IsFixed(Inst loop) {
  if (from_[loop].op == Op::While) return false;
  for (Value bound : Bounds(loop)) {
    if (!IsFixed(bound)) return false;
  }
  return true;
}

bool RecordedLoops::IsFixed(Value value) {
  if (examined_.Insert(value) && FindFixed(value)) fixed_.Insert(value);
  return fixed_.Has(value);
}

bool RecordedLoops::FindFixed(Value value) {
  const ir::ValueData& data = from_[value];
  switch (data.kind) {
    case ir::ValueKind::Constant:
    case ir::ValueKind::Global:
      return true;
    case ir::ValueKind::BlockParam: {
      Inst owner = from_[Block(data.owner)].owner;
      if (!owner.Valid()) return false;
      if (analysis::IsParallel(from_[owner].op)) return true;
      return from_[owner].op == Op::For && data.number == 0 && IsFixed(from_.Operand(owner, 0));
    }
    case ir::ValueKind::Result: {
      Inst made_by = from_.DefiningInst(value);
      if (ir::InfoOf(from_[made_by].op).effect != ir::Effect::Pure || from_[made_by].op == Op::Shape)
        return false;
      for (Value operand : from_.Operands(made_by)) {
        if (!IsFixed(operand)) return false;
      }
      return true;
    }
  }
  return false;
}

/// Arithmetic and loads before the first iteration, of what a launch is given.
bool RecordedLoops::IsOfLaunch(Value value, uint32_t task) const {
  if (repeatable_[task].Lost(value)) return false;
  const ir::ValueData& data = from_[value];
  if (data.kind == ir::ValueKind::BlockParam) return Block(data.owner) == from_.Body() && !absent_.Has(value);
  if (data.kind != ir::ValueKind::Result) return true;
  Inst made_by = from_.DefiningInst(value);
  const ir::InstData& inst = from_[made_by];
  if (inst.parent != from_.Body() || !analysis::IsPureOrRead(inst.op)) return false;
  if (inst.op == Op::Load && analysis::IsLocalAccess(from_, made_by)) return false;
  for (Value operand : from_.Operands(made_by)) {
    bool is_memory = !from_.TypeOf(operand).IsRegister();
    if (!is_memory && !IsOfLaunch(operand, task)) return false;
  }
  return true;
}

}  // namespace adc::counting
