#pragma once
// The last task of a bounds kernel: it compares the counts of this run with the recorded ones.

#include "counting/bounds_words.h"

namespace adc::counting {

/// The parameters of a bounds kernel that are not its primal's.
struct BoundsParameters {
  ir::Value record, status, sums;
};

/// Appends the task. It writes the status block where the record is of another tag than `tag`, or where one
/// of `loops` loops differs: the first that does is reported.
void AddBoundsCheck(BoundsBuilder& builder, const BoundsParameters& parameters, uint64_t tag, size_t loops);

}  // namespace adc::counting
