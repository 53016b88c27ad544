#pragma once
// C++ to Module: the one way in (docs/cpp.md). The driver reaches it in a library of its own beside the
// program, loaded for the first C++ file, so that nothing else waits for Clang. Both are built from one tree
// by one compiler, and share the types below.

#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace adc::frontend {

struct CppConfig {
  std::vector<std::string> include_dirs = {};
  std::vector<std::string> import_dirs = {};  ///< folders that includes may come from as well
  std::vector<std::string> defines = {};      ///< NAME or NAME=VALUE
  std::vector<std::string> arguments = {};    ///< for Clang, as a compiler takes them
  std::string compile_database = {};          ///< folder of a compile_commands.json; empty: none
  uint64_t text_limit = uint64_t{256} << 20;  ///< most bytes that are read for one file
  uint64_t operation_limit = 500'000;         ///< of one kernel, its functions inlined
};

/// How long the parts of the front end took.
struct CppTimes {
  double clang_seconds = 0;  ///< reading and checking C++
  double lower_seconds = 0;
};

struct CppRequest {
  const std::vector<std::string>& paths;
  const CppConfig& config;
  diag::SourceManager& sources;
  diag::Diagnostics& diagnostics;
  std::vector<std::string>* dependencies;  ///< gets every file read
  CppTimes times = {};
  std::unique_ptr<ir::Module> module = nullptr;  ///< the answer
};

/// Reads each file with Clang and appends its kernels to one module, which has to be verified. Errors of the
/// C++ and what kernels may not use go to `diagnostics`; the module is good for nothing where there are some.
/// An include from outside of the folders of diag/import_roots.h is refused unread.
void ReadCpp(CppRequest& request);

/// The only symbol of the library: ReadCpp. The version tells libraries of other builds apart.
using CppEntry = void (*)(CppRequest* request);
inline constexpr char kCppEntry[] = "adc_read_cpp_3";
inline constexpr char kCppLibrary[] = "adc-cpp.so";

}  // namespace adc::frontend
