#pragma once
// Indices as numbers in a mixed radix: the facts that a difference of two indices gives about the iterations
// that they come from. access.cpp says when the difference of two accesses is one of these.

#include <vector>

#include "analysis/affine.h"

namespace adc::analysis {

__extension__ using Wide = __int128;

/// One index of a loop inside a difference: each step of it is worth `stride`.
struct Digit {
  ir::Value index;
  AffineForm stride, lo;
  AffineForm extent;        ///< how many values: its bound less `lo`
  uint32_t bits = 32;       ///< of the index
  bool exact = false;       ///< the loop has as many values as `extent` says, or none
  bool congruent = false;   ///< the same modulo two to the `bits`
  bool contiguous = false;  ///< every value between the first one and the last
  Wide most = 0;            ///< never more values
  bool in_a = false, in_b = false;
};

/// a's index less b's: constant + sum of stride * (difference of the values of a digit).
struct Difference {
  int64_t constant = 0;
  std::vector<Digit> digits;
  bool a_holds_b = true;  ///< b's digits take no values that a's do not take
  bool b_holds_a = true;
};

/// How a difference relates to the difference of the two indices in a running kernel.
struct IndexWord {
  uint32_t bits = 32;  ///< they agree modulo two to that
  bool whole = true;   ///< an index that is in range is known from these bits
};

/// Facts about the iterations in which both accesses are executed.
struct Executed {
  /// At every value of the digits of the one that holds the other (of both where neither does), so that the
  /// indices are in range everywhere; but for the values of `gated`, of which there is one interval.
  bool everywhere = false;
  std::vector<ir::Value> gated;
};

/// The digits among `own` that must be equal in both accesses where their indices are.
std::vector<ir::Value> EqualDigits(const Difference& difference, IndexWord word, const Executed& executed,
                                   std::span<const ir::Value> own, const AffineForms& forms);

/// The least n > 0 with constant + n * step = 0 modulo two to the `bits`; empty where there is none.
std::optional<Wide> FirstMeeting(int64_t constant, int64_t step, uint32_t bits);

/// Never exceeded by the magnitude of the polynomial's value over the integers.
Wide MagnitudeOf(const AffineForm& form, const AffineForms& forms);

bool AllNegative(const AffineForm& form);

}  // namespace adc::analysis
