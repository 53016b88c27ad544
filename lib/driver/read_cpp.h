#pragma once
// C++ inputs: the front end is a library of its own, which is loaded here.

#include <memory>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "driver/pass_runner.h"
#include "ir/module.h"

namespace adc::driver {

/// The kernels of C++ files as one module; errors go to `diagnostics`, and null where the library is missing.
/// `times`, where given, gets Clang's own share and that of lowering.
std::unique_ptr<ir::Module> ReadCpp(const std::vector<std::string>& inputs, const CompileOptions& options,
                                    diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                    std::vector<std::string>* dependencies, PassRunner* times);

}  // namespace adc::driver
