#pragma once
// The promises of a kernel about its accesses to a parameter, one rule at a time, as checks name it.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace adc::ir {

enum class Promise : uint8_t {
  Disjoint,   ///< no iteration of a `parallel` accesses an element that another one writes
  Settled,    ///< no element is written after it was read
  WriteOnce,  ///< no element is written twice, or read before it is written
};
/// The words of the text, in the order of the promises.
inline constexpr std::array<std::string_view, 3> kPromiseWords = {"disjoint", "settled", "writeonce"};

/// A sentence without its period: it names the act of an access to memory of this name that the promise
/// excludes.
std::string BrokenPromise(Promise promise, std::string_view memory);

}  // namespace adc::ir
