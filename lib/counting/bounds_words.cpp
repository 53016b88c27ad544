#include "counting/bounds_words.h"

#include "artifact/bounds_record.h"
#include "sizing/trip_count.h"

namespace adc::counting {

using ir::Op, ir::Value;
using sizing::TripCount, sizing::WideIndex;

Value BoundsBuilder::AsWord(Value index) {
  return Bitcast(WideIndex(*this, index), kRecordWord);
}

Value BoundsBuilder::Trips(Value low, Value high, Value step) {
  Value trips = TripCount(*this, low, high, step);
  return Bitcast(Two(Op::Max, trips, I64(0)), kRecordWord);
}

Value BoundsBuilder::Into(Value hash, Value word) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return Two(Op::Mul, Two(Op::Add, Two(Op::Add, hash, word), Word(1)), Word(kOdd));
}

Value BoundsBuilder::Spread(Value hash) {
  constexpr uint64_t kOdd = 0xD6E8FEB86659FD93;
  for (int round = 0; round < 2; ++round)
    hash = Two(Op::Mul, Two(Op::Xor, hash, Two(Op::Shr, hash, Word(32))), Word(kOdd));
  return Two(Op::Xor, hash, Two(Op::Shr, hash, Word(32)));
}

void BoundsBuilder::AddTo(uint32_t element, Value word) {
  Value index = I64(element);
  Access(Op::AtomicAdd, sums_, {&index, 1}, {&word, 1});
}

void BoundsBuilder::AddCount(uint32_t loop, Value hash, Value trips) {
  uint32_t element = ADRT_BOUNDS_LOOPS + ADRT_BOUNDS_LOOP_SIZE * loop;
  AddTo(element, hash);
  AddTo(element + 1, trips);
}

}  // namespace adc::counting
