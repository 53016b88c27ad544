#pragma once
// The accumulations that a sum of a thread's own can stand for (`private`, `gathered`).

#include <optional>

#include "ir/op.h"

namespace adc::ir {

enum class Reduction : uint8_t { Add, Min, Max, And, Or, Xor };

/// The kind of reduction that an accumulating access makes; empty for other operations.
constexpr std::optional<Reduction> ReductionOf(Op op) {
  if (op == Op::AtomicAdd || op == Op::AtomicSub || op == Op::AddTo) return Reduction::Add;
  if (op == Op::AtomicMin) return Reduction::Min;
  if (op == Op::AtomicMax) return Reduction::Max;
  if (op == Op::AtomicAnd) return Reduction::And;
  if (op == Op::AtomicOr) return Reduction::Or;
  if (op == Op::AtomicXor) return Reduction::Xor;
  return std::nullopt;
}

}  // namespace adc::ir
