// An iteration that the threads of a workgroup run together (raise/teams.h), step by step
// (common/team_steps.h).
//
//   for %l in 0..64 apart 64 {     header: l = phi(thread, l + 64); l < 64 ? body : end
//     ...                          body:   ...
//   }                              end:    barrier

#include <algorithm>
#include <utility>

#include "analysis/walk.h"
#include "codegen/common/private_sums.h"
#include "codegen/common/team_steps.h"
#include "codegen/common/turn_cells.h"
#include "codegen/common/wave_teams.h"
#include "codegen/spirv/body.h"
#include "codegen/spirv/body_turns.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op;

void TeamEmitter::EmitBlock(ir::Block block, uint32_t size, const Shares* shares) {
  mode_.team = size, mode_.shares = shares;
  body_.EmitBlock(block);
  mode_.team = 0, mode_.shares = nullptr;
}

bool TeamEmitter::MayShare(ir::Inst parallel) const {
  if (!kernel_->in_step.Any() || !MayShareWaves(function_, parallel)) return false;
  return std::ranges::all_of(SpreadLoopsOf(function_, parallel), [&](ir::Inst loop) {
    if (!kernel_->in_step.Has(loop)) return true;
    bool sums_alone = HeldTurns(*this, loop).IsPossible();
    analysis::ForEachInst(function_, function_[loop].regions[0], [&](ir::Inst inst) {
      sums_alone &= !kernel_->in_step.Has(inst) || IsOfTurn(function_, inst);
    });
    return sums_alone;
  });
}

void TeamEmitter::Meet() {
  Id workgroup = f_.Int(32, spv::ScopeWorkgroup);
  f_.Do(spv::OpControlBarrier,
        {workgroup, workgroup,
         f_.Int(32, spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsWorkgroupMemoryMask |
                        spv::MemorySemanticsUniformMemoryMask)});
}

void TeamEmitter::EmitRange(ir::Block block, uint32_t first, uint32_t last) {
  PrintTeam(function_, block, first, last, enters_met_,
            {.each = [this](ir::Inst inst) { body_.EmitInst(inst); },
             .turns = [this](ir::Inst inst) { EmitApart(inst); },
             .array = [this](ir::Inst inst) { EmitCommonArray(inst); },
             .by_first = [this](std::span<const ir::Inst> writes) { EmitByFirst(writes); },
             .meet = [this] { Meet(); }});
}

void TeamEmitter::EmitByFirst(std::span<const ir::Inst> writes) {
  Id number = mode_.shares != nullptr ? mode_.shares->number : kernel_->environment.invocations.InTeam();
  Id is_first = f_.Compare(spv::OpIEqual, number, f_.Int(32, 0));
  if (mode_.shares != nullptr) is_first = f_.Both(is_first, mode_.shares->has);
  f_.When(is_first, [&] {
    for (ir::Inst inst : writes) body_.EmitInst(inst);
  });
}

void TeamEmitter::EmitCommonArray(ir::Inst array) {
  uint32_t length = kernel_->memory.EmitCommonArray(array);
  if (function_[array].Has(ir::Word::Unset)) return;
  EmitTurns(f_.Int(32, 0), f_.Int(32, length), 32, [&](Id turn) {
    kernel_->memory.ClearCommon(array, turn);
    return std::vector<Id>();
  });
}

/// A loop from `low` and the thread's number on in steps of the team, or the share's in steps of the shares,
/// while below `high`, which are integers of `width` bits that are not negative.
template <class Turn>
void TeamEmitter::EmitTurns(Id low, Id high, uint32_t width, Turn turn, std::span<OpenPhi> sums,
                            std::span<const ir::Scalar> scalars) {
  Id number = mode_.shares != nullptr ? mode_.shares->number : kernel_->environment.invocations.InTeam();
  uint32_t step = mode_.shares != nullptr ? mode_.shares->count : mode_.team;
  Id first = f_.Add(width, low, f_.Resize(number, 32, width, false));
  Loop loop(f_);
  OpenPhi counter = loop.Phi(m_.types.Int(width), first);
  for (size_t n = 0; n < sums.size(); ++n)
    sums[n] = loop.Phi(scalars_.RegisterType(scalars[n]),
                       scalars_.Constant(scalars[n], StartOf(ir::Reduction::Add, scalars[n])));
  // Without a sign the number of a turn that is not there fits as well.
  loop.EndHeader(f_.Compare(spv::OpULessThan, counter.id, high));
  std::vector<Id> yielded = turn(counter.id);
  loop.BeginNext();
  loop.Close(counter, f_.Add(width, counter.id, f_.Int(width, step)));
  for (size_t n = 0; n < sums.size(); ++n) loop.Close(sums[n], yielded[n]);
  loop.End();
}

