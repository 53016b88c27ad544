#pragma once
// From text to what was asked for: the pipeline.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "diag/source.h"
#include "driver/options.h"
#include "ir/module.h"
#include "parse/places.h"
#include "product/product.h"

namespace adc::driver {

/// Compiles `inputs` together, in memory; their kernels share one product. Diagnostics, dumps and times go to
/// standard error. The product is good where the exit code is kExitOk.
ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       product::Product* product);

/// A compilation for a program that calls the compiler: no file is read or written, nothing is printed.
struct MemoryRequest {
  struct Text {
    std::string name, text;
  };
  std::vector<Text> texts;
  /// The text of an import; none: texts import nothing.
  std::function<bool(const std::string& path, std::string* text)> import = {};
  bool imports_are_files = false;   ///< of the one text, which has the name of a file; `import` is not asked
  parse::Places* places = nullptr;  ///< gets where the names of the texts stand
  /// Called once the texts are read; null: nothing could be read. May give places to what the module holds.
  std::function<void(ir::Module*, diag::SourceManager&)> read = {};
  /// Gets the diagnostics that -w, -Wno-ID and -Werror leave, in order.
  std::function<void(const diag::Diagnostic&, const diag::SourceManager&)> report = {};
  std::function<bool()> cancelled = {};  ///< asked between steps, on the thread that compiles
  uint32_t threads = 1;                  ///< for code of several targets
  std::string stop_after;                ///< the last pass to run, for Emit::Ir; empty: all
  bool check_alone = false;              ///< the texts are read and verified, and nothing is made
};
ExitCode CompileTexts(const MemoryRequest& request, const CompileOptions& options, product::Product* product);

}  // namespace adc::driver
