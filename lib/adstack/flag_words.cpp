#include "adstack/flag_words.h"

#include "artifact/adstack_layout.h"

namespace adc::adstack {
namespace {

using artifact::kFlagsPerWord;
using ir::Op;
using ir::Value;

constexpr uint32_t kWordShift = 5;
static_assert(1u << kWordShift == kFlagsPerWord);

/// A widened i32 as it was, so that devices compute on it in 32 bits.
Value Narrow(const ir::Function& function, Value slot) {
  ir::Inst cast = function.DefiningInst(slot);
  if (!cast.Valid() || function[cast].op != Op::Cast) return slot;
  Value source = function.Operand(cast, 0);
  return function.TypeOf(source) == ir::kI32 ? source : slot;
}

}  // namespace

uint32_t FlagWords(uint32_t flags) {
  return flags / kFlagsPerWord + (flags % kFlagsPerWord != 0 ? 1 : 0);
}

FlagPlace FlagAt(ir::Builder& builder, Value slot) {
  if (std::optional<int64_t> constant = builder.function().IntegerConstant(slot)) {
    return {builder.I64(*constant / kFlagsPerWord), builder.Int(kFlagWord, *constant % kFlagsPerWord)};
  }
  Value number = Narrow(builder.function(), slot);
  ir::Type type = builder.function().TypeOf(number);
  Value word = builder.Make(Op::Shr, {number, builder.Int(type, kWordShift)});
  Value bit = builder.Make(Op::And, {number, builder.Int(type, kFlagsPerWord - 1)});
  return {type == ir::kI64 ? word : builder.Cast(word, ir::kI64), builder.Cast(bit, kFlagWord)};
}

Value GetFlag(ir::Builder& builder, Value word, Value bit) {
  Value lowest = builder.Make(Op::And, {builder.Make(Op::Shr, {word, bit}), builder.Int(kFlagWord, 1)});
  return builder.Make(Op::Ne, {lowest, builder.Zero(kFlagWord)});
}

Value SetFlag(ir::Builder& builder, Value word, Value bit, Value flag) {
  Value mask = builder.Make(Op::Shl, {builder.Int(kFlagWord, 1), bit});
  Value others = builder.Make(Op::And, {word, builder.Make(Op::Not, {mask})});
  Value own = builder.Make(Op::Shl, {builder.Cast(flag, kFlagWord), bit});
  return builder.Make(Op::Or, {others, own});
}

}  // namespace adc::adstack
