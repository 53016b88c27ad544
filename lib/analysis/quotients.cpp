#include "analysis/quotients.h"

#include "analysis/loops.h"

namespace adc::analysis {

using ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

namespace {

/// Chains longer than this are cut: the value there becomes an atom.
constexpr uint32_t kMaxChain = 64;
/// A value that takes more remainders is an atom.
constexpr size_t kMaxRadices = 8;
/// Atoms from here on are quotients.
constexpr uint32_t kFirstQuotient = uint32_t{1} << 30;

bool IsWide(Scalar scalar) {
  return scalar == Scalar::I64 || scalar == Scalar::U64;
}

}  // namespace

bool QuotientForms::IsCounted(Value v) const {
  Type type = function_.TypeOf(v);
  return type.Is(Scalar::I32) || type.Is(Scalar::I64) || type.Is(Scalar::U32) || type.Is(Scalar::U64);
}

uint32_t QuotientForms::BitsOf(Value v) const {
  return IsWide(function_.TypeOf(v).scalar) ? affine_.widths().wide : affine_.widths().narrow;
}

bool QuotientForms::IsIndex(Value atom) const {
  return QuotientOf(atom) == nullptr && LoopOfIndex(function_, atom).Valid();
}

const QuotientForms::Quotient* QuotientForms::QuotientOf(Value atom) const {
  return atom.raw < kFirstQuotient ? nullptr : &quotients_[atom.raw - kFirstQuotient];
}

Value QuotientForms::AtomFor(const Quotient& quotient) {
  auto known = std::find(quotients_.begin(), quotients_.end(), quotient);
  auto number = static_cast<uint32_t>(known - quotients_.begin());
  if (known == quotients_.end()) quotients_.push_back(quotient);
  return Value(kFirstQuotient + number);
}

bool QuotientForms::IsNonnegative(Value atom) const {
  if (const Quotient* quotient = QuotientOf(atom)) {
    // An unsigned quotient is at most what is divided.
    return IsNonnegative(quotient->x, quotient->bits) &&
           (!quotient->is_signed || IsNonnegative(quotient->radix, quotient->bits));
  }
  if (Inst inst = function_.DefiningInst(atom); inst.Valid()) {
    if (function_[inst].op == Op::Shape) return true;
    if (function_[inst].op != Op::Max || !function_.TypeOf(atom).IsIndex()) return false;
    for (Value operand : function_.Operands(inst))
      if (function_.IntegerConstant(operand).value_or(-1) >= 0) return true;
    return false;
  }
  Inst loop = LoopOfIndex(function_, atom);
  if (!loop.Valid() || function_[loop].op == Op::ParallelOver) return loop.Valid();
  return function_.IntegerConstant(function_.Operand(loop, 2 * function_[atom].number)).value_or(-1) >= 0;
}

bool QuotientForms::IsNonnegative(const AffineForm& form, uint32_t bits) const {
  if (form.IsConstant()) return form.constant >= 0 && (bits > 62 || form.constant >> (bits - 1) == 0);
  if (Value atom = SingleAtom(form); atom.Valid()) return IsNonnegative(atom) && SpanOf(atom) < bits;
  // A remainder of a number that is not negative.
  for (const AffineTerm& term : form.terms) {
    for (Value atom : term.monomial.Atoms()) {
      const Quotient* quotient = QuotientOf(atom);
      if (quotient == nullptr || quotient->floors || quotient->bits != bits) continue;
      std::optional<AffineForm> product = Multiply(quotient->radix, FormOf(atom));
      std::optional<AffineForm> rest = product ? Add(quotient->x, *product, -1) : std::nullopt;
      if (rest && *rest == form && IsNonnegative(quotient->x, bits)) return true;
    }
  }
  return false;
}

uint32_t QuotientForms::SpanOf(Value atom) const {
  bool nonnegative = IsNonnegative(atom);
  if (const Quotient* quotient = QuotientOf(atom)) {
    uint32_t bits = quotient->bits;
    Value divided = SingleAtom(quotient->x);
    if (divided.Valid() && IsNonnegative(quotient->x, bits)) bits = std::min(bits, SpanOf(divided) + 1);
    return nonnegative ? bits - 1 : bits;
  }
  return nonnegative ? BitsOf(atom) - 1 : BitsOf(atom);
}

const QuotientForms::Form& QuotientForms::Of(Value v) {
  if (uint32_t known = known_.Get(v)) return forms_[known - 1];
  Compute(v, 0);
  return forms_[known_.Get(v) - 1];
}

AffineForm QuotientForms::Divided(Quotient quotient) {
  // Of numbers that are not negative all kinds of division agree.
  if (IsNonnegative(quotient.x, quotient.bits) && IsNonnegative(quotient.radix, quotient.bits)) {
    quotient.is_signed = true;
    quotient.floors = false;
  }
  if (quotient.radix == AffineForm{1, {}}) return quotient.x;
  return FormOf(AtomFor(quotient));
}

/// The form of `v`, a division of some kind; empty where it is of no use.
std::optional<AffineForm> QuotientForms::Divide(Value v, const AffineForm& x, const AffineForm& radix) {
  Inst inst = function_.DefiningInst(v);
  bool is_signed = !ir::IsUnsigned(function_.TypeOf(v).scalar);
  Op op = function_[inst].op;
  bool floors = is_signed && op != Op::Div && op != Op::Rem;
  AffineForm quotient = Divided({x, radix, BitsOf(v), is_signed, floors});
  if (op == Op::Div || op == Op::FloorDiv || op == Op::Shr) return quotient;
  std::optional<AffineForm> product = Multiply(radix, quotient);
  return product ? Add(x, *product, -1) : std::nullopt;
}

std::optional<AffineForm> QuotientForms::Combine(Value v, uint32_t depth, std::vector<Value>& radices) {
  Inst inst = function_.DefiningInst(v);
  Op op = function_[inst].op;
  auto operand = [&](uint32_t n) {
    Form form = Compute(function_.Operand(inst, n), depth + 1);
    for (Value radix : form.radices)
      if (std::find(radices.begin(), radices.end(), radix) == radices.end()) radices.push_back(radix);
    return form.form;
  };
  auto constant = [&](uint32_t n) { return function_.IntegerConstant(function_.Operand(inst, n)); };
  uint32_t most_shift = BitsOf(v) - 2;
  if (op == Op::Add) return Add(operand(0), operand(1));
  if (op == Op::Sub) return Add(operand(0), operand(1), -1);
  if (op == Op::Neg) return Add(AffineForm{}, operand(0), -1);
  if (op == Op::Mul) return Multiply(operand(0), operand(1));
  if (op == Op::Shl || op == Op::Shr) {
    std::optional<int64_t> amount = constant(1);
    if (!amount || *amount < 0 || *amount > most_shift || *amount > 60) return std::nullopt;
    AffineForm power{int64_t{1} << *amount, {}};
    return op == Op::Shl ? Multiply(operand(0), power) : Divide(v, operand(0), power);
  }
  if (op == Op::And) {
    uint32_t place = constant(0) ? 0 : 1;
    int64_t mask = constant(place).value_or(0);
    bool low_bits = mask > 0 && (mask & (mask + 1)) == 0 && mask >> most_shift == 0;
    return low_bits ? Divide(v, operand(1 - place), {mask + 1, {}}) : std::nullopt;
  }
  bool remains = op == Op::Rem || op == Op::Mod;
  if (op == Op::Div || op == Op::FloorDiv || remains) {
    AffineForm radix = operand(1);
    if (radix == AffineForm{}) return std::nullopt;
    if (remains && !radix.IsConstant()) radices.push_back(function_.Operand(inst, 1));
    return Divide(v, operand(0), radix);
  }
  if (op != Op::Cast) return std::nullopt;
  Value from = function_.Operand(inst, 0);
  if (!IsCounted(from)) return std::nullopt;
  AffineForm form = operand(0);
  // A widened polynomial is one where it is a number, or one value of the same sign.
  bool keeps = BitsOf(from) >= BitsOf(v) || IsNonnegative(form, BitsOf(from));
  Value atom = SingleAtom(form);
  bool plain = atom.Valid() && QuotientOf(atom) == nullptr;
  keeps = keeps || (plain && function_.TypeOf(atom) == function_.TypeOf(from));
  return keeps ? std::optional(form) : std::nullopt;
}

QuotientForms::Form QuotientForms::Compute(Value v, uint32_t depth) {
  if (uint32_t known = known_.Get(v)) return forms_[known - 1];
  std::optional<AffineForm> form;
  std::vector<Value> radices;
  if (std::optional<int64_t> constant = function_.IntegerConstant(v)) {
    constexpr int64_t kLimit = int64_t{1} << 61;
    if (*constant > -kLimit && *constant < kLimit) form = AffineForm{*constant, {}};
  } else if (IsCounted(v) && depth < kMaxChain && function_.DefiningInst(v).Valid() &&
             function_[function_.DefiningInst(v)].result_count == 1) {
    form = Combine(v, depth, radices);
  }
  if (!form || radices.size() > kMaxRadices) {
    radices.clear();
    form = FormOf(affine_.AtomOf(v));
  }
  forms_.push_back({std::move(*form), std::move(radices)});
  known_[v] = static_cast<uint32_t>(forms_.size());
  return forms_.back();
}

}  // namespace adc::analysis
