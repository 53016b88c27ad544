#pragma once
// How code is generated, beyond what the target says.

#include <cstdint>

namespace adc::codegen {

enum class FloatMode : uint8_t {
  Strict,    ///< every operation rounds once, in the order written
  Contract,  ///< a product and a sum may become one fma
  Fast,      ///< sums may be reordered, functions may be approximate
};

struct BodyConfig {
  FloatMode float_mode = FloatMode::Contract;
  bool check_bounds = false;  ///< an access out of range is left out and reported
  bool assertions = false;    ///< `assert` is compiled
};

}  // namespace adc::codegen
