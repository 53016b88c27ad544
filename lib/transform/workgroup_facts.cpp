#include "transform/workgroup_facts.h"

#include <algorithm>

#include "analysis/loops.h"
#include "diag/errors/transform.h"

namespace adc::transform {

using ir::Block, ir::Function, ir::Inst, ir::InstData, ir::Op, ir::OpClass, ir::Value;

WorkgroupFacts::WorkgroupFacts(const Function& function, Inst loop, diag::Diagnostics& diagnostics)
    : function_(function), diagnostics_(diagnostics), structure_(function), memory_(structure_), loop_(loop) {
  Block body = function[loop].regions[0];
  invocation_ = function[body].params.back();
  size_ = static_cast<uint32_t>(*function.IntegerConstant(function.Operands(loop).back()));
  FindBarriers();
  writes_.emplace_back();
  NumberBlock(body);
  varying_.Insert(invocation_);
  while (Spread(body, false)) {
  }
  Check(body, true);
  FindCrossing();
}

void WorkgroupFacts::FindBarriers() {
  for (Inst inst : structure_.Order()) {
    if (function_[inst].op != Op::Barrier) continue;
    for (Inst around : structure_.Enclosing(inst)) with_barrier_.Insert(around);
  }
}

// ---- Pieces

void WorkgroupFacts::NumberInside(Inst inst) {
  auto piece = static_cast<uint32_t>(writes_.size() - 1);
  for (Inst inner : structure_.Within(inst)) {
    piece_of_[inner] = piece;
    if (analysis::WritesMemory(function_[inner].op)) writes_[piece].insert(memory_.ClassOf(inner));
  }
}

void WorkgroupFacts::NumberBlock(Block block) {
  for (Inst inst : function_[block].insts) {
    if (function_[inst].op == Op::Barrier) {
      writes_.emplace_back();
    } else if (!HasBarrier(inst)) {
      NumberInside(inst);
    } else {
      piece_of_[inst] = static_cast<uint32_t>(writes_.size() - 1);
      for (uint32_t r = 0; r < function_.RegionCount(inst); ++r) {
        // The reads of a loop's condition belong to the piece in which the body begins.
        bool after_test = r == 1 && function_[inst].op == Op::While;
        if (!after_test) writes_.emplace_back();
        NumberBlock(function_[inst].regions[r]);
      }
      writes_.emplace_back();
    }
  }
}

// ---- Values that vary

bool WorkgroupFacts::AnyVaries(std::span<const Value> values) const {
  return std::any_of(values.begin(), values.end(), [&](Value v) { return Varies(v); });
}

/// Without regions: from equal operands every invocation has one result, and nothing else happens.
bool WorkgroupFacts::IsAlike(Inst inst) const {
  const InstData& data = function_[inst];
  if (data.op == Op::Alloca) return data.Has(ir::Word::Shared);
  if (data.op != Op::Load) return ir::InfoOf(data.op).effect == ir::Effect::Pure;
  Value base = function_.Operand(inst, 0);
  Inst made = function_.DefiningInst(base);
  bool is_own = made.Valid() && function_[made].op == Op::Alloca && !function_[made].Has(ir::Word::Shared);
  if (is_own || guarded_.Has(inst)) return false;
  return writes_[piece_of_.Get(inst)].count(memory_.ClassOf(inst)) == 0;
}

bool WorkgroupFacts::RunsOnce(Inst inst) const {
  if (HasBarrier(inst) || AnyVaries(function_.Operands(inst))) return false;
  if (!ir::HasRegions(function_[inst].op)) return IsAlike(inst);
  for (Inst inner : structure_.Within(inst).subspan(1)) {
    bool plain =
        ir::IsTerminator(function_[inner].op) || ir::HasRegions(function_[inner].op) || IsAlike(inner);
    if (!plain || AnyVaries(function_.Operands(inner))) return false;
  }
  return true;
}

bool WorkgroupFacts::IsComputedBefore(Value v, Inst control) const {
  if (Varies(v)) return false;
  Inst made = function_.DefiningInst(v);
  if (made != control && structure_.DefinedOutside(v, control)) return true;
  if (!made.Valid()) return false;
  const InstData& data = function_[made];
  std::vector<Value> needed(function_.Operands(made).begin(), function_.Operands(made).end());
  if (data.op == Op::If && !HasBarrier(made)) {
    uint32_t n = v.raw - function_.Result(made).raw;
    for (Block region : data.regions) needed.push_back(function_.Operand(function_.Terminator(region), n));
  } else if (!ir::IsScalarOperation(data.op)) {
    return false;
  }
  return std::all_of(needed.begin(), needed.end(),
                     [&](Value other) { return IsComputedBefore(other, control); });
}

/// Whether invocations may take different branches, or leave a loop at different times.
bool WorkgroupFacts::DecisionVaries(Inst control) const {
  const InstData& data = function_[control];
  std::span<const Value> operands = function_.Operands(control);
  bool varies = AnyVaries(operands.first(data.op == Op::If ? 1 : operands.size() - data.result_count));
  return varies || (data.op == Op::While && Varies(analysis::ConditionOf(function_, control)));
}

bool WorkgroupFacts::SpreadCarried(Inst loop, bool all) {
  const InstData& data = function_[loop];
  bool changed = data.op == Op::For && all && MakeVarying(function_[data.regions[0]].params[0]);
  for (uint32_t n = 0; n < data.result_count; ++n) {
    bool varies = all || Varies(analysis::CarriedInit(function_, loop, n)) ||
                  Varies(analysis::CarriedYield(function_, loop, n));
    if (!varies) continue;
    changed = MakeVarying(analysis::CarriedParam(function_, loop, n)) || changed;
    changed = MakeVarying(function_.Result(loop, n)) || changed;
  }
  return changed;
}

bool WorkgroupFacts::SpreadControl(Inst inst, bool is_guarded) {
  const InstData& data = function_[inst];
  bool varies = DecisionVaries(inst), changed = false;
  for (uint32_t r = 0; r < function_.RegionCount(inst); ++r)
    changed = Spread(data.regions[r], is_guarded || varies) || changed;
  bool all = varies || (!HasBarrier(inst) && !RunsOnce(inst));
  if (data.op != Op::If) return SpreadCarried(inst, all) || changed;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    bool differs = all && !IsComputedBefore(function_.Result(inst, n), inst);
    for (Block region : data.regions)
      differs = differs || Varies(function_.Operand(function_.Terminator(region), n));
    changed = (differs && MakeVarying(function_.Result(inst, n))) || changed;
  }
  return changed;
}

