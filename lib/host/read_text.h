#pragma once
// A file read once, up to a size.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

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

/// Called with what was read of a file: at first some thousand bytes of it, or all where there are fewer.
/// Says how many bytes to read altogether, as far as these tell; it is asked again where that was more, and
/// reading ends where it is not. So a file whose first bytes say what it is is not read on where they say
/// that it is something else, and no further than they say.
using WantedBytes = std::function<uint64_t(std::string_view begin)>;

/// Reads the file at `path`, "-" being standard input, by opening it once: a named pipe is read like a file,
/// and the checks hold for the bytes that are read. A regular file's size is looked at first, so that none
/// larger than `most` bytes is read at all. `regular_only` refuses pipes and devices (EINVAL). With `text`, a
/// file that is not regular is read to its first NUL byte, which no text holds: a device without an end has
/// one early. Where `wanted` is given, the text is whole as far as it wants it; more than `most` is too
/// large.
ReadText ReadTextFile(const std::string& path, uint64_t most, bool regular_only, bool text = true,
                      const WantedBytes& wanted = {});
/// The same for an open regular file; any other open file is refused (EINVAL).
ReadText ReadOpenFile(int file, uint64_t most);

}  // namespace adc
