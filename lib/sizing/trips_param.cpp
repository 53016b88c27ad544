#include "sizing/trips_param.h"

#include "ir/module.h"

namespace adc::sizing {

using ir::Function, ir::Inst, ir::Op, ir::Value;

std::string TripKernelName(const ir::Module& module, const Function& kernel, Value trips) {
  return std::string(module.Text(kernel.name)) + "." + std::string(module.Text(kernel[trips].name));
}

Value TripsParam(const Function& function, Inst parallel, uint32_t axis) {
  if (function[parallel].op != Op::Parallel) return {};
  Value low = function.Operand(parallel, 2 * axis), high = function.Operand(parallel, 2 * axis + 1);
  auto narrow = [&](Value value) {
    Inst inst = function.DefiningInst(value);
    if (inst.Valid() && function[inst].op == Op::Cast) {
      value = function.Operand(inst, 0);
      inst = function.DefiningInst(value);
    }
    if (inst.Valid() && function[inst].op == Op::Select) value = function.Operand(inst, 1);
    const ir::ValueData& data = function[value];
    bool is_trips = function.IsParameter(value) && function.params[data.number].role == ir::ParamRole::Trips;
    return is_trips ? value : Value();
  };
  if (function.IntegerConstant(low) == 0) return narrow(high);
  Inst sum = function.DefiningInst(high);
  if (!sum.Valid() || function[sum].op != Op::Add) return {};
  for (uint32_t n : {0u, 1u}) {
    if (function.Operand(sum, n) == low) return narrow(function.Operand(sum, 1 - n));
  }
  return {};
}

}  // namespace adc::sizing
