#pragma once
// A file compiled in memory.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "driver/compile.h"

namespace adc::test {

/// The bundle of `path` for one target.
inline std::vector<uint8_t> CompiledFor(const std::string& path, const std::string& target) {
  driver::CompileOptions options;
  options.inputs = {path};
  options.targets = {target};
  driver::Product product;
  REQUIRE(driver::CompileInputs(options.inputs, options, &product) == driver::kExitOk);
  return product.bytes;
}

}  // namespace adc::test
