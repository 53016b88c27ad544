#include "adstack/trip_count.h"

#include "support/check.h"

namespace adc::adstack {

using ir::Op;
using ir::Value;

Value WideIndex(ir::Builder& builder, Value value) {
  if (std::optional<int64_t> constant = builder.function().IntegerConstant(value))
    return builder.I64(*constant);
  return builder.Cast(value, ir::kI64);
}

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
  Value length = WideIndex(builder, high);
  if (low_constant != 0) length = builder.Make(Op::Sub, {length, WideIndex(builder, low)});
  if (*step == 1) return length;
  return builder.Make(Op::Div, {builder.Make(Op::Add, {length, builder.I64(*step - 1)}), builder.I64(*step)});
}

}  // namespace adc::adstack
