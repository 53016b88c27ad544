#pragma once
// Files that are installed with the program: found beside it, so that an installation can be moved.

#include <filesystem>
#include <string_view>

namespace adc {

/// The folder of the program or shared library that this function is linked into, links followed. Empty where
/// the system does not tell.
std::filesystem::path OwnFolder();

/// The file `name` below lib/adc of the installation that this program or shared library is part of: bin/adc
/// and lib/libadc.so, lib/MACHINE/libadc.so and lib/adc/adc-cpp.so all find lib/adc/NAME. Empty where there
/// is none, as in a build tree. Reads no environment variable.
std::filesystem::path InstalledFile(std::string_view name);

}  // namespace adc
