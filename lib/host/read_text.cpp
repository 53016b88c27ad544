#include "host/read_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

namespace adc {

namespace {

/// Rules for reading a file.
struct Rules {
  uint64_t most;
  bool regular_only, text;
  const WantedBytes& wanted;
};

/// How many bytes to read before the next question: all that there are, where none is asked.
class Goal {
 public:
  Goal(const Rules& rules, uint64_t known_size) : rules_(rules), known_size_(known_size) {
    if (rules.wanted) bytes_ = kBegin;
  }
  uint64_t bytes() const { return bytes_; }
  /// Whether `text` is all that is wanted. Where it has come as far as the goal and is not, the goal is
  /// further on afterwards.
  bool IsReached(std::string_view text) {
    if (!rules_.wanted || text.size() < bytes_) return false;
    uint64_t wanted = rules_.wanted(text);
    // A file that is shorter than it says is read to its end.
    bytes_ = known_size_ != 0 ? std::min(wanted, known_size_ + 1) : wanted;
    return bytes_ <= text.size();
  }

 private:
  static constexpr uint64_t kBegin = 4096;
  const Rules& rules_;
  uint64_t known_size_;  ///< 0: not known
  uint64_t bytes_ = UINT64_MAX;
};

/// Reads the open `file` into `result`.
void ReadOpen(int file, const Rules& rules, ReadText* result) {
  struct stat facts = {};
  if (fstat(file, &facts) != 0) {
    result->error = errno;
    return;
  }
  bool regular = S_ISREG(facts.st_mode);
  if (S_ISDIR(facts.st_mode)) result->error = EISDIR;
  if (rules.regular_only && !regular && result->error == 0) result->error = EINVAL;
  if (result->error != 0) return;
  uint64_t expected = regular && facts.st_size > 0 ? static_cast<uint64_t>(facts.st_size) : 0;
  auto too_large = [&](uint64_t size) {
    result->end = ReadEnd::TooLarge;
    result->size = size;
    result->text.clear();
  };
  if (expected > rules.most) return too_large(expected);
  Goal goal(rules, expected);
  std::string& text = result->text;
  text.reserve(static_cast<size_t>(std::min(expected, goal.bytes())));
  std::vector<char> chunk(size_t{1} << 16);
  for (;;) {
    uint64_t left = goal.bytes() - text.size();
    ssize_t got = read(file, chunk.data(), static_cast<size_t>(std::min<uint64_t>(chunk.size(), left)));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      result->error = errno;
      text.clear();
      return;
    }
    text.append(chunk.data(), static_cast<size_t>(got));
    result->size = text.size();
    if (text.size() > rules.most) return too_large(text.size());
    bool binary =
        rules.text && !regular && std::find(chunk.begin(), chunk.begin() + got, '\0') != chunk.begin() + got;
    if (got == 0 || binary || goal.IsReached(text)) break;
    if (rules.wanted && goal.bytes() > rules.most) return too_large(goal.bytes());
  }
  result->end = ReadEnd::Whole;
}

}  // namespace

ReadText ReadTextFile(const std::string& path, uint64_t most, bool regular_only, bool text,
                      const WantedBytes& wanted) {
  ReadText result;
  bool standard_input = path == "-";
  // Where only a regular file will do, opening must not wait for the writer of a pipe.
  int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (regular_only ? O_NONBLOCK : 0);
  int file = standard_input ? STDIN_FILENO : open(path.c_str(), flags);
  if (file < 0) {
    result.error = errno;
    return result;
  }
  ReadOpen(file, {most, regular_only, text, wanted}, &result);
  if (!standard_input) close(file);
  return result;
}

ReadText ReadOpenFile(int file, uint64_t most) {
  ReadText result;
  const WantedBytes all;
  ReadOpen(file, {most, /*regular_only=*/true, /*text=*/false, all}, &result);
  return result;
}

}  // namespace adc
