#include "codegen/spirv/rows.h"

#include "analysis/walk.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Op, ir::Scalar;

namespace {

constexpr uint64_t kLaneMask = 63;

}  // namespace

RowEmitter::RowEmitter(Environment& environment, ValueTable& values, MemoryEmitter& memory,
                       StatusReporter& status)
    : m_(environment.entry.context.module),
      kernel_(environment.entry.kernel),
      environment_(environment),
      f_(environment.entry.f),
      values_(values),
      memory_(memory),
      status_(status) {
  analysis::ForEachInst(kernel_, [&](ir::Inst inst) {
    Op op = kernel_[inst].op;
    if (op == Op::RowLoad || op == Op::RowStore) uses_.Set(kernel_.Operand(inst, 0)).insert(UseOf(inst));
  });
}

Id RowEmitter::TokenOf(uint32_t group, Id row) {
  uint64_t lanes = environment_.entry.context.config.target.row_lanes;
  Id block = f_.Div(64, row, f_.Int(64, lanes));
  Id bytes = f_.Mul(64, environment_.words.OfRows(group, GroupWord::Stride), f_.Int(64, lanes));
  Id first = environment_.words.OfRows(group, GroupWord::Offset);
  Id offset = f_.Add(64, first, f_.Mul(64, block, bytes));
  return f_.Emit(spv::OpBitwiseOr, m_.types.Int(64), {offset, f_.Mod(64, row, f_.Int(64, lanes))});
}

RowEmitter::StackUse RowEmitter::UseOf(ir::Inst inst) const {
  ir::Value typed = kernel_[inst].op == Op::RowLoad ? kernel_.Result(inst) : kernel_.Operand(inst, 2);
  return {kernel_[inst].attr, NaturalStorage(kernel_.TypeOf(typed).scalar)};
}

Id RowEmitter::ArrayOf(Id token, const StackUse& use) {
  uint64_t lanes = environment_.entry.context.config.target.row_lanes, bytes = BytesOf(use.storage);
  Id block = f_.And(64, token, f_.Int(64, ~kLaneMask));
  Id lane = f_.And(64, token, f_.Int(64, kLaneMask));
  Id start = f_.Add(64, block,
                    f_.Mul(64, environment_.words.OfRows(use.stack, StackWord::Offset), f_.Int(64, lanes)));
  if (!HasAddresses(environment_.entry.addressing))
    return f_.Add(64, f_.Div(64, start, f_.Int(64, bytes)), lane);
  Id address = f_.Add(64, environment_.words.HeapAddress(), start);
  address = f_.Add(64, address, f_.Mul(64, lane, f_.Int(64, bytes)));
  return environment_.blocks.ArrayAt(use.storage, static_cast<uint32_t>(lanes * bytes), address);
}

void RowEmitter::MakeArrays(ir::Value row, Id token) {
  for (const StackUse& use : uses_.Get(row)) arrays_[{row, use}] = ArrayOf(token, use);
}

void RowEmitter::EmitClaim(ir::Inst inst) {
  uint32_t group = kernel_[inst].attr;
  ir::Value row = kernel_.Result(inst);
  FunctionBuilder::Head head(f_);
  Id& token = own_tokens_[group];
  if (token == 0) token = TokenOf(group, environment_.invocations.Thread());
  values_.Bind(row, token);
  for (const StackUse& use : uses_.Get(row)) {
    Id& array = own_arrays_[{group, use}];
    if (array == 0) array = ArrayOf(token, use);
    arrays_[{row, use}] = array;
  }
}

/// Each thread takes its row by itself. One addition for all threads of a subgroup that claim together would
/// need operations of a subgroup in divergent control flow, which lose threads on some devices (in_step.h):
/// two of them would have one row.
Id RowEmitter::TakeRow(uint32_t group) {
  Id counter = environment_.words.OfRows(group, GroupWord::Counter);
  bool addressed = HasAddresses(environment_.entry.addressing);
  Place place =
      addressed
          ? environment_.blocks.AtAddress(Storage::U32, f_.Add(64, environment_.words.HeapAddress(), counter))
          : environment_.blocks.HeapElement(Storage::U32, f_.ShiftRight(64, counter, f_.Int(32, 2)));
  Id row = f_.Emit(spv::OpAtomicIAdd, m_.types.Int(32),
                   {place.pointer, f_.Int(32, spv::ScopeDevice), f_.Int(32, 0), f_.Int(32, 1)});
  return f_.Resize(row, 32, 64, false);
}

Id RowEmitter::EmitGatedClaim(ir::Inst inst, Id state) {
  uint32_t group = kernel_[inst].attr;
  Id wide = m_.types.Int(64);
  Id before = f_.Block(), token = 0;
  Id claimed = f_.When(f_.Compare(spv::OpIEqual, state, Unclaimed()), [&] {
    Id row = TakeRow(group);
    Id rows = environment_.words.OfRows(group, GroupWord::Rows);
    Id exhausted = f_.Compare(spv::OpUGreaterThanEqual, row, rows);
    f_.When(exhausted,
            [&] { status_.Raise(StatusCode::RowsExhausted, group, f_.Add(64, row, f_.Int(64, 1))); });
    token = TokenOf(group, f_.Choose(wide, exhausted, f_.Sub(64, rows, f_.Int(64, 1)), row));
  });
  Id now = f_.Phi(wide, token, claimed, state, before);
  Bind(kernel_.Result(inst), now);
  return now;
}

void RowEmitter::EmitCapacity(ir::Inst inst) {
  values_.Bind(kernel_.Result(inst), environment_.words.OfRows(kernel_[inst].attr, StackWord::Capacity));
}

void RowEmitter::EmitAccess(ir::Inst inst) {
  bool is_load = kernel_[inst].op == Op::RowLoad;
  ir::Value typed = is_load ? kernel_.Result(inst) : kernel_.Operand(inst, 2);
  ir::Value slot = kernel_.Operand(inst, 1);
  Scalar scalar = kernel_.TypeOf(typed).scalar;
  StackUse use = UseOf(inst);
  auto array = arrays_.find({kernel_.Operand(inst, 0), use});
  ADC_CHECK(array != arrays_.end(), "a row access before the claim of its row");
  Place place;
  if (!HasAddresses(environment_.entry.addressing)) {
    // A slot is not negative.
    Id distance = f_.Mul(64, values_.Position(slot, 64),
                         f_.Int(64, environment_.entry.context.config.target.row_lanes));
    place = environment_.blocks.HeapElement(use.storage, f_.Add(64, array->second, distance));
  } else {
    place = environment_.blocks.InArray(array->second, use.storage, values_.Get(slot));
  }
  if (is_load) {
    values_.Bind(typed, memory_.Read(place, scalar));
  } else {
    memory_.Write(place, scalar, values_.Get(typed));
  }
}

}  // namespace adc::codegen::spirv
