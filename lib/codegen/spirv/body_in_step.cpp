// Control flow of threads that are in step (in_step.h). No thread leaves it: the statements of a part of them
// stand in branches of its own, which end before the next sum.
//
//   for %j in 0..32 {                   header: j = phi(0, j + 1); j < 32 ? body : end
//     %w = load %x[%i, %j]              body:   active ? some : all
//     %c = gt %w, 0.0                   some:   w = load, c = w > 0
//     if %c {                           all:    c = phi(c, null); takes = active && c; takes ? some' : all'
//       %p = mul %g, %w                 some':  p = mul g w
//       add_to %a.adj[%j], %p           all':   p = phi(p, null); add p over the threads with `takes`
//     }

#include <algorithm>

#include "codegen/common/turn_cells.h"
#include "codegen/spirv/body.h"
#include "codegen/spirv/body_turns.h"

namespace adc::codegen::spirv {

using ir::Op;

void StepEmitter::EmitBlock(ir::Block block, Id active) {
  mode_.active = active;
  body_.EmitBlock(block);
  mode_.active = 0;
}

void StepEmitter::EmitRange(ir::Block block, uint32_t first, uint32_t last) {
  const std::vector<ir::Inst>& insts = function_[block].insts;
  std::vector<ir::Inst> run;
  for (uint32_t position = first; position < last; ++position) {
    ir::Inst inst = insts[position];
    if (!kernel_->in_step.Has(inst)) {
      // Shared values are bounds of loops in step, and are wanted in all threads.
      bool shared = InStep::IsFree(function_[inst].op) && kernel_->in_step.IsShared(function_.Result(inst));
      if (shared) {
        body_.EmitInst(inst);
      } else {
        run.push_back(inst);
      }
      continue;
    }
    EmitActive(run);
    run.clear();
    const ir::InstData& data = function_[inst];
    if (ir::IsAccess(data.op)) {
      position = EmitSums(block, position, last) - 1;
    } else if (data.op == Op::If && !kernel_->in_step.IsShared(function_.Operand(inst, 0))) {
      EmitIf(inst);
    } else {
      body_.EmitInst(inst);
    }
  }
  EmitActive(run);
}

std::vector<ir::Value> StepEmitter::LeavingOf(std::span<const ir::Inst> run) const {
  std::map<ir::Value, uint32_t> reads;  // by instructions of the run
  auto count = [&](auto& self, ir::Inst inst) -> void {
    for (ir::Value v : function_.Operands(inst)) ++reads[v];
    for (ir::Block region : function_[inst].regions) {
      if (!region.Valid()) continue;
      for (ir::Inst inner : function_[region].insts) self(self, inner);
    }
  };
  for (ir::Inst inst : run) count(count, inst);
  std::vector<ir::Value> leaving;
  for (size_t n = run.size(); n-- > 0;) {
    ir::Inst inst = run[n];
    for (uint32_t result = 0; result < function_[inst].result_count; ++result) {
      ir::Value v = function_.Result(inst, result);
      if (uses_.Of(v).size() == reads[v]) continue;
      if (!body_.IsTakenIn(inst) && !values_.WidensAtUse(inst)) {
        leaving.push_back(v);
        continue;
      }
      // Its reader computes it, of what it reads.
      for (ir::Value operand : function_.Operands(inst)) --reads[operand];
    }
  }
  return leaving;
}

void StepEmitter::EmitActive(std::span<const ir::Inst> run) {
  if (std::all_of(run.begin(), run.end(),
                  [&](ir::Inst inst) { return InStep::IsFree(function_[inst].op); })) {
    for (ir::Inst inst : run) body_.EmitInst(inst);
    return;
  }
  Id active = mode_.active, before = f_.Block();
  std::vector<Id>& now = states_.now();
  std::vector<Id> states = now;
  std::vector<ir::Value> leaving = LeavingOf(run);
  std::vector<Id> ids;
  Id end = f_.When(active, [&] {
    mode_.active = 0;
    for (ir::Inst inst : run) body_.EmitInst(inst);
    mode_.active = active;
    for (ir::Value v : leaving) {
      const ir::InstData& by = function_[function_.DefiningInst(v)];
      // An array is a variable, and a thread's own row known from the start.
      bool anywhere =
          by.op == Op::Alloca || (by.op == Op::RowClaim && !kernel_->environment.words.IsGated(by.attr));
      ids.push_back(anywhere ? 0 : values_.Get(v));
    }
  });
  std::vector<std::pair<ir::Value, Id>> rows;
  for (size_t n = 0; n < leaving.size(); ++n) {
    if (ids[n] == 0) continue;
    Id type = TypeOf(leaving[n]);
    Id id = f_.Phi(type, ids[n], end, m_.constants.Null(type), before);
    ir::Inst inst = function_.DefiningInst(leaving[n]);
    if (function_[inst].op == Op::RowClaim) {
      rows.emplace_back(leaving[n], id);
    } else {
      values_.Bind(leaving[n], id);
    }
  }
  for (size_t state = 0; state < states.size(); ++state) {
    if (now[state] == states[state]) continue;
    now[state] = f_.Phi(states_.TypeOf(state), now[state], end, states[state], before);
  }
  for (auto [row, token] : rows) kernel_->rows.Bind(row, token);
}

void StepEmitter::EmitIf(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  Id outer = mode_.active;
  Id condition = values_.Get(function_.Operand(inst, 0));
  std::vector<Id> results[2];
  for (uint32_t side = 0; side < 2; ++side) {
    mode_.active = f_.Both(outer, side == 0 ? condition : f_.Not(condition));
    body_.EmitBlock(data.regions[side]);
    if (data.result_count != 0) results[side] = body_.Yielded(data.regions[side]);
  }
  mode_.active = outer;
  for (uint32_t n = 0; n < data.result_count; ++n) {
    ir::Value result = function_.Result(inst, n);
    values_.Bind(result, f_.Choose(TypeOf(result), condition, results[0][n], results[1][n]));
  }
}

uint32_t StepEmitter::EmitSums(ir::Block block, uint32_t position, uint32_t last) {
  std::vector<ir::Inst> sums = kernel_->in_step.SumsFrom(block, position, last);
  if (mode_.held != nullptr && IsOfTurn(function_, sums[0])) {
    mode_.held->Hold(sums);
  } else {
    kernel_->sums.AddTogether(sums, mode_.active, kernel_->in_step.IntoOneCell(sums[0]));
  }
  return position + static_cast<uint32_t>(sums.size());
}

}  // namespace adc::codegen::spirv
