#pragma once
// From text to what was asked for: the pipeline.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "diag/source.h"
#include "driver/options.h"
#include "driver/plan_dump.h"
#include "ir/module.h"

namespace adc::driver {

/// What one compilation made.
struct Product {
  std::vector<uint8_t> bytes;             ///< in the form that CompileOptions::emit asks for
  std::vector<std::string> dependencies;  ///< files read, the inputs first
  std::vector<PlanDump> plans;         ///< what --dump=adstack shows, where CompileOptions::want_plans asks
  std::unique_ptr<ir::Module> module;  ///< of Emit::Ir: what `bytes` are the text of
  diag::SourceManager sources;         ///< what places in `module` refer to
};

/// Compiles `inputs` together, in memory; their kernels share one product. Diagnostics, dumps and times go to
/// standard error. The product is good where the exit code is kExitOk.
ExitCode CompileInputs(const std::vector<std::string>& inputs, const CompileOptions& options,
                       Product* product);

/// "adc 0.1.0"
std::string ProducerName();

}  // namespace adc::driver
