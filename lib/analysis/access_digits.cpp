// Accesses whose indices are digits of the iteration's number, or stand behind conditions that keep them in
// an image. This file gathers the facts that determined.h asks for.

#include <algorithm>

#include "analysis/access.h"
#include "analysis/loops.h"

namespace adc::analysis {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// True where a polynomial is `radix`, which has one term, times another one.
bool IsMultiple(const AffineForm& form, const AffineForm& radix) {
  if (radix.terms.size() != 1 || radix.constant != 0 || form.constant != 0 || form.terms.empty())
    return false;
  const AffineTerm& by = radix.terms[0];
  return std::all_of(form.terms.begin(), form.terms.end(), [&](const AffineTerm& term) {
    Monomial rest = term.monomial;
    for (Value atom : by.monomial.Atoms()) {
      if (!rest.Has(atom)) return false;
      rest = rest.Without(atom);
    }
    return term.coefficient % by.coefficient == 0;
  });
}

bool IsSigned(const Function& f, Value v) {
  return f.TypeOf(v).IsIndex();
}

}  // namespace

bool AccessFacts::AddInterval(Inst loop, const Order& order, Gate& gate) {
  const Function& f = *function_;
  bool less_outside = structure_.DefinedOutside(order.less, loop);
  bool greater_outside = structure_.DefinedOutside(order.greater, loop);
  if (less_outside && greater_outside) return true;
  if ((!less_outside && !greater_outside) || !quotients_.IsCounted(order.less)) return false;
  Value moving = less_outside ? order.greater : order.less;
  Value fixed = less_outside ? order.less : order.greater;
  Value index = SingleAtom(quotients_.Of(moving).form);
  if (!index.Valid() || !quotients_.IsIndex(index)) return false;
  uint32_t bits = quotients_.BitsOf(moving);
  bool is_number = quotients_.IsNonnegative(index) && quotients_.SpanOf(index) < bits;
  if (!is_number && index != moving) return false;
  gate.indices.push_back(index);
  gate.from_begin = gate.from_begin && !less_outside;
  const QuotientForms::Form& limit = quotients_.Of(fixed);
  if (less_outside || !order.strict || !is_number || !limit.radices.empty()) return true;
  Limit known{index, limit.form, bits, IsSigned(f, fixed), false};
  Value value = SingleAtom(limit.form);
  if (value.Valid() && quotients_.QuotientOf(value) == nullptr && quotients_.BitsOf(value) <= bits) {
    bool widened = quotients_.BitsOf(value) < bits, signed_value = IsSigned(f, value);
    known.is_value = !signed_value || known.is_signed || quotients_.IsNonnegative(value);
    if (widened && !known.is_value) return true;
    if (widened) known.is_signed = signed_value;
    known.bits = quotients_.BitsOf(value);
  }
  gate.limits.push_back(std::move(known));
  return true;
}

void AccessFacts::CollectZero(const Order& order, Gate& gate) {
  const Function& f = *function_;
  if (!quotients_.IsCounted(order.less) || f.IntegerConstant(order.greater) != (order.strict ? 1 : 0)) return;
  bool from_zero = !IsSigned(f, order.less) ||
                   quotients_.IsNonnegative(quotients_.Of(order.less).form, quotients_.BitsOf(order.less));
  if (from_zero) gate.fixed.emplace_back(order.less, order.greater);
}

std::vector<Value> AccessFacts::NonzeroAt(Inst loop, Inst access, const Gate& gate) {
  const Function& f = *function_;
  std::vector<Value> values;
  for (Inst around : structure_.Enclosing(access)) {
    if (around != loop && !structure_.Contains(loop, around)) continue;
    if (f[around].op != Op::For && f[around].op != Op::Parallel) continue;
    // Inside a loop that begins at 0 or above, its end is not zero.
    for (uint32_t n = 0; n < IndicesOf(f, around).size(); ++n) {
      Value lo = f.Operand(around, 2 * n), hi = f.Operand(around, 2 * n + 1);
      if (f.IntegerConstant(lo).value_or(-1) >= 0) values.push_back(EndBehindGuard(lo, hi));
    }
  }
  for (const Order& order : gate.orders) {
    if (!quotients_.IsCounted(order.less)) continue;
    bool above = order.strict || f.IntegerConstant(order.less).value_or(0) != 0;
    bool from_zero = !IsSigned(f, order.less) ||
                     quotients_.IsNonnegative(quotients_.Of(order.less).form, quotients_.BitsOf(order.less));
    if (above && from_zero && quotients_.Of(order.less).radices.empty()) values.push_back(order.greater);
  }
  return values;
}

