#pragma once
// A file compiled as `adc` compiles it.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "compile.h"

namespace adc::test {

/// The bundle of `path` for one target. `bounds_record`: with kernels that record bounds.
inline std::vector<uint8_t> CompiledFor(const std::string& path, const std::string& target,
                                        bool bounds_record = false) {
  driver::CompileOptions options;
  options.bounds_record = bounds_record;
  options.inputs = {path};
  options.targets = {target};
  std::vector<uint8_t> bytes;
  INFO(path);
  REQUIRE(Compile(options, &bytes));
  return bytes;
}

}  // namespace adc::test
