#include "codegen/spirv/rows.h"

#include <bit>

namespace adc::codegen::spirv {

using ir::Op;
using ir::Scalar;

namespace {

constexpr uint64_t kLaneMask = 63;

enum GroupWordNumber : uint32_t { kOffset, kStride, kRows, kCounter };

}  // namespace

Id RowEmitter::TokenOf(uint32_t group, Id row) {
  uint64_t lanes = context_.config.target.row_lanes;
  Id block = f_.Div(64, row, f_.Int(64, lanes));
  Id bytes = f_.Mul(64, environment_.GroupWord(group, kStride), f_.Int(64, lanes));
  Id offset = f_.Add(64, environment_.GroupWord(group, kOffset), f_.Mul(64, block, bytes));
  return f_.Emit(spv::OpBitwiseOr, m_.IntType(64), {offset, f_.Mod(64, row, f_.Int(64, lanes))});
}

void RowEmitter::EmitClaim(ir::Inst inst) {
  uint32_t group = kernel_[inst].attr;
  Id& token = own_tokens_[group];
  if (token == 0) {
    FunctionBuilder::Head head(f_);
    token = TokenOf(group, environment_.Thread());
    head_tokens_.insert(token);
  }
  values_.Bind(kernel_.Result(inst), token);
}

/// Threads of a subgroup that claim together take neighbouring rows with one addition.
Id RowEmitter::TakeRow(uint32_t group) {
  Id word = m_.IntType(32), relaxed = f_.Int(32, 0), device = f_.Int(32, spv::ScopeDevice);
  Id counter = environment_.GroupWord(group, kCounter);
  if (environment_.addressing() == Addressing::Metal) {
    Id pointer = environment_.HeapElement(Storage::U32, f_.ShiftRight(64, counter, f_.Int(32, 2))).pointer;
    Id own = f_.Emit(spv::OpAtomicIAdd, word, {pointer, device, relaxed, f_.Int(32, 1)});
    return f_.Resize(own, 32, 64, false);
  }
  m_.AddCapability(spv::CapabilityGroupNonUniform);
  m_.AddCapability(spv::CapabilityGroupNonUniformBallot);
  Id subgroup = f_.Int(32, spv::ScopeSubgroup);
  Id ballot =
      f_.Emit(spv::OpGroupNonUniformBallot, m_.VectorType(word, 4), {subgroup, m_.ConstantBool(true)});
  auto count = [&](spv::GroupOperation operation) {
    return f_.Emit(spv::OpGroupNonUniformBallotBitCount, word,
                   {subgroup, static_cast<uint32_t>(operation), ballot});
  };
  Id claims = count(spv::GroupOperationReduce), rank = count(spv::GroupOperationExclusiveScan);
  Id elected = f_.Emit(spv::OpGroupNonUniformElect, m_.BoolType(), {subgroup});
  Id before = f_.Block(), first = m_.NewId(), join = m_.NewId();
  f_.Select(elected, first, join, join);
  f_.Start(first);
  Place place = environment_.AtAddress(Storage::U32, f_.Add(64, environment_.HeapAddress(), counter));
  Id taken = f_.Emit(spv::OpAtomicIAdd, word, {place.pointer, device, relaxed, claims});
  f_.Branch(join);
  f_.Start(join);
  Id own = f_.Phi(word, taken, first, f_.Int(32, 0), before);
  Id base = f_.Emit(spv::OpGroupNonUniformBroadcastFirst, word, {subgroup, own});
  return f_.Resize(f_.Add(32, base, rank), 32, 64, false);
}

Id RowEmitter::EmitGatedClaim(ir::Inst inst, Id state) {
  uint32_t group = kernel_[inst].attr;
  Id wide = m_.IntType(64);
  Id claim = m_.NewId(), have = m_.NewId();
  Id before = f_.Block();
  f_.Select(f_.Compare(spv::OpIEqual, state, Unclaimed()), claim, have, have);
  f_.Start(claim);
  Id row = TakeRow(group);
  Id rows = environment_.GroupWord(group, kRows);
  Id exhausted = f_.Compare(spv::OpUGreaterThanEqual, row, rows);
  Id report = m_.NewId(), go_on = m_.NewId();
  f_.Select(exhausted, report, go_on, go_on);
  f_.Start(report);
  status_.Raise(StatusCode::RowsExhausted, group);
  f_.Branch(go_on);
  f_.Start(go_on);
  Id token = TokenOf(group, f_.Choose(wide, exhausted, f_.Sub(64, rows, f_.Int(64, 1)), row));
  Id claimed = f_.Block();
  f_.Branch(have);
  f_.Start(have);
  Id now = f_.Phi(wide, token, claimed, state, before);
  values_.Bind(kernel_.Result(inst), now);
  return now;
}

void RowEmitter::EmitWord(ir::Inst inst) {
  uint32_t number = kernel_[inst].op == Op::RowBase ? 0 : 1;
  values_.Bind(kernel_.Result(inst), environment_.StackWord(kernel_[inst].attr, number));
}

Id RowEmitter::Start(Id token, uint32_t bytes) {
  auto make = [&] {
    Id block = f_.And(64, token, f_.Int(64, ~kLaneMask));
    Id lane = f_.And(64, token, f_.Int(64, kLaneMask));
    if (environment_.addressing() == Addressing::Metal)
      return f_.Add(64, f_.Div(64, block, f_.Int(64, bytes)), lane);
    Id start = f_.Add(64, environment_.HeapAddress(), block);
    return f_.Add(64, start, f_.Mul(64, lane, f_.Int(64, bytes)));
  };
  if (head_tokens_.count(token) == 0) return make();
  Id& known = head_starts_[{token, bytes}];
  if (known == 0) {
    FunctionBuilder::Head head(f_);
    known = make();
  }
  return known;
}

void RowEmitter::EmitAccess(ir::Inst inst) {
  bool is_load = kernel_[inst].op == Op::RowLoad;
  ir::Value typed = is_load ? kernel_.Result(inst) : kernel_.Operand(inst, 2);
  Scalar scalar = kernel_.TypeOf(typed).scalar;
  Storage storage = NaturalStorage(scalar);
  uint64_t bytes = BytesOf(storage), lanes = context_.config.target.row_lanes;
  Id start = Start(values_.Get(kernel_.Operand(inst, 0)), static_cast<uint32_t>(bytes));
  Id byte = values_.Get(kernel_.Operand(inst, 1));
  bool metal = environment_.addressing() == Addressing::Metal;
  // A byte offset is a multiple of the element's size, and the lanes are at least as many as its bytes.
  Id position = f_.Add(64, start, f_.Mul(64, byte, f_.Int(64, metal ? lanes / bytes : lanes)));
  Place place =
      metal ? environment_.HeapElement(storage, position) : environment_.AtAddress(storage, position);
  if (is_load) {
    values_.Bind(typed, memory_.Read(place, scalar));
  } else {
    memory_.Write(place, scalar, values_.Get(typed));
  }
}

}  // namespace adc::codegen::spirv
