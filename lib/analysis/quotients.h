#pragma once
// Integer values as polynomials over values that are not taken apart further and *quotients* of polynomials:
//
//   %p = div %i, 3          Q, a quotient of i and 3
//   %q = rem %i, 3          i - 3*Q
//   %r = add (mul %p, 3), %q        i
//
// A number that is taken apart into digits and put together again is the number, whatever the spelling: div
// and rem, floordiv and mod, shifts and masks, a difference with a product. Unlike AffineForms this follows
// unsigned integers, and a polynomial equals its value modulo two to the bits of that value.

#include "analysis/affine.h"

namespace adc::analysis {

class QuotientForms {
 public:
  /// `affine`: of the same function, which says what values are equal.
  explicit QuotientForms(AffineForms& affine) : affine_(affine), function_(affine.function()) {}

  struct Form {
    AffineForm form;
    /// The form is right where these are not zero: radices of remainders (a remainder by 0 is 0).
    std::vector<ir::Value> radices;
  };
  /// A quotient of two values of `bits` bits: floor(x / radix) where `floors`, and rounded to zero elsewhere.
  struct Quotient {
    AffineForm x, radix;
    uint32_t bits = 32;
    bool is_signed = true, floors = false;
    friend bool operator==(const Quotient&, const Quotient&) = default;
  };

  const Form& Of(ir::Value v);
  /// An integer of as many bits as indices have.
  bool IsCounted(ir::Value v) const;
  uint32_t BitsOf(ir::Value v) const;
  /// The index of a loop.
  bool IsIndex(ir::Value atom) const;
  /// The quotient that an atom stands for; null for a value of the function.
  const Quotient* QuotientOf(ir::Value atom) const;
  /// A quotient as a polynomial.
  AffineForm Divided(Quotient quotient);
  /// Never negative, so that it is the same number as a signed and as an unsigned one.
  bool IsNonnegative(ir::Value atom) const;
  bool IsNonnegative(const AffineForm& form, uint32_t bits) const;
  /// Two to this is more than the difference of any two of its values.
  uint32_t SpanOf(ir::Value atom) const;

 private:
  ir::Value AtomFor(const Quotient& quotient);
  Form Compute(ir::Value v, uint32_t depth);
  std::optional<AffineForm> Combine(ir::Value v, uint32_t depth, std::vector<ir::Value>& radices);
  std::optional<AffineForm> Divide(ir::Value v, const AffineForm& x, const AffineForm& radix);

  AffineForms& affine_;
  const ir::Function& function_;
  SideTable<ir::Value, uint32_t> known_;  ///< position in forms_ plus one
  std::deque<Form> forms_;
  std::deque<Quotient> quotients_;
};

}  // namespace adc::analysis
