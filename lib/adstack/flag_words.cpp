#include "adstack/flag_words.h"

#include "artifact/adstack_layout.h"

namespace adc::adstack {
namespace {

using artifact::kFlagsPerWord;
using ir::Op, ir::Value;

constexpr uint32_t kWordShift = 5;
static_assert(1u << kWordShift == kFlagsPerWord);

}  // namespace

uint32_t FlagWords(uint32_t flags) {
  return flags / kFlagsPerWord + (flags % kFlagsPerWord != 0 ? 1 : 0);
}

FlagPlace FlagAt(ir::Builder& builder, Value slot) {
  if (std::optional<int64_t> constant = builder.function().IntegerConstant(slot)) {
    return {builder.I64(*constant / kFlagsPerWord), builder.Int(kFlagWord, *constant % kFlagsPerWord)};
  }
  ir::Type type = builder.function().TypeOf(slot);
  Value word = builder.Make(Op::Shr, {slot, builder.Int(type, kWordShift)});
  Value bit = builder.Make(Op::And, {slot, builder.Int(type, kFlagsPerWord - 1)});
  return {word, builder.Cast(bit, kFlagWord)};
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
