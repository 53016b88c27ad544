#pragma once
// Integer values as polynomials: a constant plus coefficients times products of a few values that are not
// taken apart further (parameters, shapes, loop indices, loaded integers).
//
// Sums, differences and products of i32 and i64 are followed through, and widening from one to the other;
// everything else is an atom. Arithmetic wraps, so that value and polynomial agree modulo 2^64 where the
// value is computed without arithmetic of 32 bits, and modulo 2^32 elsewhere (AffineForms::IsNarrow).

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "ir/function.h"

namespace adc::analysis {

/// A product of up to four atoms in ascending order; none: the constant 1.
struct Monomial {
  static constexpr uint32_t kMaxDegree = 4;
  std::array<ir::Value, kMaxDegree> atoms{};  ///< unused places are invalid
  uint8_t degree = 0;

  friend bool operator==(const Monomial&, const Monomial&) = default;
  friend auto operator<=>(const Monomial&, const Monomial&) = default;
  std::span<const ir::Value> Atoms() const { return {atoms.data(), degree}; }
  bool Has(ir::Value atom) const;
  /// This monomial with one factor `atom` taken out; requires Has(atom).
  Monomial Without(ir::Value atom) const;
};

struct AffineTerm {
  Monomial monomial;  ///< never the constant 1
  int64_t coefficient = 0;
  friend bool operator==(const AffineTerm&, const AffineTerm&) = default;
};

/// constant + sum of coefficient * monomial, terms in ascending order of their monomials, no zero terms.
struct AffineForm {
  static constexpr uint32_t kMaxTerms = 16;
  int64_t constant = 0;
  std::vector<AffineTerm> terms;

  friend bool operator==(const AffineForm&, const AffineForm&) = default;
  bool IsConstant() const { return terms.empty(); }
  /// Whether `holds` of each atom of each term.
  template <class Holds>
  bool AllAtoms(const Holds& holds) const {
    return std::ranges::all_of(
        terms, [&](const AffineTerm& term) { return std::ranges::all_of(term.monomial.Atoms(), holds); });
  }
};

/// A polynomial that is one atom.
AffineForm FormOf(ir::Value atom);
/// The one atom that a polynomial is; invalid where it is more.
ir::Value SingleAtom(const AffineForm& form);
/// What a term, which has `atom` as a factor, multiplies it by.
AffineForm CoefficientOf(const AffineTerm& term, ir::Value atom);

/// Sums and products; empty where the result has too many terms, too high a degree, or coefficients that
/// leave 62 bits.
std::optional<AffineForm> Add(const AffineForm& a, const AffineForm& b, int64_t scale_b = 1);
std::optional<AffineForm> Multiply(const AffineForm& a, const AffineForm& b);

/// How many bits the arithmetic of i32 and of i64 has. Tests make them few, so that every wrapped value can
/// be tried.
struct IndexWidths {
  uint32_t narrow = 32, wide = 64;
};

/// Forms of the integer values of one function, made on demand and cached. Stale after the function is
/// edited, but instructions may be appended (their values get forms of their own).
class AffineForms {
 public:
  explicit AffineForms(const ir::Function& function, IndexWidths widths = {})
      : function_(&function), widths_(widths) {}
  /// The form of an integer value. A value that cannot be taken apart is its own atom.
  const AffineForm& Of(ir::Value v);
  /// True when the form says the value modulo 2^32 alone: the value is computed with arithmetic of 32 bits,
  /// which may wrap.
  bool IsNarrow(ir::Value v);
  const IndexWidths& widths() const { return widths_; }
  /// Bits of an index, or of the arithmetic that makes it.
  uint32_t BitsOf(ir::Value v) const {
    return function_->TypeOf(v).scalar == ir::Scalar::I64 ? widths_.wide : widths_.narrow;
  }
  /// The one value that stands for all equal atoms: a repeated `shape %x, 0` is one atom.
  ir::Value AtomOf(ir::Value v);
  const ir::Function& function() const { return *function_; }

 private:
  AffineForm Compute(ir::Value v, uint32_t depth);

  const ir::Function* function_;
  IndexWidths widths_;
  IndexSet<ir::Value> narrow_;
  SideTable<ir::Value, uint32_t> known_;  ///< position in forms_ plus one
  std::deque<AffineForm> forms_;
  std::unordered_map<uint64_t, ir::Value> shapes_;
};

}  // namespace adc::analysis
