#pragma once
// include/adc/kernel.hpp, so that every file finds the one that this front end was built with.

namespace adc::frontend {

extern const char kKernelHeader[];

}  // namespace adc::frontend
