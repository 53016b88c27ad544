#pragma once
// The prints of kernels, by adrt/adrt_prints.h.

#include <adrt/adrt_prints.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace adc::tool {

/// The `print` statements of a kernel.
struct KernelPrints {
  KernelPrints() = default;
  KernelPrints(const KernelPrints&) = delete;
  KernelPrints& operator=(const KernelPrints&) = delete;
  ~KernelPrints() { ADRT_PRINTS_FREE(prints.statements); }

  adrt_prints prints = {};
  std::string buffer;          ///< the parameter that gets the records
  std::shared_ptr<char> json;  ///< of all kernels
};

/// By the name of the kernel, as the bundle's section PRNT has it. Empty where there is none, or where it is
/// not what it should be.
std::map<std::string, std::shared_ptr<const KernelPrints>> PrintsOf(const adrt_bundle* bundle);

struct PrintedLines {
  std::string text;  ///< in the order of the interpreter
  adrt_prints_seen seen;
};

PrintedLines LinesOf(const KernelPrints& prints, const std::vector<uint8_t>& buffer);

}  // namespace adc::tool
