#pragma once
// The form of an adstack of flags in memory: element k is bit k % 32 of 32-bit word k / 32, in a row of the
// heap and in private memory, on every target.
//
// A push reads the word, puts its bit in, set or clear, and writes the word back: a slot that is visited
// again forgets what it held, and its neighbours keep what they hold. The words belong to one thread, so that
// none of this is atomic. Bits that have not been pushed yet may hold anything.

#include "ir/builder.h"

namespace adc::adstack {

inline constexpr ir::Type kFlagWord = ir::Type::Of(ir::Scalar::U32);

/// Words that hold `flags` of them.
uint32_t FlagWords(uint32_t flags);

/// Where a flag lies: the number of its word, of the slot's type, or an i64 literal, and its bit there, a
/// u32.
struct FlagPlace {
  ir::Value word;
  ir::Value bit;
};

/// The place of the flag at `slot`, an i32 or i64 that is not negative.
FlagPlace FlagAt(ir::Builder& builder, ir::Value slot);
/// The flag at `bit` of `word`, an i1.
ir::Value GetFlag(ir::Builder& builder, ir::Value word, ir::Value bit);
/// `word` with `flag` at `bit`.
ir::Value SetFlag(ir::Builder& builder, ir::Value word, ir::Value bit, ir::Value flag);

}  // namespace adc::adstack
