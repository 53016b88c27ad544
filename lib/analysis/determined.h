#pragma once
// The indices of loops that are known from the indices of an access: two iterations that touch one cell have
// them in common.

#include "analysis/quotients.h"
#include "analysis/structure.h"

namespace adc::analysis {

/// An index of two accesses, which is the same function of the iteration for both.
struct CommonIndex {
  AffineForm form;
  uint32_t bits = 32;  ///< two iterations with one cell have equal forms modulo two to that
  bool whole = true;   ///< an index that is in range is at least 0 and below two to the `bits - 1`
};

/// value < limit, wherever an access is executed.
struct Limit {
  ir::Value index;  ///< of a loop, and never negative
  AffineForm limit;
  uint32_t bits = 32;
  bool is_signed = true;
  bool is_value = false;  ///< the limit is one value, and that as a number
};

/// Facts about the iterations in which one of two accesses is executed: the other is executed nowhere else.
struct Box {
  /// Executed for all combinations of values of indices of loops that lie in one interval each.
  bool is_box = false;
  /// The interval of each index begins where its loop begins.
  bool from_begin = false;
  std::vector<Limit> limits;
};

class Determination {
 public:
  /// `known`: indices of loops that are known already.
  Determination(const Structure& structure, QuotientForms& forms, ir::Inst loop, Box box,
                std::span<const ir::Value> known);

  /// The indices among `own` that two iterations with equal `indices` have in common.
  std::vector<ir::Value> Of(std::span<const CommonIndex> indices, std::span<const ir::Value> own);

 private:
  bool IsKnown(ir::Value atom) const;
  std::optional<AffineForm> Resolved(const AffineForm& form);
  std::optional<AffineForm> ResolvedAtom(ir::Value atom);
  /// True when anything became known.
  bool Learn(const CommonIndex& index);
  bool LearnFromBox(const CommonIndex& index, const AffineTerm& low, const AffineTerm& high);
  /// The unknown values of an index, where these are i, of a loop, and a quotient p of i.
  struct NumberAndQuotient {
    ir::Value i, p;
    AffineForm of_i, of_p;  ///< their coefficients
  };
  std::optional<NumberAndQuotient> Split(std::span<const AffineTerm* const> unknown) const;
  /// Of a remainder, where another quotient by the same radix is known.
  bool LearnFromRemainder(const CommonIndex& index, const NumberAndQuotient& unknown);
  /// Of an index whose digits are put together in another order.
  bool LearnFromTransposed(const CommonIndex& index, const NumberAndQuotient& unknown);
  bool AllKnown(const AffineForm& form) const;
  /// An index of a loop that takes all values between its first one and its last.
  bool IsStepped(ir::Value index) const;
  bool BeginsAtZero(ir::Value index) const;

  const Structure& structure_;
  const ir::Function& function_;
  QuotientForms& forms_;
  ir::Inst loop_;
  Box box_;
  std::vector<ir::Value> given_, known_;
  /// Quotients of quotients whose radices may have a product that wraps.
  std::vector<QuotientForms::Quotient> products_;
  uint32_t wraps_ = 0;  ///< of these, as bits
};

}  // namespace adc::analysis
