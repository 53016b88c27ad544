#pragma once
// The names of source files in messages and products.

#include <string>
#include <vector>

#include "driver/options.h"

namespace adc::driver {

/// `name` with the last matching entry of --file-prefix-map applied: how messages show it.
std::string MapPrefix(const CompileOptions& options, std::string name);

/// The name in a product of the source file that messages call `name`: its path from the folder of an input
/// or of -I, or its name after --file-prefix-map. So the bytes do not depend on where the sources lie or
/// where the compiler runs.
std::string ProductName(const std::string& name, const std::vector<std::string>& inputs,
                        const CompileOptions& options);

}  // namespace adc::driver
