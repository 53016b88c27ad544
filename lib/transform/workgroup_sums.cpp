#include "transform/workgroup_sums.h"

#include "ir/eval.h"

namespace adc::transform {

using ir::Function, ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

/// `a + factor * b`; empty where a coefficient leaves 64 bits.
Known Combined(const Sum& a, const Sum& b, int64_t factor) {
  Sum sum = a;
  int64_t product = 0;
  auto add = [&](int64_t& into, int64_t number) {
    return !__builtin_mul_overflow(number, factor, &product) && !__builtin_add_overflow(into, product, &into);
  };
  if (!add(sum.constant, b.constant)) return std::nullopt;
  for (const auto& [value, coefficient] : b.terms) {
    int64_t& into = sum.terms[value];
    if (!add(into, coefficient)) return std::nullopt;
    if (into == 0) sum.terms.erase(value);
  }
  return sum;
}

}  // namespace

Known Evaluate(const Function& function, Inst inst, const std::vector<Known>& operands) {
  Op op = function[inst].op;
  Type result = function.TypeOf(function.Result(inst));
  if (op == Op::Select && operands[0] && operands[0]->IsConstant())
    return operands[operands[0]->constant != 0 ? 1 : 2];
  if (op == Op::Select && operands[1] == operands[2]) return operands[1];
  std::vector<Type> types;
  std::vector<uint64_t> bits;
  bool constant = true;
  for (uint32_t n = 0; n < operands.size(); ++n) {
    if (!operands[n]) return std::nullopt;
    types.push_back(function.TypeOf(function.Operand(inst, n)));
    if (types.back().IsFloat()) return std::nullopt;
    constant = constant && operands[n]->IsConstant();
    bits.push_back(static_cast<uint64_t>(operands[n]->constant));
  }
  if (constant) {
    std::optional<uint64_t> number = ir::EvaluateScalar(op, types, result, bits);
    if (!number || result.IsFloat()) return std::nullopt;
    return Sum{static_cast<int64_t>(*number), {}};
  }
  // Equal sums stay equal, and unequal constants unequal, whether or not the arithmetic wraps.
  if (op == Op::Add) return Combined(*operands[0], *operands[1], 1);
  if (op == Op::Sub) return Combined(*operands[0], *operands[1], -1);
  if (op == Op::Mul && operands[1]->IsConstant()) return Combined({}, *operands[0], operands[1]->constant);
  if (op == Op::Mul && operands[0]->IsConstant()) return Combined({}, *operands[1], operands[0]->constant);
  bool same_width = op == Op::Cast && ir::BitWidth(types[0].scalar) == ir::BitWidth(result.scalar);
  return same_width ? operands[0] : std::nullopt;
}

std::vector<Known>& KnownValues::RowOf(Value v) {
  std::vector<Known>& row = rows_[v];
  if (row.empty()) row.resize(invocations_);
  return row;
}

Known KnownValues::Of(Value v, uint32_t invocation) const {
  if (function_.IsConstant(v)) {
    if (function_.TypeOf(v).IsFloat()) return std::nullopt;
    return Sum{static_cast<int64_t>(function_.ConstantOf(v).bits), {}};
  }
  const std::vector<Known>& row = rows_.Get(v);
  return row.empty() ? Known() : row[invocation];
}

void KnownValues::SetAlike(Value v) {
  Sum own;
  own.terms[next_++] = 1;
  RowOf(v).assign(invocations_, own);
}

}  // namespace adc::transform
