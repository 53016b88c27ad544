#pragma once
// One input as the module that its front end makes of it, before any pass.

#include <memory>
#include <string>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "ir/module.h"

namespace adc::driver {

/// Reads `path` by what its extension says it is. Null, or a module that is not fit for use, after errors.
std::unique_ptr<ir::Module> ReadAsWritten(const std::string& path, const CompileOptions& options,
                                          diag::SourceManager& sources, diag::Diagnostics& diagnostics);

}  // namespace adc::driver
