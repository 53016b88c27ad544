#pragma once
// A file compiled in memory.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace adc::test {

/// The bundle of `path` for one target. `bounds_record`: with kernels that record bounds.
inline std::vector<uint8_t> CompiledFor(const std::string& path, const std::string& target,
                                        bool bounds_record = false) {
  driver::CompileOptions options;
  options.bounds_record = bounds_record;
  options.inputs = {path};
  options.targets = {target};
  driver::Product product;
  REQUIRE(driver::CompileInputs(options.inputs, options, &product) == driver::kExitOk);
  return product.bytes;
}

}  // namespace adc::test
