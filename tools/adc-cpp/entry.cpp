// The library that `adc` loads for C++ files.

#include "frontend/cpp/read_cpp.h"

extern "C" __attribute__((visibility("default"))) void adc_read_cpp_3(adc::frontend::CppRequest* request) {
  adc::frontend::ReadCpp(*request);
}
