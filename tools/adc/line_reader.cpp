#include "line_reader.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "host/open_flags.h"

namespace adc::tool {

namespace {

/// A device may give bytes for ever, and never end a line.
constexpr size_t kLongestLine = size_t{16} << 20;

}  // namespace

LineReader::LineReader(const std::string& path) : buffer_(size_t{1} << 16) {
  file_ = path == "-" ? STDIN_FILENO : open(path.c_str(), kOpenToRead);
  if (file_ < 0) wrong_ = std::strerror(errno);
}

LineReader::~LineReader() {
  if (file_ > STDIN_FILENO) close(file_);
}

bool LineReader::Fill() {
  ssize_t got;
  do {
    got = read(file_, buffer_.data(), buffer_.size());
  } while (got < 0 && errno == EINTR);
  if (got < 0) wrong_ = std::strerror(errno);
  at_ = 0;
  end_ = got > 0 ? static_cast<size_t>(got) : 0;
  return got > 0;
}

std::optional<std::string> LineReader::Next() {
  std::string line;
  if (!wrong_.empty()) return std::nullopt;
  for (;;) {
    if (at_ == end_ && !Fill()) {
      // The last line may lack its end.
      if (line.empty() || !wrong_.empty()) return std::nullopt;
      return line;
    }
    const char* begin = buffer_.data() + at_;
    const char* stop = std::find(begin, static_cast<const char*>(buffer_.data()) + end_, '\n');
    auto count = static_cast<size_t>(stop - begin);
    if (std::find(begin, stop, '\0') != stop) {
      wrong_ = "it holds NUL bytes and is no text";
      return std::nullopt;
    }
    line.append(begin, count);
    at_ += count;
    if (line.size() > kLongestLine) {
      wrong_ = "it has a line of more than 16 MiB";
      return std::nullopt;
    }
    if (at_ == end_) continue;
    ++at_;
    return line;
  }
}

}  // namespace adc::tool
