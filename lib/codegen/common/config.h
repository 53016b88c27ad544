#pragma once
// How code is generated, beyond what the target says.

#include <cstdint>

namespace adc::codegen {

enum class FloatMode : uint8_t {
  Strict,    ///< every operation rounds once, in the order written
  Contract,  ///< a product and a sum may become one fma
  Fast,      ///< sums may be reordered, functions may be approximate
};

}  // namespace adc::codegen
