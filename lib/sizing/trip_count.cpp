#include "sizing/trip_count.h"

#include <limits>

#include "support/check.h"

namespace adc::sizing {

using ir::Op, ir::Value;

Value WideIndex(ir::Builder& builder, Value value) {
  if (std::optional<int64_t> constant = builder.function().IntegerConstant(value))
    return builder.I64(*constant);
  return builder.Cast(value, ir::kI64);
}

namespace {

/// Of bounds whose distance may leave an i64: it fits a u64. A count that no i64 holds becomes the largest
/// one.
Value WideTripCount(ir::Builder& builder, Value low, Value high, int64_t step) {
  constexpr ir::Type kUnsigned = ir::Type::Of(ir::Scalar::U64);
  Value most = builder.Int(kUnsigned, std::numeric_limits<int64_t>::max());
  Value count = builder.Bitcast(builder.Make(Op::Sub, {high, low}), kUnsigned);
  if (step != 1) count = builder.Make(Op::CeilDiv, {count, builder.Int(kUnsigned, step)});
  Value some = builder.Bitcast(builder.Make(Op::Min, {count, most}), ir::kI64);
  return builder.Make(Op::Select, {builder.Make(Op::Lt, {low, high}), some, builder.I64(0)});
}

}  // namespace

Value TripCount(ir::Builder& builder, Value low, Value high, Value step_value) {
  const ir::Function& function = builder.function();
  std::optional<int64_t> low_constant = function.IntegerConstant(low),
                         high_constant = function.IntegerConstant(high);
  std::optional<int64_t> step = function.IntegerConstant(step_value);
  ADC_CHECK(step && *step > 0, "the step of a for is a positive constant");
  if (low_constant && high_constant) {
    __int128 length = static_cast<__int128>(*high_constant) - *low_constant;
    return builder.I64(length <= 0 ? 0 : static_cast<int64_t>((length + *step - 1) / *step));
  }
  if (function.TypeOf(low) != ir::kI32 && (low_constant != 0 || *step != 1))
    return WideTripCount(builder, low, high, *step);
  Value length = WideIndex(builder, high);
  if (low_constant != 0) length = builder.Make(Op::Sub, {length, WideIndex(builder, low)});
  return *step == 1 ? length : builder.Make(Op::CeilDiv, {length, builder.I64(*step)});
}

}  // namespace adc::sizing
