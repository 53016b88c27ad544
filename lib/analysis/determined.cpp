// The values that two iterations have in common are found step by step, from equal polynomials: if all terms
// but one are known, the value of that one is known too. With quotients among the values this reads numbers
// back that were divided:
//
//   x[i / 3, i - i / 3 * 3]     the first index is Q, a quotient; the second one is i - 3*Q, and Q is known
//
// *Quotients of quotients.* (i / m) / n is i / (m*n), rounded to zero as all divisions here, for all numbers
// and 0 alike, where the product does not wrap, and 0 where it does, since i is smaller then. The case is the
// same in all iterations; a fact has to hold in both cases.
//
// *Boxes.* In y*w + x with x < w from a condition, nothing says that w is not near 2^32, nor that y*w does
// not wrap. But the access is executed for all x and y of a box, and its indices are in range: between 0 and
// 2^31. So one step of x changes an index by exactly 1, or -1, and one step of y, if there is one, by exactly
// the number s from -2^31 to 2^31 that agrees with w modulo 2^32. There are at most w values of x. Where s is
// w they are at most s, and two pairs with the same index are the same. As a signed number w is positive,
// since x is not negative. As an unsigned one it may be 2^31 or more, and s negative: not if the index is
// y*w + x and no more, and x and y begin at 0, since y = 1 would make it s then.
//
// *Windows.* Where x / n is known, x is one of n neighbours, and where x differs by something known from i,
// so is i. They differ in i - i / n * n, what remains of i.
//
// *Transposed.* q*n + p with p = i / m, q = i - p*m, and i from 0 below n*m, which may wrap to less. Let i
// take K values. Where K is at most m, p is 0 and an index q*n, which one step changes by s, the number that
// agrees with n, and which is not 0. Elsewhere p = 0 comes with all q below m, so that |s|*(m-1) is below
// 2^31: n*m has not wrapped, or to -|n*m|, and either way |p| < |n|. One step of p is one of the index, so
// that it is s*q + p exactly, and two pairs with the same index are the same where s is n. As for boxes n may
// be an unsigned number of 2^31 or more; then q = 1 is out of range, if there is such a q, and no term
// besides.

#include "analysis/determined.h"

#include <algorithm>

#include "analysis/loops.h"