void TeamEmitter::EmitApart(ir::Inst inst) {
  ADC_CHECK(states_.Of(inst).empty(), "a turn of a team changes a state");
  std::vector<ir::Scalar> scalars;
  for (uint32_t n = 0; n < function_[inst].result_count; ++n)
    scalars.push_back(function_.TypeOf(function_.Result(inst, n)).scalar);
  bool by_turns = mode_.shares != nullptr && kernel_->in_step.Has(inst);
  std::vector<Id> own = by_turns ? EmitShare(inst, scalars) : EmitTurnsApart(inst, scalars);
  for (uint32_t n = 0; n < own.size(); ++n) {
    if (n != 0) Meet();  // the next one may come to the same memory
    Id sum = mode_.shares != nullptr ? SumOverShares(scalars[n], own[n]) : SumOverTeam(scalars[n], own[n]);
    Id initial = values_.Get(function_.Operand(inst, 3 + n));
    values_.Bind(function_.Result(inst, n), scalars_.Emit(Op::Add, scalars[n], scalars[n], {initial, sum}));
  }
}

/// The sums of the thread over the turns of its share, which all threads run in step.
std::vector<Id> TeamEmitter::EmitShare(ir::Inst inst, std::span<const ir::Scalar> scalars) {
  std::vector<Id> starts;
  for (ir::Scalar scalar : scalars)
    starts.push_back(scalars_.Constant(scalar, StartOf(ir::Reduction::Add, scalar)));
  uint32_t size = std::exchange(mode_.team, 0);
  mode_.active = mode_.shares->has;
  std::vector<Id> own = HeldTurns(*this, inst).Emit(starts);
  mode_.active = 0;
  mode_.team = size;
  return own;
}

/// The sums of the thread over its turns of a loop.
std::vector<Id> TeamEmitter::EmitTurnsApart(ir::Inst inst, std::span<const ir::Scalar> scalars) {
  ir::Block body = function_[inst].regions[0];
  uint32_t width = ir::BitWidth(function_.TypeOf(function_.Operand(inst, 0)).scalar);
  std::vector<OpenPhi> sums(scalars.size());
  uint32_t size = mode_.team;
  // A word does not hold the number of a turn after the last.
  bool narrow = body_.CountsInWords(inst);
  auto bound = [&](uint32_t n) {
    Id id = body_.BoundOf(function_.Operand(inst, n), narrow ? 32 : width);
    return narrow ? f_.Resize(id, 32, width, false) : id;
  };
  Id low = bound(0), high = bound(1);
  EmitTurns(
      low, f_.Choose(m_.types.Int(width), f_.Compare(spv::OpSLessThan, low, high), high, low), width,
      [&](Id turn) {
        mode_.team = 0;
        values_.Bind(function_[body].params[0], narrow ? f_.Resize(turn, width, 32, false) : turn);
        for (size_t n = 0; n < sums.size(); ++n) values_.Bind(function_[body].params[n + 1], sums[n].id);
        body_.EmitBlock(body);
        mode_.team = size;
        return body_.Yielded(body);
      },
      sums, scalars);
  std::vector<Id> own;
  for (const OpenPhi& sum : sums) own.push_back(sum.id);
  return own;
}

/// The memory of the workgroup where its threads leave sums of a type.
Id TeamEmitter::SumsOf(Id type) {
  Id& array = sums_[type];
  if (array != 0) return array;
  array = kernel_->environment.entry.Shared(type, mode_.team);
  bool is_wide = type == m_.types.Float(64) || type == m_.types.Int(64);
  shared_bytes_ += mode_.team * (is_wide ? 8 : 4);
  return array;
}

/// The sum over the values of the same lane of each share.
Id TeamEmitter::SumOverShares(ir::Scalar scalar, Id mine) {
  Id type = scalars_.RegisterType(scalar), pointer_type = m_.types.Pointer(spv::StorageClassWorkgroup, type);
  Id array = SumsOf(type), lanes = f_.Int(32, mode_.shares->lanes), total = 0;
  auto place = [&](Id share) {
    Id at = f_.Add(32, f_.Mul(32, share, lanes), mode_.shares->lane);
    return f_.Emit(spv::OpAccessChain, pointer_type, {array, at});
  };
  f_.Store(place(mode_.shares->number), mine, 0);
  Meet();
  for (uint32_t share = 0; share < mode_.shares->count; ++share) {
    Id other = f_.Load(type, place(f_.Int(32, share)), 0);
    total = total == 0 ? other : scalars_.Emit(Op::Add, scalar, scalar, {total, other});
  }
  return total;
}

/// Halves the number of sums until there is one.
Id TeamEmitter::SumOverTeam(ir::Scalar scalar, Id mine) {
  Id type = scalars_.RegisterType(scalar), pointer_type = m_.types.Pointer(spv::StorageClassWorkgroup, type);
  Id thread = kernel_->environment.invocations.InTeam(), array = SumsOf(type);
  auto place = [&](Id at) { return f_.Emit(spv::OpAccessChain, pointer_type, {array, at}); };
  f_.Store(place(thread), mine, 0);
  Meet();
  for (uint32_t left = mode_.team; left > 1;) {
    uint32_t half = (left + 1) / 2;
    f_.When(f_.Compare(spv::OpULessThan, thread, f_.Int(32, left - half)), [&] {
      Id own = f_.Load(type, place(thread), 0);
      Id other = f_.Load(type, place(f_.Add(32, thread, f_.Int(32, half))), 0);
      f_.Store(place(thread), scalars_.Emit(Op::Add, scalar, scalar, {own, other}), 0);
    });
    left = half;
    Meet();
  }
  return f_.Load(type, place(f_.Int(32, 0)), 0);
}

}  // namespace adc::codegen::spirv
