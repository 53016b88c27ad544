#include "driver/read_cpp.h"

#include <dlfcn.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "diag/errors/cpp.h"
#include "driver/bounded_read.h"
#include "driver/file_errors.h"
#include "frontend/cpp/read_cpp.h"
#include "host/installed.h"
#include "host/read_text.h"
#include "ir/module.h"
#include "parse/no_text.h"

namespace adc::driver {

namespace {

/// The library beside the program, or where it is installed (lib/adc). It stays loaded.
frontend::CppEntry Load(std::string* reason) {
  std::error_code failure;
  std::filesystem::path beside = OwnFolder() / frontend::kCppLibrary;
  for (const std::filesystem::path& library : {beside, InstalledFile(frontend::kCppLibrary)}) {
    if (library.empty() || !std::filesystem::exists(library, failure)) continue;
    void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
    void* entry = loaded == nullptr ? nullptr : dlsym(loaded, frontend::kCppEntry);
    if (entry != nullptr) return reinterpret_cast<frontend::CppEntry>(entry);
    const char* said = dlerror();
    *reason = said == nullptr ? library.string() + " is of another version" : said;
    return nullptr;
  }
  *reason = "there is no " + std::string(frontend::kCppLibrary) + " beside the program";
  return nullptr;
}

}  // namespace

std::unique_ptr<ir::Module> ReadCpp(const std::vector<std::string>& inputs, const CompileOptions& options,
                                    diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                    std::vector<std::string>* dependencies, PassRunner* times) {
  // Clang reads the files itself, and says a lot about those that are not there or are no text.
  for (const std::string& input : inputs) {
    ReadText begin = ReadTextFile(input, options.limits.text_mebibytes << 20, /*regular_only=*/true);
    if (begin.end == ReadEnd::Failed &&
        begin.error != EINVAL)  // the front end refuses a file that is not regular
      diagnostics.Add(CannotRead({"cannot read '" + input + "': " + std::strerror(begin.error), ""}));
    if (begin.end == ReadEnd::Whole && !parse::IsText(input, begin.text, {}, diagnostics)) return nullptr;
  }
  if (diagnostics.HasErrors()) return nullptr;
  std::string reason;
  frontend::CppEntry entry = Load(&reason);
  if (entry == nullptr) {
    diagnostics.Error(diag::E0804, {}, "C++ cannot be read: " + reason)
        .AddHelp("install adc-cpp.so beside adc, or in ../lib/adc");
    return nullptr;
  }
  frontend::CppConfig config;
  config.include_dirs = options.include_dirs;
  config.import_dirs = options.import_dirs;
  config.defines = options.defines;
  config.arguments = options.clang_arguments;
  config.compile_database = options.compile_database;
  config.text_limit = options.limits.text_mebibytes << 20;
  config.operation_limit = options.limits.operations;
  frontend::CppRequest request{inputs, config, sources, diagnostics, dependencies};
  ReadBounded("Clang", inputs[0], options, [&] { entry(&request); });
  if (times != nullptr) {
    times->AddTime("  clang", request.times.clang_seconds);
    times->AddTime("  kernels", request.times.lower_seconds);
  }
  return std::move(request.module);
}

}  // namespace adc::driver
