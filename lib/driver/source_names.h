#pragma once
// What messages and products call source files.

#include <string>
#include <vector>

#include "driver/options.h"

namespace adc::driver {

/// `name` with the last matching entry of --file-prefix-map applied: how messages show it.
std::string MapPrefix(const CompileOptions& options, std::string name);

/// What a product calls the source file that messages call `name`: its path from the folder of an input or of
/// -I, or what --file-prefix-map made of it. So the bytes do not depend on where the sources lie or where the
/// compiler runs.
std::string ProductName(const std::string& name, const std::vector<std::string>& inputs,
                        const CompileOptions& options);

}  // namespace adc::driver
