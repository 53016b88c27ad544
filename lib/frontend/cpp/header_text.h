#pragma once
// include/adc/kernel.hpp and what it includes, so that every file finds those that this front end was built
// with.

namespace adc::frontend {

struct KernelHeader {
  const char* name;  ///< in the folder adc
  const char* text;
};
extern const KernelHeader kKernelHeaders[2];

}  // namespace adc::frontend
