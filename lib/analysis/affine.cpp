#include "analysis/affine.h"

namespace adc::analysis {

using ir::Inst, ir::Op, ir::Type, ir::Value;

namespace {

constexpr int64_t kLimit = int64_t{1} << 62;
/// Chains of additions longer than this are cut: the value there becomes an atom.
constexpr uint32_t kMaxChain = 64;

bool Fits(int64_t value) {
  return value > -kLimit && value < kLimit;
}

std::optional<int64_t> Product(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product) || !Fits(product)) return std::nullopt;
  return product;
}

std::optional<Monomial> Product(const Monomial& a, const Monomial& b) {
  if (a.degree + b.degree > Monomial::kMaxDegree) return std::nullopt;
  Monomial product;
  product.degree = static_cast<uint8_t>(a.degree + b.degree);
  std::merge(a.atoms.begin(), a.atoms.begin() + a.degree, b.atoms.begin(), b.atoms.begin() + b.degree,
             product.atoms.begin());
  return product;
}

}  // namespace

bool Monomial::Has(Value atom) const {
  return std::ranges::find(Atoms(), atom) != Atoms().end();
}

Monomial Monomial::Without(Value atom) const {
  Monomial rest;
  bool taken = false;
  for (uint32_t n = 0; n < degree; ++n) {
    if (!taken && atoms[n] == atom) {
      taken = true;
    } else {
      rest.atoms[rest.degree++] = atoms[n];
    }
  }
  return rest;
}

AffineForm FormOf(Value atom) {
  Monomial monomial{.atoms = {atom}, .degree = 1};
  return {0, {{monomial, 1}}};
}

Value SingleAtom(const AffineForm& form) {
  bool single = form.constant == 0 && form.terms.size() == 1 && form.terms[0].coefficient == 1 &&
                form.terms[0].monomial.degree == 1;
  return single ? form.terms[0].monomial.atoms[0] : Value();
}

AffineForm CoefficientOf(const AffineTerm& term, Value atom) {
  if (term.monomial.degree == 1) return {term.coefficient, {}};
  return {0, {{term.monomial.Without(atom), term.coefficient}}};
}

std::optional<AffineForm> Add(const AffineForm& a, const AffineForm& b, int64_t scale_b) {
  AffineForm sum;
  std::optional<int64_t> scaled = Product(b.constant, scale_b);
  if (!scaled || !Fits(a.constant + *scaled)) return std::nullopt;
  sum.constant = a.constant + *scaled;
  size_t m = 0, n = 0;
  while (m < a.terms.size() || n < b.terms.size()) {
    bool take_a = n == b.terms.size() || (m < a.terms.size() && a.terms[m].monomial <= b.terms[n].monomial);
    bool take_b = m == a.terms.size() || (n < b.terms.size() && b.terms[n].monomial <= a.terms[m].monomial);
    AffineTerm term{take_a ? a.terms[m].monomial : b.terms[n].monomial, take_a ? a.terms[m].coefficient : 0};
    if (take_b) {
      std::optional<int64_t> coefficient = Product(b.terms[n].coefficient, scale_b);
      if (!coefficient || !Fits(term.coefficient + *coefficient)) return std::nullopt;
      term.coefficient += *coefficient;
    }
    if (term.coefficient != 0) sum.terms.push_back(term);
    m += take_a ? 1 : 0;
    n += take_b ? 1 : 0;
  }
  if (sum.terms.size() > AffineForm::kMaxTerms) return std::nullopt;
  return sum;
}

std::optional<AffineForm> Multiply(const AffineForm& a, const AffineForm& b) {
  if (a.terms.size() * b.terms.size() > AffineForm::kMaxTerms) return std::nullopt;
  std::optional<int64_t> constant = Product(a.constant, b.constant);
  if (!constant) return std::nullopt;
  AffineForm product;
  product.constant = *constant;
  auto add_scaled = [&](const AffineForm& form, int64_t scale) {
    AffineForm terms_only = form;
    terms_only.constant = 0;
    std::optional<AffineForm> sum = Add(product, terms_only, scale);
    if (sum) product = std::move(*sum);
    return sum.has_value();
  };
  if (b.constant != 0 && !add_scaled(a, b.constant)) return std::nullopt;
  if (a.constant != 0 && !add_scaled(b, a.constant)) return std::nullopt;
  for (const AffineTerm& left : a.terms) {
    for (const AffineTerm& right : b.terms) {
      std::optional<Monomial> monomial = Product(left.monomial, right.monomial);
      std::optional<int64_t> coefficient = Product(left.coefficient, right.coefficient);
      if (!monomial || !coefficient) return std::nullopt;
      AffineForm term;
      term.terms.push_back({*monomial, *coefficient});
      if (!add_scaled(term, 1)) return std::nullopt;
    }
  }
  return product;
}