namespace adc::analysis {

using ir::Inst, ir::Op, ir::Value;

namespace {

/// Beyond this many products that may wrap, nothing is said.
constexpr size_t kMaxProducts = 3;

uint32_t TrailingZeros(int64_t value) {
  return value == 0 ? 64 : static_cast<uint32_t>(__builtin_ctzll(static_cast<uint64_t>(value)));
}

}  // namespace

Determination::Determination(const Structure& structure, QuotientForms& forms, Inst loop, Box box,
                             std::span<const Value> known)
    : structure_(structure),
      function_(structure.function()),
      forms_(forms),
      loop_(loop),
      box_(std::move(box)),
      given_(known.begin(), known.end()) {}

bool Determination::IsKnown(Value atom) const {
  if (std::find(known_.begin(), known_.end(), atom) != known_.end()) return true;
  const QuotientForms::Quotient* quotient = forms_.QuotientOf(atom);
  if (quotient == nullptr) return structure_.DefinedOutside(atom, loop_);
  return AllKnown(quotient->x) && AllKnown(quotient->radix);
}

std::optional<AffineForm> Determination::ResolvedAtom(Value atom) {
  if (forms_.QuotientOf(atom) == nullptr) return FormOf(atom);
  QuotientForms::Quotient quotient = *forms_.QuotientOf(atom);
  std::optional<AffineForm> x = Resolved(quotient.x);
  if (!x) return std::nullopt;
  if (*x == AffineForm{}) return x;
  quotient.x = std::move(*x);
  Value inner_atom = SingleAtom(quotient.x);
  const QuotientForms::Quotient* inner = inner_atom.Valid() ? forms_.QuotientOf(inner_atom) : nullptr;
  bool both_truncate = inner != nullptr && !inner->floors && !quotient.floors && inner->bits == quotient.bits;
  // Signed and unsigned division agree on numbers that are not negative.
  bool in_one_way =
      both_truncate &&
      (inner->is_signed == quotient.is_signed ||
       (forms_.IsNonnegative(inner->x, inner->bits) && forms_.IsNonnegative(inner->radix, inner->bits)));
  if (!in_one_way || (quotient.is_signed && !forms_.IsNonnegative(inner->x, inner->bits)))
    return forms_.Divided(std::move(quotient));
  std::optional<AffineForm> radix = Multiply(inner->radix, quotient.radix);
  if (!radix) return std::nullopt;
  bool wraps = false;
  if (radix->IsConstant()) {
    wraps = std::abs(radix->constant) >> (quotient.is_signed ? quotient.bits - 1 : quotient.bits) != 0;
  } else {
    auto known = std::find(products_.begin(), products_.end(), quotient);
    auto number = known - products_.begin();
    if (known == products_.end()) products_.push_back(quotient);
    wraps = (wraps_ >> number & 1) != 0;
  }
  if (wraps) return AffineForm{};
  return forms_.Divided({inner->x, std::move(*radix), quotient.bits, quotient.is_signed, false});
}

std::optional<AffineForm> Determination::Resolved(const AffineForm& form) {
  AffineForm sum{form.constant, {}};
  for (const AffineTerm& term : form.terms) {
    std::optional<AffineForm> product = AffineForm{term.coefficient, {}};
    for (Value atom : term.monomial.Atoms()) {
      std::optional<AffineForm> factor = product ? ResolvedAtom(atom) : std::nullopt;
      product = factor ? Multiply(*product, *factor) : std::nullopt;
    }
    std::optional<AffineForm> next = product ? Add(sum, *product) : std::nullopt;
    if (!next) return std::nullopt;
    sum = std::move(*next);
  }
  return sum;
}

bool Determination::Learn(const CommonIndex& index) {
  std::optional<AffineForm> form = Resolved(index.form);
  if (!form) return false;
  CommonIndex resolved{std::move(*form), index.bits, index.whole};
  std::vector<const AffineTerm*> unknown;
  for (const AffineTerm& term : resolved.form.terms) {
    if (!AllKnown({0, {term}})) unknown.push_back(&term);
  }
  if (unknown.size() == 2) {
    if (LearnFromBox(resolved, *unknown[0], *unknown[1])) return true;
    if (LearnFromBox(resolved, *unknown[1], *unknown[0])) return true;
  }
  if (unknown.size() > 1) {
    std::optional<NumberAndQuotient> split = Split(unknown);
    return split && (LearnFromRemainder(resolved, *split) || LearnFromTransposed(resolved, *split));
  }
  if (unknown.size() != 1 || unknown[0]->monomial.degree != 1) return false;
  // A multiple of two to the `bits` that is a multiple of the coefficient takes as many steps.
  uint32_t zeros = TrailingZeros(unknown[0]->coefficient);
  Value atom = unknown[0]->monomial.atoms[0];
  if (zeros >= index.bits || forms_.SpanOf(atom) > index.bits - zeros) return false;
  known_.push_back(atom);
  return true;
}

bool Determination::IsStepped(Value index) const {
  if (!forms_.IsIndex(index)) return false;
  Inst owner = LoopOfIndex(function_, index);
  return IsParallel(function_[owner].op) || function_.IntegerConstant(function_.Operand(owner, 2)) == 1;
}

bool Determination::LearnFromBox(const CommonIndex& index, const AffineTerm& low, const AffineTerm& high) {
  if (!box_.is_box || !index.whole || low.monomial.degree != 1 || std::abs(low.coefficient) != 1)
    return false;
  Value x = low.monomial.atoms[0], y;
  for (Value atom : high.monomial.Atoms()) {
    if (IsStepped(atom) && !IsKnown(atom)) y = atom;
  }
  if (!IsStepped(x) || !y.Valid() || y == x) return false;
  if (high.monomial.Without(y).Has(y)) return false;
  AffineForm stride = CoefficientOf({high.monomial, std::abs(high.coefficient)}, y);
  // The rest is the same for one x and y, whatever they are.
  bool alone = index.form.constant == 0 && index.form.terms.size() == 2;
  for (const AffineTerm& term : index.form.terms) {
    for (Value atom : term.monomial.Atoms()) {
      bool is_place = (&term == &low && atom == x) || (&term == &high && atom == y);
      bool is_fixed = forms_.QuotientOf(atom) == nullptr &&
                      (structure_.DefinedOutside(atom, loop_) || (IsStepped(atom) && IsKnown(atom)));
      bool is_uniform = forms_.QuotientOf(atom) == nullptr && structure_.DefinedOutside(atom, loop_);
      if (!is_place && !(&term == &high || &term == &low ? is_uniform : is_fixed)) return false;
    }
  }
  for (const Limit& limit : box_.limits) {
    if (limit.index != x || !(limit.limit == stride)) continue;
    if (limit.bits != index.bits && !(limit.is_value && limit.bits < index.bits)) continue;
    bool below_half = limit.is_signed || limit.bits < index.bits || forms_.IsNonnegative(stride, limit.bits);
    bool from_zero = alone && box_.from_begin && low.coefficient > 0 && high.coefficient > 0 &&
                     BeginsAtZero(x) && BeginsAtZero(y);
    if (!below_half && !from_zero) continue;
    known_.push_back(x);
    known_.push_back(y);
    return true;
  }
  return false;
}

bool Determination::AllKnown(const AffineForm& form) const {
  return form.AllAtoms([&](Value atom) { return IsKnown(atom); });
}

std::optional<Determination::NumberAndQuotient> Determination::Split(
    std::span<const AffineTerm* const> unknown) const {
  NumberAndQuotient split;
  for (const AffineTerm* term : unknown) {
    Value factor;
    for (Value one : term->monomial.Atoms())
      if (!IsKnown(one)) factor = one;
    AffineForm rest = CoefficientOf(*term, factor);
    bool is_quotient = forms_.QuotientOf(factor) != nullptr;
    Value& atom = is_quotient ? split.p : split.i;
    AffineForm& sum = is_quotient ? split.of_p : split.of_i;
    std::optional<AffineForm> next = Add(sum, rest);
    if (!next || !AllKnown(rest) || (atom.Valid() && atom != factor)) return std::nullopt;
    atom = factor;
    sum = std::move(*next);
  }
  if (!split.i.Valid() || !split.p.Valid() || !IsStepped(split.i)) return std::nullopt;
  const QuotientForms::Quotient& quotient = *forms_.QuotientOf(split.p);
  if (!(quotient.x == FormOf(split.i)) || quotient.floors) return std::nullopt;
  return split;
}

bool Determination::LearnFromRemainder(const CommonIndex& index, const NumberAndQuotient& unknown) {
  const QuotientForms::Quotient& quotient = *forms_.QuotientOf(unknown.p);
  std::optional<AffineForm> negative = Add(AffineForm{}, quotient.radix, -1);
  if (!negative || !(unknown.of_p == *negative) || !(unknown.of_i == AffineForm{1, {}})) return false;
  if (quotient.bits != index.bits || !forms_.IsNonnegative(quotient.x, index.bits)) return false;
  for (Value other : known_) {
    const QuotientForms::Quotient* window = forms_.QuotientOf(other);
    if (window == nullptr || window->floors || window->bits != quotient.bits) continue;
    if (!(window->radix == quotient.radix) || window->is_signed != quotient.is_signed) continue;
    std::optional<AffineForm> apart = Add(window->x, quotient.x, -1);
    if (!apart || !AllKnown(*apart) || !AllKnown(window->radix)) continue;
    if (!forms_.IsNonnegative(window->x, window->bits)) continue;
    known_.push_back(unknown.i);
    return true;
  }
  return false;
}

bool Determination::LearnFromTransposed(const CommonIndex& index, const NumberAndQuotient& unknown) {
  const auto& [i, p, of_i, of_p] = unknown;
  if (!box_.is_box || !box_.from_begin || !index.whole || !BeginsAtZero(i)) return false;
  const QuotientForms::Quotient& quotient = *forms_.QuotientOf(p);
  if (quotient.bits != index.bits) return false;
  std::optional<AffineForm> product = Multiply(of_i, quotient.radix);
  std::optional<AffineForm> rest = product ? Add({1, {}}, *product, -1) : std::nullopt;
  if (!rest || !(*rest == of_p)) return false;
  // All else is the same in all iterations.
  bool alone = index.form.constant == 0;
  for (const AffineForm* form : std::initializer_list<const AffineForm*>{&index.form, &quotient.radix}) {
    for (const AffineTerm& term : form->terms) {
      for (Value atom : term.monomial.Atoms()) {
        bool is_uniform = forms_.QuotientOf(atom) == nullptr && structure_.DefinedOutside(atom, loop_);
        if (!is_uniform && atom != i && atom != p) return false;
      }
      alone = alone && (term.monomial.Has(i) || term.monomial.Has(p) || form != &index.form);
    }
  }
  bool without_sign = !quotient.is_signed || forms_.IsNonnegative(quotient.radix, quotient.bits);
  without_sign = without_sign && (alone || forms_.IsNonnegative(of_i, index.bits));
  for (const Limit& limit : box_.limits) {
    if (limit.index != i || limit.bits != index.bits) continue;
    bool fits = limit.limit == *product || (limit.limit.IsConstant() && product->IsConstant() &&
                                            of_i.constant > 0 && limit.limit.constant <= product->constant);
    if (!fits || !(without_sign || (quotient.is_signed && limit.is_signed))) continue;
    known_.push_back(i);
    return true;
  }
  return false;
}

bool Determination::BeginsAtZero(Value index) const {
  Inst owner = LoopOfIndex(function_, index);
  return function_[owner].op == Op::ParallelOver ||
         function_.IntegerConstant(function_.Operand(owner, 2 * function_[index].number)) == 0;
}

std::vector<Value> Determination::Of(std::span<const CommonIndex> indices, std::span<const Value> own) {
  std::vector<Value> common(own.begin(), own.end());
  products_.clear();
  wraps_ = 0;
  do {
    known_ = given_;
    for (bool learnt = true; learnt;) {
      learnt = false;
      for (const CommonIndex& index : indices) learnt = Learn(index) || learnt;
    }
    std::erase_if(common, [&](Value index) { return !IsKnown(index); });
    if (products_.size() > kMaxProducts) return {};
  } while (++wraps_ < 1u << products_.size());
  return common;
}

}  // namespace adc::analysis
