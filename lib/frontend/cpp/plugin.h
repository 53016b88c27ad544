#pragma once
// How the driver reaches the front end: a library of its own beside the program, loaded for the first C++
// file, so that nothing else waits for Clang. Both are built from one tree by one compiler, and share the
// types below.

#include "frontend/cpp/read_cpp.h"

namespace adc::frontend {

struct CppRequest {
  const std::vector<std::string>& paths;
  const CppConfig& config;
  diag::SourceManager& sources;
  diag::Diagnostics& diagnostics;
  std::vector<std::string>* dependencies;
  CppTimes* times;
  std::unique_ptr<ir::Module> module = nullptr;  ///< the answer
};

/// The only symbol of the library: ReadCpp. The version tells libraries of other builds apart.
using CppEntry = void (*)(CppRequest* request);
inline constexpr char kCppEntry[] = "adc_read_cpp_2";
inline constexpr char kCppLibrary[] = "adc-cpp.so";

}  // namespace adc::frontend
