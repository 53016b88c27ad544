#pragma once
// Files, whole or not at all.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "diag/result.h"

namespace adc::driver {

/// Files that are no text (bundles, arrays) are read up to this many bytes.
inline constexpr uint64_t kMostFileBytes = uint64_t{64} << 30;

/// The bytes of the file at `path`; "-" is standard input. Fails with E0701, without reading it where it is
/// known to be larger than `most` bytes.
diag::Result<std::string> ReadWhole(const std::string& path, uint64_t most = kMostFileBytes);

/// Fails with E0701 where the file at `path` cannot be opened and read.
diag::Status CheckReadable(const std::string& path);

/// Writes `bytes` to `path` so that a reader sees the old file or the new one and nothing between, also where
/// the process is killed: a file without a name is written, flushed to the disk, named and renamed. "-" is
/// standard output; what is not a regular file (a pipe, a device) is written in place. Fails with E0702, and
/// then leaves nothing.
diag::Status WriteWhole(const std::string& path, std::span<const uint8_t> bytes);
diag::Status WriteWhole(const std::string& path, std::string_view text);

}  // namespace adc::driver
