// Each step is an instance of a template over operation and type; the operation is a constant there, so that
// the switches inside ir/scalar_math.h and interp/tangent_rules.h fold away. Tables of instances are made per
// type, from the sets of operations that it has (ir/op_sets.h).

#include "interp/arithmetic.h"

#include <algorithm>
#include <array>
#include <utility>

#include "interp/tangent_rules.h"
#include "ir/eval.h"
#include "ir/philox.h"
#include "ir/scalar_math.h"

namespace adc::interp {

using ir::Op, ir::Scalar;

namespace {

template <class T>
double AsDouble(T value) {
  return ir::ScalarCast<double>(value);
}

template <Op op, class T, bool dual>
const Code* Unary(Machine& m, const Code* c) {
  T a = ir::FromBits<T>(m.cells[c->a]);
  T r = ir::ScalarUnary(op, a);
  m.cells[c->dst] = ir::ToBits(r);
  if constexpr (dual && ir::kIsFloatType<T>)
    m.tangents[c->dst] = UnaryTangent(op, AsDouble(a), AsDouble(r), m.tangents[c->a]);
  return c + 1;
}

template <Op op, class T, bool dual>
const Code* Binary(Machine& m, const Code* c) {
  T a = ir::FromBits<T>(m.cells[c->a]), b = ir::FromBits<T>(m.cells[c->b]);
  T r = ir::ScalarBinary(op, a, b);
  m.cells[c->dst] = ir::ToBits(r);
  if constexpr (dual && ir::kIsFloatType<T>) {
    m.tangents[c->dst] =
        BinaryTangent(op, AsDouble(a), AsDouble(b), AsDouble(r), m.tangents[c->a], m.tangents[c->b]);
  }
  return c + 1;
}

template <Op op, class T>
const Code* Compare(Machine& m, const Code* c) {
  m.cells[c->dst] = ir::Compared(op, ir::FromBits<T>(m.cells[c->a]), ir::FromBits<T>(m.cells[c->b])) ? 1 : 0;
  return c + 1;
}

template <Op op, class T>
const Code* Classify(Machine& m, const Code* c) {
  m.cells[c->dst] = ir::Classified(op, ir::FromBits<T>(m.cells[c->a])) ? 1 : 0;
  return c + 1;
}

template <class T, bool dual>
const Code* Clamp(Machine& m, const Code* c) {
  T a = ir::FromBits<T>(m.cells[c->a]), b = ir::FromBits<T>(m.cells[c->b]),
    high = ir::FromBits<T>(m.cells[c->c]);
  m.cells[c->dst] = ir::ToBits(ir::ScalarClamp(a, b, high));
  if constexpr (dual && ir::kIsFloatType<T>) {
    bool raised = !ir::Compared(Op::Gt, a, b);
    bool lowered = !ir::Compared(Op::Lt, raised ? b : a, high);
    m.tangents[c->dst] = m.tangents[lowered ? c->c : raised ? c->b : c->a];
  }
  return c + 1;
}

template <class T, bool dual>
const Code* Fma(Machine& m, const Code* c) {
  T a = ir::FromBits<T>(m.cells[c->a]), b = ir::FromBits<T>(m.cells[c->b]);
  m.cells[c->dst] = ir::ToBits(ir::ScalarFma(a, b, ir::FromBits<T>(m.cells[c->c])));
  if constexpr (dual)
    m.tangents[c->dst] =
        BinaryTangent(Op::Mul, AsDouble(a), AsDouble(b), 0, m.tangents[c->a], m.tangents[c->b]) +
        m.tangents[c->c];
  return c + 1;
}

template <bool dual>
const Code* Select(Machine& m, const Code* c) {
  uint32_t from = (m.cells[c->a] & 1) != 0 ? c->b : c->c;
  m.cells[c->dst] = m.cells[from];
  if constexpr (dual) m.tangents[c->dst] = m.tangents[from];
  return c + 1;
}

template <class From, class To, bool dual>
const Code* Cast(Machine& m, const Code* c) {
  m.cells[c->dst] = ir::ToBits(ir::ScalarCast<To>(ir::FromBits<From>(m.cells[c->a])));
  if constexpr (dual && ir::kIsFloatType<To>)
    m.tangents[c->dst] = ir::kIsFloatType<From> ? m.tangents[c->a] : 0.0;
  return c + 1;
}

template <bool dual>
const Code* Bitcast(Machine& m, const Code* c) {
  ir::Type from = ir::Type::Of(static_cast<Scalar>(c->b));
  ir::Type to = ir::Type::Of(static_cast<Scalar>(c->c));
  m.cells[c->dst] = *ir::EvaluateScalar(Op::Bitcast, {&from, 1}, to, {&m.cells[c->a], 1});
  if constexpr (dual) m.tangents[c->dst] = 0;
  return c + 1;
}

template <bool dual>
const Code* Move(Machine& m, const Code* c) {
  m.cells[c->dst] = m.cells[c->a];
  if constexpr (dual) m.tangents[c->dst] = m.tangents[c->a];
  return c + 1;
}

template <class T>
const Code* TangentToValue(Machine& m, const Code* c) {
  m.cells[c->dst] = ir::ToBits(ir::ScalarCast<T>(m.tangents[c->a]));
  m.tangents[c->dst] = 0;
  return c + 1;
}

template <class T>
const Code* ValueToTangent(Machine& m, const Code* c) {
  m.tangents[c->dst] = AsDouble(ir::FromBits<T>(m.cells[c->a]));
  return c + 1;
}

// The lists of operations that a type has follow from the table.

template <bool (*belongs)(const ir::OpRow&)>
constexpr auto Listed() {
  constexpr size_t kCount = std::ranges::count_if(ir::kOpRows, belongs);
  std::array<Op, kCount> ops{};
  size_t next = 0;
  for (const ir::OpRow& row : ir::kOpRows) {
    if (belongs(row)) ops[next++] = row.op;
  }
  return ops;
}

constexpr bool IsEquality(const ir::OpRow& row) {
  return row.rule == ir::TypeRule::Compare;
}
constexpr bool IsComparison(const ir::OpRow& row) {
  return row.op_class == ir::OpClass::Compare;
}

constexpr auto kFloatUnary = Listed<ir::IsFloatUnary>();
constexpr auto kIntegerUnary = Listed<ir::IsIntegerUnary>();
constexpr auto kBoolUnary = Listed<ir::IsBoolUnary>();
constexpr auto kClassify = Listed<ir::IsClassification>();
constexpr auto kFloatBinary = Listed<ir::IsFloatBinary>();
constexpr auto kIntegerBinary = Listed<ir::IsIntegerBinary>();
constexpr auto kBoolBinary = Listed<ir::IsBoolBinary>();
constexpr auto kOrdered = Listed<IsComparison>();
constexpr auto kEquality = Listed<IsEquality>();

/// The step that `make` has for `op`, if `ops` lists it.
template <const auto& ops, class Make>
Step Find(Op op, Make make) {
  return [&]<size_t... n>(std::index_sequence<n...>) {
    Step step = nullptr;
    ((ops[n] == op ? void(step = make.template operator()<ops[n]>()) : void()), ...);
    return step;
  }(std::make_index_sequence<ops.size()>());
}

template <class T, bool dual>
Step StepOf(Op op) {
  auto unary = []<Op one>() -> Step { return &Unary<one, T, dual>; };
  auto binary = []<Op one>() -> Step { return &Binary<one, T, dual>; };
  auto compare = []<Op one>() -> Step { return &Compare<one, T>; };
  if (op == Op::Select) return &Select<dual>;
  if constexpr (std::is_same_v<T, bool>) {
    if (Step step = Find<kBoolUnary>(op, unary)) return step;
    if (Step step = Find<kBoolBinary>(op, binary)) return step;
    return Find<kEquality>(op, compare);
  } else {
    if (op == Op::Clamp) return &Clamp<T, dual>;
    if (Step step = Find<kOrdered>(op, compare)) return step;
    if constexpr (ir::kIsFloatType<T>) {
      auto classify = []<Op one>() -> Step { return &Classify<one, T>; };
      if (op == Op::Fma) return &Fma<T, dual>;
      if (Step step = Find<kFloatUnary>(op, unary)) return step;
      if (Step step = Find<kClassify>(op, classify)) return step;
      return Find<kFloatBinary>(op, binary);
    } else {
      if (Step step = Find<kIntegerUnary>(op, unary)) return step;
      return Find<kIntegerBinary>(op, binary);
    }
  }
}

}  // namespace

Step ArithmeticStep(Op op, Scalar scalar, bool dual) {
  return ir::VisitScalar(scalar, [&](auto type) {
    using T = decltype(type);
    // Integers have no tangents: their dual steps are the plain ones, but for the values that select passes.
    if constexpr (ir::kIsFloatType<T>) {
      if (dual) return StepOf<T, true>(op);
    }
    return StepOf<T, false>(op);
  });
}

Step CastStep(Scalar from, Scalar to, bool dual) {
  return ir::VisitScalar(from, [&](auto source) {
    using From = decltype(source);
    return ir::VisitScalar(to, [&](auto target) -> Step {
      using To = decltype(target);
      if constexpr (ir::kIsFloatType<To>) {
        if (dual) return &Cast<From, To, true>;
      }
      return &Cast<From, To, false>;
    });
  });
}

Step BitcastStep(bool dual) {
  return dual ? &Bitcast<true> : &Bitcast<false>;
}

const Code* RandomStep(Machine& m, const Code* c) {
  const RandomInfo& info = m.program->randoms[c->info];
  uint64_t operands[3] = {m.cells[c->a], m.cells[c->b], m.cells[c->c]};
  for (size_t n = 0; n < 3; ++n) {
    if (info.widths[n] == 32) operands[n] &= UINT32_MAX;
  }
  std::array<uint32_t, 4> words = ir::Philox(operands[0], operands[1], operands[2]);
  for (uint32_t k = 0; k < info.count; ++k) {
    uint64_t bits = ir::RandomBits(info.scalar, words, k);
    if (info.holds != info.scalar) bits = ir::ToBits(ir::FloatFromBits(info.scalar, bits));
    m.cells[c->dst + k] = bits;
    if (m.tangents != nullptr) m.tangents[c->dst + k] = 0;
  }
  return c + 1;
}

Step MoveStep(bool dual) {
  return dual ? &Move<true> : &Move<false>;
}

const Code* StillAtZeroStep(Machine& m, const Code* c) {
  if (m.cells[c->a] == 0) m.tangents[c->dst] = 0;
  return c + 1;
}

Step TangentToValueStep(Scalar scalar) {
  return ir::VisitScalar(scalar, [](auto type) -> Step { return &TangentToValue<decltype(type)>; });
}

Step ValueToTangentStep(Scalar scalar) {
  return ir::VisitScalar(scalar, [](auto type) -> Step { return &ValueToTangent<decltype(type)>; });
}

}  // namespace adc::interp
