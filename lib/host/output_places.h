#pragma once
// Where outputs go: never over what was read, nor over each other.

#include <string>
#include <vector>

#include "host/file_result.h"

namespace adc {

/// Fails where one of `outputs` would replace a file that was read.
FileStatus KeepSources(const std::vector<std::string>& outputs, const std::vector<std::string>& read);

/// Fails where two of `outputs` are one place, under whatever names. Devices take any number.
FileStatus KeepApart(const std::vector<std::string>& outputs);

}  // namespace adc
