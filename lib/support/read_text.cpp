#include "support/read_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace adc {

namespace {

/// Reads the open `file` into `result`.
void ReadOpen(int file, uint64_t most, bool regular_only, bool is_text, ReadText* result) {
  struct stat facts = {};
  if (fstat(file, &facts) != 0) {
    result->error = errno;
    return;
  }
  bool regular = S_ISREG(facts.st_mode);
  if (S_ISDIR(facts.st_mode)) result->error = EISDIR;
  if (regular_only && !regular && result->error == 0) result->error = EINVAL;
  if (result->error != 0) return;
  uint64_t expected = regular && facts.st_size > 0 ? static_cast<uint64_t>(facts.st_size) : 0;
  if (expected > most) {
    result->end = ReadEnd::TooLarge;
    result->size = expected;
    return;
  }
  std::string& text = result->text;
  text.reserve(static_cast<size_t>(expected));
  std::vector<char> chunk(size_t{1} << 16);
  for (;;) {
    ssize_t got = read(file, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      result->error = errno;
      text.clear();
      return;
    }
    text.append(chunk.data(), static_cast<size_t>(got));
    result->size = text.size();
    if (text.size() > most) {
      result->end = ReadEnd::TooLarge;
      text.clear();
      return;
    }
    bool binary =
        is_text && !regular && std::find(chunk.begin(), chunk.begin() + got, '\0') != chunk.begin() + got;
    if (got == 0 || binary) break;
  }
  result->end = ReadEnd::Whole;
}

}  // namespace

ReadText ReadTextFile(const std::string& path, uint64_t most, bool regular_only, bool text) {
  ReadText result;
  bool standard_input = path == "-";
  // Where only a regular file will do, opening must not wait for the writer of a pipe.
  int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular_only ? O_NONBLOCK : 0);
  int file = standard_input ? STDIN_FILENO : open(path.c_str(), flags);
  if (file < 0) {
    result.error = errno;
    return result;
  }
  ReadOpen(file, most, regular_only, text, &result);
  if (!standard_input) close(file);
  return result;
}

}  // namespace adc
