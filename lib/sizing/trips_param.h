#pragma once
// The parameter that says how often an axis of a `parallel` runs where no expression does
// (counting/trip_kernel.h).

#include <string>

#include "ir/function.h"

namespace adc::sizing {

/// The parameter that says how often axis `axis` of `parallel` runs; invalid where its bounds do.
ir::Value TripsParam(const ir::Function& function, ir::Inst parallel, uint32_t axis);

/// The name of the trip kernel of the loop whose first parameter of this kind is `trips`.
std::string TripKernelName(const ir::Module& module, const ir::Function& kernel, ir::Value trips);

}  // namespace adc::sizing
