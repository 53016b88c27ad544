#pragma once
// A file read once, up to a size.

#include <cstdint>
#include <string>

namespace adc {

enum class ReadEnd : uint8_t {
  Whole,     ///< all of it is there
  TooLarge,  ///< more than was allowed: known from its size, or by reading that far
  Failed,    ///< `error` says why
};

struct ReadText {
  ReadEnd end = ReadEnd::Failed;
  int error = 0;      ///< an errno
  uint64_t size = 0;  ///< in bytes: of the whole file where its size is known, else what was read
  std::string text;   ///< empty unless whole
};

/// Reads the file at `path`, "-" being standard input, by opening it once: a named pipe is read like a file,
/// and what is checked is what is read. A regular file's size is looked at first, so that none larger than
/// `most` bytes is read at all. `regular_only` refuses pipes and devices (EINVAL). With `text`, what is no
/// regular file is read to its first NUL byte, which no text holds: a device without an end has one early.
ReadText ReadTextFile(const std::string& path, uint64_t most, bool regular_only, bool text = true);

}  // namespace adc