const AffineForm& AffineForms::Of(Value v) {
  if (uint32_t known = known_.Get(v)) return forms_[known - 1];
  AffineForm form = Compute(v, 0);
  if (uint32_t known = known_.Get(v)) return forms_[known - 1];
  forms_.push_back(std::move(form));
  known_[v] = static_cast<uint32_t>(forms_.size());
  return forms_.back();
}

Value AffineForms::AtomOf(Value v) {
  Inst inst = function_->DefiningInst(v);
  if (!inst.Valid() || (*function_)[inst].op != Op::Shape) return v;
  uint64_t key = (uint64_t{function_->Operand(inst, 0).raw} << 32) | (*function_)[inst].attr;
  return shapes_.try_emplace(key, v).first->second;
}

bool AffineForms::IsNarrow(Value v) {
  Of(v);
  return narrow_.Has(v);
}

AffineForm AffineForms::Compute(Value v, uint32_t depth) {
  if (uint32_t known = known_.Get(v)) return forms_[known - 1];
  if (std::optional<int64_t> constant = function_->IntegerConstant(v)) {
    if (Fits(*constant)) return {*constant, {}};
    return FormOf(v);
  }
  Inst inst = function_->DefiningInst(v);
  std::optional<AffineForm> form;
  // Narrow and unsigned integers wrap in earnest (hashes, packed fields): they stay atoms.
  bool index_arithmetic = function_->TypeOf(v).IsIndex();
  if (inst.Valid() && index_arithmetic && depth < kMaxChain && (*function_)[inst].result_count == 1) {
    Op op = (*function_)[inst].op;
    auto operand = [&](uint32_t n) { return Compute(function_->Operand(inst, n), depth + 1); };
    if (op == Op::Add) {
      form = Add(operand(0), operand(1));
    } else if (op == Op::Sub) {
      form = Add(operand(0), operand(1), -1);
    } else if (op == Op::Neg) {
      form = Add(AffineForm{}, operand(0), -1);
    } else if (op == Op::Mul) {
      form = Multiply(operand(0), operand(1));
    } else if (op == Op::Shl) {
      std::optional<int64_t> amount = function_->IntegerConstant(function_->Operand(inst, 1));
      if (amount && *amount >= 0 && *amount < 31)
        form = Multiply(operand(0), AffineForm{int64_t{1} << *amount, {}});
    } else if (op == Op::Cast) {
      Type from = function_->TypeOf(function_->Operand(inst, 0));
      if (from.IsIndex() && BitWidth(from.scalar) <= BitWidth(function_->TypeOf(v).scalar)) form = operand(0);
    }
  }
  if (form) {
    bool narrow = false;
    for (Value operand : function_->Operands(inst)) narrow = narrow || narrow_.Has(operand);
    // Arithmetic of few bits that comes out as one number or one atom of as many bits has not left them.
    if ((*function_)[inst].op != Op::Cast && BitsOf(v) == widths_.narrow) {
      int64_t limit = int64_t{1} << (widths_.narrow - 1);
      bool is_number = form->IsConstant() && form->constant >= -limit && form->constant < limit;
      Value atom = SingleAtom(*form);
      bool is_atom = atom.Valid() && BitsOf(atom) == widths_.narrow;
      narrow = !is_number && !is_atom;
    }
    if (narrow) narrow_.Insert(v);
  }
  if (!form) form = FormOf(AtomOf(v));
  forms_.push_back(*form);
  known_[v] = static_cast<uint32_t>(forms_.size());
  return std::move(*form);
}

}  // namespace adc::analysis
