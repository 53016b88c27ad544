// An iteration that the threads of a workgroup run together (raise/teams.h).
//
//   %x = load %a[%k]                    all threads
//   store %b[%k], %x                    barrier; thread 0 ? one : all;  one: store;  all: barrier
//   for %l in 0..64 apart 64 {          header: l = phi(thread, l + 64); l < 64 ? body : end
//     ...                               body:   ...
//   }                                   end:    barrier
//
// What a thread reads around the turns that are apart it may still be about to read when another one has come
// further: so there is a barrier before a write as well as after it, unless nothing was touched since the
// last one.

#include "codegen/spirv/body.h"
#include "ir/raise_words.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op;

void BodyEmitter::EmitTeam(ir::Block block, uint32_t size) {
  team_ = size;
  synced_ = enters_synced_ = false;
  EmitBlock(block);
  Sync();
  team_ = 0;
}

void BodyEmitter::Sync() {
  if (synced_) return;
  Id workgroup = f_.Int(32, spv::ScopeWorkgroup);
  f_.Do(spv::OpControlBarrier,
        {workgroup, workgroup,
         f_.Int(32, spv::MemorySemanticsAcquireReleaseMask | spv::MemorySemanticsWorkgroupMemoryMask |
                        spv::MemorySemanticsUniformMemoryMask)});
  synced_ = true;
}

/// A write to memory that the threads of a team share: each would make it.
bool BodyEmitter::IsWriteOfTeam(ir::Inst inst) const {
  const ir::InstData& data = function_[inst];
  if (data.op == Op::RowStore) return true;
  if (!ir::IsAccess(data.op) || data.op == Op::Load) return false;
  ir::Inst array = function_.DefiningInst(function_.Operand(inst, 0));
  bool is_local = array.Valid() && function_[array].op == Op::Alloca;
  return !is_local || (function_[array].flags & ir::kFlagCommon) != 0;
}

void BodyEmitter::EmitRangeOfTeam(ir::Block block, uint32_t first, uint32_t last) {
  const std::vector<ir::Inst>& insts = function_[block].insts;
  synced_ = synced_ && enters_synced_;
  enters_synced_ = false;
  for (uint32_t position = first; position < last; ++position) {
    ir::Inst inst = insts[position];
    const ir::InstData& data = function_[inst];
    if (data.op == Op::For && (data.flags & ir::kFlagApart) != 0) {
      EmitApart(inst);
    } else if (data.op == Op::Alloca && (data.flags & ir::kFlagCommon) != 0) {
      Sync();
      uint32_t length = kernel_->memory.EmitCommonArray(inst);
      if ((data.flags & ir::kFlagUnset) != 0) continue;
      EmitTurns(f_.Int(32, length), 32, [&](Id turn) { kernel_->memory.ClearCommon(inst, turn); });
      synced_ = position + 1 < last && function_[insts[position + 1]].op == Op::Alloca;
    } else if (IsWriteOfTeam(inst)) {
      Sync();
      Id one = m_.NewId(), all = m_.NewId();
      f_.Select(f_.Compare(spv::OpIEqual, kernel_->environment.InTeam(), f_.Int(32, 0)), one, all, all);
      f_.Start(one);
      for (; position < last && IsWriteOfTeam(insts[position]); ++position) EmitInst(insts[position]);
      --position;
      f_.Branch(all);
      f_.Start(all);
      synced_ = false;
      Sync();
    } else {
      enters_synced_ = data.op == Op::For && EndsSynced(data.regions[0]);
      EmitInst(inst);
      synced_ = synced_ && ir::InfoOf(data.op).effect == ir::Effect::Pure;
    }
  }
  synced_ = false;
}

/// Whether the team meets at the end of a block, and touches no memory after that.
bool BodyEmitter::EndsSynced(ir::Block block) const {
  const std::vector<ir::Inst>& insts = function_[block].insts;
  for (size_t n = insts.size(); n-- > 0;) {
    const ir::InstData& data = function_[insts[n]];
    if (data.op == Op::For && (data.flags & ir::kFlagApart) != 0) return true;
    if (IsWriteOfTeam(insts[n])) return true;
    if (!ir::IsTerminator(data.op) && ir::InfoOf(data.op).effect != ir::Effect::Pure) return false;
  }
  return false;
}

