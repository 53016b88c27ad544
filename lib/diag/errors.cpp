#include "diag/errors.h"

#include <algorithm>
#include <iterator>

#include "support/check.h"

namespace adc::diag {
namespace {

constexpr ErrorInfo kErrors[] = {
#define ADC_ERROR(id, title, explanation) {IdOf(#id), #id, title, explanation},
#include "diag/errors/all.def"
#undef ADC_ERROR
};

consteval bool EachStandsOnce() {
  for (size_t n = 0; n < std::size(kErrors); ++n) {
    for (size_t other = 0; other < n; ++other) {
      if (kErrors[n].number == kErrors[other].number) return false;
    }
  }
  return true;
}
static_assert(EachStandsOnce(), "two errors with one id");

}  // namespace

const ErrorInfo& InfoOf(ErrorId id) {
  const ErrorInfo* found = std::ranges::find(kErrors, id, &ErrorInfo::number);
  ADC_CHECK(found != std::end(kErrors), "an error id that the catalogue lacks");
  return *found;
}
uint32_t ErrorCount() {
  return static_cast<uint32_t>(std::size(kErrors));
}
const ErrorInfo& InfoAt(uint32_t position) {
  return kErrors[position];
}

}  // namespace adc::diag
