#include "ir/promise.h"

#include "support/check.h"

namespace adc::ir {

std::string BrokenPromise(Promise promise, std::string_view memory) {
  std::string element = "an element of '" + std::string(memory) + "'";
  switch (promise) {
    case Promise::Disjoint:
      return "two iterations of one parallel loop meet in " + element + ", and one of them writes it";
    case Promise::Settled:
      return element + ", which is settled, is written after it was read";
    case Promise::WriteOnce:
      return element + ", which is writeonce, is written twice, or after it was read";
  }
  ADC_UNREACHABLE("a promise without a sentence");
}

}  // namespace adc::ir
