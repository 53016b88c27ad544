#pragma once
// Files, whole or not at all.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "diag/result.h"

namespace adc::driver {

/// The bytes of the file at `path`; "-" is standard input. Fails with E0701.
diag::Result<std::string> ReadWhole(const std::string& path);

/// Fails with E0701 where the file at `path` cannot be opened and read.
diag::Status CheckReadable(const std::string& path);

/// Writes `bytes` to `path` so that a reader sees the old file or the new one and nothing between: a
/// temporary neighbour is written, flushed to the disk and renamed. "-" is standard output; what is not a
/// regular file (a pipe, a device) is written in place. Fails with E0702, and then leaves nothing behind.
diag::Status WriteWhole(const std::string& path, std::span<const uint8_t> bytes);
diag::Status WriteWhole(const std::string& path, std::string_view text);

}  // namespace adc::driver
