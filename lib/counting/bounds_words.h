#pragma once
// The words of a bounds record as IR: hashes of the bounds of loops, and the sums that they are added to.

#include "ir/builder.h"

namespace adc::counting {

inline constexpr ir::Type kRecordWord = ir::Type::Of(ir::Scalar::U64);

/// Writes a bounds kernel (bounds_record.h).
class BoundsBuilder : public ir::Builder {
 public:
  /// `sums` is the parameter that takes the counts.
  BoundsBuilder(ir::Module& module, ir::Function& function, ir::Block block, ir::Value sums)
      : Builder(module, function, block), sums_(sums) {}

  ir::Value Word(uint64_t bits) { return Bits(kRecordWord, bits); }
  /// An i32 or i64.
  ir::Value AsWord(ir::Value index);
  ir::Value Two(ir::Op op, ir::Value left, ir::Value right) { return Make(op, {left, right}); }
  /// How often a loop with these bounds runs, as a word.
  ir::Value Trips(ir::Value low, ir::Value high, ir::Value step);

  /// One more thing into a hash.
  ir::Value Into(ir::Value hash, ir::Value word);
  /// Spreads every bit of a hash over all of them, so that sums of hashes say as much as hashes.
  ir::Value Spread(ir::Value hash);

  /// Adds to an element of the record, whatever other iterations add to it.
  void AddTo(uint32_t element, ir::Value word);
  /// Adds the counts of one iteration, or of the launch, for a loop.
  void AddCount(uint32_t loop, ir::Value hash, ir::Value trips);

 private:
  ir::Value sums_;
};

}  // namespace adc::counting
