#pragma once
// The functions of exact_sums.ir, for accumulators with any number of axes.
//
// Guarantees: bodies without calls, simplified, whose instructions carry no places, so that they may be
// copied into another module (Paste of exact_sums.cpp gives them the place of the sum).

#include <array>
#include <memory>
#include <string_view>

#include "ir/module.h"

namespace adc::autodiff {

/// The text of exact_sums.ir, which CMake embeds.
extern const char* const kExactSumsText;

/// Words of an accumulator of floats of `scalar`, without the word of flags after them.
constexpr int64_t ExactWords(ir::Scalar scalar) {
  return scalar == ir::Scalar::F64 ? 68 : 11;
}

class ExactFunctions {
 public:
  /// The function `name` over cells with `axes` indices (1 to 7), all of them `i64`. It lives as long as
  /// this.
  const ir::Function& Get(std::string_view name, uint32_t axes);

 private:
  static constexpr uint32_t kMostAxes = 7;
  std::array<std::unique_ptr<ir::Module>, kMostAxes + 1> modules_;
};

}  // namespace adc::autodiff