/// A loop from the thread's number in steps of the team, while below `high`, an integer of `width` bits.
template <class Turn>
void BodyEmitter::EmitTurns(Id high, uint32_t width, Turn turn, std::span<OpenPhi> sums,
                            std::span<const Id> types) {
  Id thread = f_.Resize(kernel_->environment.InTeam(), 32, width, false);
  LoopLabels loop = f_.BeginLoop();
  OpenPhi counter = f_.LoopPhi(loop, m_.IntType(width), thread);
  for (size_t n = 0; n < sums.size(); ++n) sums[n] = f_.LoopPhi(loop, types[n], m_.ConstantNull(types[n]));
  f_.EndHeader(loop, f_.Compare(spv::OpSLessThan, counter.id, high));
  turn(counter.id);
  std::vector<Id> yielded = std::move(turn_sums_);
  f_.BeginNext(loop);
  f_.Close(loop, counter, f_.Add(width, counter.id, f_.Int(width, team_)));
  for (size_t n = 0; n < sums.size(); ++n) f_.Close(loop, sums[n], yielded[n]);
  f_.EndLoop(loop);
}

void BodyEmitter::EmitApart(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Block body = data.regions[0];
  ADC_CHECK(changes_.Get(inst).empty(), "a turn of a team changes a state");
  uint32_t width = ir::BitWidth(function_.TypeOf(function_.Operand(inst, 0)).scalar);
  std::vector<Id> types;
  for (uint32_t n = 0; n < data.result_count; ++n) types.push_back(TypeOf(function_.Result(inst, n)));
  std::vector<OpenPhi> sums(types.size());
  Sync();
  uint32_t size = team_;
  EmitTurns(
      values_.Get(function_.Operand(inst, 1)), width,
      [&](Id turn) {
        team_ = 0;
        in_turn_ = true;
        values_.Bind(function_[body].params[0], turn);
        for (size_t n = 0; n < sums.size(); ++n) values_.Bind(function_[body].params[n + 1], sums[n].id);
        EmitBlock(body);
        turn_sums_ = Yielded(body);
        in_turn_ = false;
        team_ = size;
      },
      sums, types);
  synced_ = false;
  for (uint32_t n = 0; n < sums.size(); ++n) {
    Id sum = SumOverTeam(function_.TypeOf(function_.Result(inst, n)).scalar, sums[n].id);
    Id initial = values_.Get(function_.Operand(inst, 3 + n));
    ir::Scalar scalar = function_.TypeOf(function_.Result(inst, n)).scalar;
    values_.Bind(function_.Result(inst, n), scalars_.Emit(Op::Add, scalar, scalar, {initial, sum}));
  }
  Sync();
}

/// Halves the number of sums until there is one.
Id BodyEmitter::SumOverTeam(ir::Scalar scalar, Id mine) {
  Id type = scalars_.RegisterType(scalar), pointer_type = m_.PointerType(spv::StorageClassWorkgroup, type);
  Id thread = kernel_->environment.InTeam(), array = kernel_->environment.Shared(type, team_);
  shared_bytes_ += team_ * (ir::BitWidth(scalar) == 64 ? 8 : 4);
  auto place = [&](Id at) { return f_.Emit(spv::OpAccessChain, pointer_type, {array, at}); };
  f_.Store(place(thread), mine, 0);
  synced_ = false;
  Sync();
  for (uint32_t left = team_; left > 1;) {
    uint32_t half = (left + 1) / 2;
    Id add = m_.NewId(), added = m_.NewId();
    f_.Select(f_.Compare(spv::OpULessThan, thread, f_.Int(32, left - half)), add, added, added);
    f_.Start(add);
    Id own = f_.Load(type, place(thread), 0);
    Id other = f_.Load(type, place(f_.Add(32, thread, f_.Int(32, half))), 0);
    f_.Store(place(thread), scalars_.Emit(Op::Add, scalar, scalar, {own, other}), 0);
    f_.Branch(added);
    f_.Start(added);
    left = half;
    synced_ = false;
    Sync();
  }
  return f_.Load(type, place(f_.Int(32, 0)), 0);
}

}  // namespace adc::codegen::spirv