bool AccessFacts::AreNonzero(Inst loop, Inst access, const Gate& gate, std::span<const Value> radices) {
  const Function& f = *function_;
  if (radices.empty()) return true;
  std::vector<Value> nonzero = NonzeroAt(loop, access, gate);
  return std::all_of(radices.begin(), radices.end(), [&](Value radix) {
    if (!structure_.DefinedOutside(radix, loop)) return false;
    const QuotientForms::Form& form = quotients_.Of(radix);
    if (!form.radices.empty()) return false;
    Value atom = SingleAtom(form.form);
    bool plain = atom.Valid() && quotients_.QuotientOf(atom) == nullptr;
    if (Inst inst = plain ? f.DefiningInst(atom) : Inst(); inst.Valid()) {
      // An index that is in range lies in an extent that is not zero.
      if (f[inst].op == Op::Shape && f.Operand(inst, 0) == f.Operand(access, 0)) return true;
      if (f[inst].op == Op::Max && f.TypeOf(atom).IsIndex())
        for (Value operand : f.Operands(inst))
          if (f.IntegerConstant(operand).value_or(0) > 0) return true;
    }
    uint32_t bits = quotients_.BitsOf(radix);
    return std::any_of(nonzero.begin(), nonzero.end(), [&](Value value) {
      const QuotientForms::Form& multiple = quotients_.Of(value);
      bool zero_as_well = bits >= quotients_.BitsOf(value) || (plain && quotients_.BitsOf(atom) == bits);
      return zero_as_well && multiple.radices.empty() && IsMultiple(multiple.form, form.form);
    });
  });
}

CommonIndex AccessFacts::Narrowed(Value& index) const {
  const Function& f = *function_;
  CommonIndex common;
  for (;;) {
    Inst inst = f.DefiningInst(index);
    if (!inst.Valid() || f[inst].op != Op::Cast || !quotients_.IsCounted(f.Operand(inst, 0))) break;
    Value from = f.Operand(inst, 0);
    uint32_t bits = quotients_.BitsOf(index), from_bits = quotients_.BitsOf(from);
    if (from_bits > bits) break;
    // Widened without its sign, a number of all its bits may be in range.
    if (from_bits < bits && !IsSigned(f, from)) common.whole = false;
    index = from;
  }
  common.bits = quotients_.BitsOf(index);
  return common;
}

void AccessFacts::DecodeTogether(Inst loop, Inst a, Inst b, const Gate& gate_a, const Gate& gate_b,
                                 std::vector<Value>& decoded) {
  const Function& f = *function_;
  std::vector<CommonIndex> indices;
  for (uint32_t axis = 0; axis < f[a].index_count; ++axis) {
    Value index_a = f.Indices(a)[axis], index_b = f.Indices(b)[axis];
    CommonIndex common = Narrowed(index_a), other = Narrowed(index_b);
    if (common.bits != other.bits) continue;
    common.whole = common.whole && other.whole;
    const QuotientForms::Form& form_a = quotients_.Of(index_a);
    const QuotientForms::Form& form_b = quotients_.Of(index_b);
    if (!(form_a.form == form_b.form)) continue;
    if (!AreNonzero(loop, a, gate_a, form_a.radices) || !AreNonzero(loop, b, gate_b, form_b.radices))
      continue;
    common.form = form_a.form;
    indices.push_back(std::move(common));
  }
  for (auto [value, other] : gate_a.fixed) {
    if (std::ranges::find(gate_b.fixed, std::pair(value, other)) == gate_b.fixed.end()) continue;
    CommonIndex common = Narrowed(value);
    common.whole = false;
    const QuotientForms::Form& form = quotients_.Of(value);
    if (!AreNonzero(loop, a, gate_a, form.radices) || !AreNonzero(loop, b, gate_b, form.radices)) continue;
    common.form = form.form;
    indices.push_back(std::move(common));
  }
  if (indices.empty()) return;
  Box box;
  const Gate* outer = gate_a.open && gate_a.IsPartOf(gate_b)   ? &gate_a
                      : gate_b.open && gate_b.IsPartOf(gate_a) ? &gate_b
                                                               : nullptr;
  if (outer != nullptr) {
    box = {true, outer->from_begin, outer->limits};
    // An index of a loop is below the end of the loop as well.
    for (Inst around : structure_.Enclosing(outer == &gate_a ? a : b)) {
      if (f[around].op != Op::Parallel && f[around].op != Op::For) continue;
      for (uint32_t n = 0; n < IndicesOf(f, around).size(); ++n) {
        Value index = IndicesOf(f, around)[n];
        Value end = EndBehindGuard(f.Operand(around, 2 * n), f.Operand(around, 2 * n + 1));
        const QuotientForms::Form& limit = quotients_.Of(end);
        if (!quotients_.IsNonnegative(index) || !limit.radices.empty()) continue;
        Value value = SingleAtom(limit.form);
        bool is_value = value.Valid() && quotients_.QuotientOf(value) == nullptr && IsSigned(f, value) &&
                        quotients_.BitsOf(value) == quotients_.BitsOf(end);
        box.limits.push_back({index, limit.form, quotients_.BitsOf(end), true, is_value});
      }
    }
  }
  Determination determination(structure_, quotients_, loop, std::move(box), decoded);
  for (Value found : determination.Of(indices, IndicesOf(f, loop))) decoded.push_back(found);
}

}  // namespace adc::analysis
