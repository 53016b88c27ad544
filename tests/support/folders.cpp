#include "support/folders.h"

namespace adc::test {

std::string SourceFolder() {
  return ADC_SOURCE_FOLDER;
}
std::string TestsFolder() {
  return ADC_SOURCE_FOLDER "/tests/e2e";
}
std::string SamplesFolder() {
  return ADC_SOURCE_FOLDER "/samples";
}
std::string F64SamplesFolder() {
  return ADC_BUILD_FOLDER "/samples/f64";
}
std::string BenchFolder() {
  return ADC_SOURCE_FOLDER "/bench";
}

}  // namespace adc::test
