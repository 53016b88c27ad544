// The library that `adc` loads for C++ files.

#include "frontend/cpp/plugin.h"

extern "C" __attribute__((visibility("default"))) void adc_read_cpp_2(adc::frontend::CppRequest* request) {
  request->module = adc::frontend::ReadCpp(request->paths, request->config, request->sources,
                                           request->diagnostics, request->dependencies, request->times);
}