bool WorkgroupFacts::Spread(Block block, bool is_guarded) {
  bool changed = false;
  for (Inst inst : function_[block].insts) {
    if (ir::HasRegions(function_[inst].op)) {
      changed = SpreadControl(inst, is_guarded) || changed;
      continue;
    }
    if (is_guarded && function_[inst].op == Op::Load) changed = guarded_.Insert(inst) || changed;
    if (RunsOnce(inst)) continue;
    for (uint32_t n = 0; n < function_[inst].result_count; ++n)
      changed = MakeVarying(function_.Result(inst, n)) || changed;
  }
  return changed;
}

// ---- Barriers

void WorkgroupFacts::Error(Inst around, const char* text, const char* help) {
  good_ = false;
  Inst barrier = *std::ranges::find_if(structure_.Within(around),
                                       [&](Inst inst) { return function_[inst].op == Op::Barrier; });
  diagnostics_.Error(diag::E0306, function_[barrier].span, text)
      .AddNote(function_[around].span, "it stands in this")
      .AddHelp(help);
}

/// A loop's condition is evaluated for the workgroup: instructions in it that vary are left to the body.
void WorkgroupFacts::CheckTest(Inst loop) {
  for (Inst inst : function_[function_[loop].regions[0]].insts) {
    if (function_[inst].op == Op::Barrier || HasBarrier(inst))
      return Error(loop, "a barrier stands in the condition of a loop", "move it into the body");
    bool acts = !ir::IsTerminator(function_[inst].op) && !RunsOnce(inst) &&
                !analysis::IsPureOrRead(function_[inst].op);
    if (acts)
      return Error(loop,
                   "the condition of a loop with a barrier writes memory, or branches by the invocation",
                   "compute the condition at the end of the body");
  }
}

void WorkgroupFacts::Check(Block block, bool is_tail) {
  const std::vector<Inst>& insts = function_[block].insts;
  for (size_t n = 0; n < insts.size() && good_; ++n) {
    Inst inst = insts[n];
    if (!HasBarrier(inst)) continue;
    const InstData& data = function_[inst];
    bool is_last = is_tail && n + 2 == insts.size();
    if (data.op == Op::While) CheckTest(inst);
    if (good_ && DecisionVaries(inst) && data.op != Op::If)
      Error(
          inst,
          "invocations may run this loop a different number of times, and wait at its barrier for each other",
          "let the number of iterations depend on the workgroup alone, and branch inside");
    // An invocation that has ended is not waited for: the rest of the body stands in a branch.
    if (good_ && DecisionVaries(inst) && !is_last)
      Error(inst, "invocations may take different branches, and wait at a barrier in one of them",
            "move the barrier behind the branch");
    for (uint32_t r = 0; r < function_.RegionCount(inst); ++r)
      Check(data.regions[r], is_last && data.op == Op::If);
  }
}

// ---- Values that cross

bool WorkgroupFacts::IsRecomputed(Value v) const {
  if (!Varies(v) || v == invocation_) return false;
  if (auto known = recomputed_.find(v.raw); known != recomputed_.end()) return known->second;
  Inst made = function_.DefiningInst(v);
  bool good = made.Valid() && !function_.TypeOf(v).IsFloat() && function_[made].result_count == 1;
  OpClass kind = good ? ir::ClassOf(function_[made].op) : OpClass::Control;
  good = kind == OpClass::Arithmetic || kind == OpClass::Compare || kind == OpClass::Bits ||
         kind == OpClass::Convert;
  for (size_t n = 0; good && n < function_[made].operand_count; ++n) {
    Value operand = function_.Operand(made, static_cast<uint32_t>(n));
    good = !Varies(operand) || operand == invocation_ || IsRecomputed(operand);
  }
  return recomputed_[v.raw] = good;
}

void WorkgroupFacts::FindCrossing() {
  auto use = [&](Value v, uint32_t piece) {
    if (!Varies(v) || v == invocation_ || function_.TypeOf(v).IsArray() || IsRecomputed(v)) return;
    Inst made = function_.DefiningInst(v);
    Inst owner = made.Valid() ? made : function_[function_.DefiningBlock(v)].owner;
    if (HasBarrier(owner) || piece_of_.Get(owner) != piece) crossing_.Insert(v);
  };
  Block body = function_[loop_].regions[0];
  for (Inst inst : structure_.Within(body)) {
    for (Value v : function_.Operands(inst)) use(v, piece_of_.Get(inst));
    // The condition guards every piece inside.
    if (HasBarrier(inst) && function_[inst].op == Op::If) use(function_.Operand(inst, 0), UINT32_MAX);
  }
}

}  // namespace adc::transform
