#include <catch2/catch.hpp>
#include <limits>
#include <vector>

#include "artifact/compiler.h"

using namespace adc::artifact;

namespace {

// Each compiler uses its own builtins; those without them get the same from the language alone.
template <class T>
void CompareAll() {
  using Limits = std::numeric_limits<T>;
  std::vector<T> values;
  for (T base :
       {T{0}, Limits::min(), Limits::max(), static_cast<T>(Limits::max() / 2), static_cast<T>(1u << 30)}) {
    for (int step = -3; step <= 3; ++step) values.push_back(static_cast<T>(base + static_cast<T>(step)));
  }
  for (T left : values) {
    for (T right : values) {
      T ours = 0, theirs = 0;
      REQUIRE(portable::AddOverflows(left, right, &ours) == AddOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
      REQUIRE(portable::SubtractOverflows(left, right, &ours) == SubtractOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
      REQUIRE(portable::MultiplyOverflows(left, right, &ours) == MultiplyOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
    }
  }
}

}  // namespace

TEST_CASE("Overflow is told the same with a compiler's builtins and without") {
  CompareAll<uint32_t>();
  CompareAll<uint64_t>();
}

TEST_CASE("Overflow of signed numbers is told the same with a compiler's builtins and without") {
  using Limits = std::numeric_limits<int64_t>;
  const std::vector<int64_t> values = {
      Limits::min(), Limits::min() + 1, -4294967297,       -2,           -1, 0, 1, 2,
      3037000500,    4294967296,        Limits::max() - 1, Limits::max()};
  for (int64_t left : values) {
    for (int64_t right : values) {
      int64_t ours = 0, theirs = 0;
      REQUIRE(portable::AddOverflows(left, right, &ours) == AddOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
      REQUIRE(portable::SubtractOverflows(left, right, &ours) == SubtractOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
      REQUIRE(portable::MultiplyOverflows(left, right, &ours) == MultiplyOverflows(left, right, &theirs));
      REQUIRE(ours == theirs);
    }
  }
}
