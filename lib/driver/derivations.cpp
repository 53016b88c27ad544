#include "driver/derivations.h"

#include <algorithm>
#include <charconv>

namespace adc::driver {

namespace {

constexpr char kDeriveTakes[] =
    "takes grad, jvp, jvp:N, jvp(grad), jvp:N(grad) or none, separated by commas; N is from 2 to 64";

/// The N of `jvp:N` and `jvp:N(grad)`; 0 where it is neither.
uint32_t DirectionsOf(std::string_view word, bool* of_gradient) {
  constexpr std::string_view kHead = "jvp:", kOfGradient = "(grad)";
  if (!word.starts_with(kHead)) return 0;
  *of_gradient = word.ends_with(kOfGradient);
  if (*of_gradient) word.remove_suffix(kOfGradient.size());
  word.remove_prefix(kHead.size());
  uint32_t number = 0;
  auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
  bool whole = failure == std::errc() && end == word.data() + word.size();
  return whole && number >= 2 && number <= 64 ? number : 0;
}

void AddOnce(std::vector<uint32_t>& numbers, uint32_t number) {
  if (std::find(numbers.begin(), numbers.end(), number) == numbers.end()) numbers.push_back(number);
}

}  // namespace

std::string TakeDerive(std::string_view list, Derivations* derive) {
  *derive = {};
  derive->gradient = false;
  if (list.empty()) return kDeriveTakes;
  while (!list.empty()) {
    size_t comma = list.find(',');
    std::string_view word = list.substr(0, comma);
    bool of_gradient = false;
    if (word == "grad") {
      derive->gradient = true;
    } else if (word == "jvp") {
      derive->tangent = true;
    } else if (word == "jvp(grad)") {
      derive->gradient = derive->gradient_tangent = true;
    } else if (uint32_t directions = DirectionsOf(word, &of_gradient); directions != 0) {
      derive->gradient = derive->gradient || of_gradient;
      AddOnce(of_gradient ? derive->gradient_directions : derive->directions, directions);
    } else if (word != "none") {
      return kDeriveTakes;
    }
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
  }
  return {};
}

}  // namespace adc::driver
