#include "diag/errors.h"

#include <iterator>

namespace adc::diag {
namespace {

constexpr ErrorInfo kErrors[] = {
#define ADC_ERROR(id, title, explanation) {#id, title, explanation},
#include "diag/errors/all.def"
#undef ADC_ERROR
};

}  // namespace

const ErrorInfo& InfoOf(ErrorId id) {
  return kErrors[static_cast<uint16_t>(id)];
}
uint32_t ErrorCount() {
  return static_cast<uint32_t>(std::size(kErrors));
}
const ErrorInfo& InfoAt(uint32_t position) {
  return kErrors[position];
}

}  // namespace adc::diag
