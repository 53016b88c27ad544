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
    : from_(structure.function()), absent_(absent), tasks_(analysis::TasksOf(from_)) {
  for (uint32_t task = 0; task < tasks_.size(); ++task)
    repeatable_.emplace_back(structure, tasks_[task], plan.tasks[task], keeps_rows, absent);
  if (const ir::Function* primal = module.Find(from_.derived_from)) CountInPrimal(*primal);
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
    for (uint32_t place = tasks_[task].first; place < tasks_[task].last; ++place) Visit(body[place], task);
  }
  for (const Copies& copies : copies_) {
    bool enough = copies.one_is_known && (copies.one_is_enough || !copies.one_is_lost);
    if (!enough) missed_.push_back(copies.place);
  }
}

void RecordedLoops::CountInPrimal(const ir::Function& primal) {
  ForEachInst(primal, [&](Inst inst) {
    if (IsRecordable(primal[inst].op)) in_primal_.emplace_back(primal[inst].span, primal[inst].op);
  });
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
  if (IsRecordable(from_[inst].op) && !IsFixed(inst)) {
    Copies& copies = CopiesOf(inst);
    RecordedAt at = RecordedAt::Launch;
    if (!Knows(inst, task, &at)) {
      copies.one_is_lost = true;
    } else {
      if (!copies.one_is_known || !copies.one_is_enough) chosen_.push_back({inst, task, at});
      copies.one_is_known = true;
    }
  }
  for (uint32_t region = 0; region < from_.RegionCount(inst); ++region) {
    for (Inst inner : from_[from_[inst].regions[region]].insts) Visit(inner, task);
  }
}

std::span<const Value> RecordedLoops::Bounds(Inst loop) const {
  std::span<const Value> operands = from_.Operands(loop);
  return from_[loop].op == Op::For ? operands.first(2) : operands;
}

bool RecordedLoops::Knows(Inst loop, uint32_t task, RecordedAt* at) const {
  *at = WhereReached(loop);
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
  bool straight = true;
  for (Block block = from_[loop].parent; from_[block].owner.Valid();
       block = from_[from_[block].owner].parent) {
    Op around = from_[from_[block].owner].op;
    straight = straight && around != Op::For && around != Op::While;
  }
  if (straight) *at = RecordedAt::Iteration;
  return true;
}

/// Launch where nothing but loops stands around it, whose own trips are recorded.
RecordedAt RecordedLoops::WhereReached(Inst loop) const {
  for (Block block = from_[loop].parent; from_[block].owner.Valid();
       block = from_[from_[block].owner].parent) {
    if (from_[from_[block].owner].op == Op::If) return RecordedAt::Visit;
  }
  return RecordedAt::Launch;
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
