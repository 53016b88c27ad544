#include "product/version.h"

namespace adc::product {

std::string ProducerName() {
  return "adc " + std::string(kVersion);
}

}  // namespace adc::product
