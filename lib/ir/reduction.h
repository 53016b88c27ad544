#pragma once
// The operations that updates of memory compute, and the updates that a sum of a thread's own can replace
// (`private`, `gathered`).

#include <optional>

#include "ir/op_sets.h"
#include "support/check.h"

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

/// The operation by which an update combines the old value and the given one, both of `scalar`; empty where
/// it replaces the old one. Sums of i1 are modulo 2.
constexpr std::optional<Op> CombinedBy(Op update, Scalar scalar) {
  bool truth = scalar == Scalar::I1;
  // clang-format off
  switch (In<UpdateOp>(update)) {
    using enum UpdateOp;
    case AtomicAdd: case AddTo: return truth ? Op::Xor : Op::Add;
    case AtomicSub: return truth ? Op::Xor : Op::Sub;
    case AtomicMul: return truth ? Op::And : Op::Mul;
    case AtomicMin: return truth ? Op::And : Op::Min;
    case AtomicMax: return truth ? Op::Or : Op::Max;
    case AtomicAnd: return Op::And;
    case AtomicOr: return Op::Or;
    case AtomicXor: return Op::Xor;
    case AtomicExchange: case AtomicCompareExchange: return std::nullopt;
    case Other: break;
  }
  // clang-format on
  ADC_UNREACHABLE("update of memory");
}

}  // namespace adc::ir
