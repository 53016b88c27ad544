#include "lsp_channel.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "host/files.h"

namespace adc::tool {

namespace {

constexpr std::string_view kLength = "Content-Length:";
constexpr std::string_view kType = "Content-Type:";
constexpr std::string_view kEnd = "\r\n\r\n";
constexpr size_t kLongestHeader = 4096;
/// An editor holds texts in memory; a message that claims a greater length is none.
constexpr size_t kLongestMessage = size_t{64} << 20;

}  // namespace

bool LspChannel::Fill() {
  std::array<char, 1 << 16> bytes;
  ssize_t got;
  do {
    got = read(input_, bytes.data(), bytes.size());
  } while (got < 0 && errno == EINTR);
  if (got > 0) buffer_.append(bytes.data(), static_cast<size_t>(got));
  return got > 0;
}

bool LspChannel::IsReady() const {
  return !buffer_.empty() || IsReadable(input_);
}

bool LspChannel::FindHeader(bool refused) {
  bool stray = false;
  for (;;) {
    size_t at = buffer_.find(kLength);
    std::string_view before = std::string_view(buffer_).substr(0, at);
    stray = stray || (at != 0 && at != std::string::npos && !before.starts_with(kType));
    if (at != std::string::npos) {
      buffer_.erase(0, at);
      if (stray && !refused) refuse_("bytes between messages");
      return true;
    }
    // Bytes that may be the beginning of a header stay.
    if (buffer_.size() > kLongestHeader) {
      stray = true;
      buffer_.erase(0, buffer_.size() - kLength.size());
    }
    if (!Fill()) return false;
  }
}

std::optional<size_t> LspChannel::TakeHeader() {
  size_t end;
  while ((end = buffer_.find(kEnd)) == std::string::npos && buffer_.size() <= kLongestHeader) {
    if (!Fill()) break;
  }
  size_t first = buffer_.find_first_not_of(' ', kLength.size());
  size_t length = 0;
  const char* begin = buffer_.data() + std::min(first, buffer_.size());
  auto [stop, failure] = std::from_chars(begin, buffer_.data() + buffer_.size(), length);
  bool good = end != std::string::npos && failure == std::errc() && std::string_view(stop, 2) == "\r\n" &&
              length <= kLongestMessage;
  buffer_.erase(0, good ? end + kEnd.size() : kLength.size());
  if (!good) return std::nullopt;
  return length;
}

std::optional<std::string> LspChannel::Next() {
  bool refused = false;
  while (FindHeader(refused)) {
    std::optional<size_t> length = TakeHeader();
    if (!length) {
      refuse_("a header that states no length up to " + std::to_string(kLongestMessage) + " bytes");
      refused = true;
      continue;
    }
    while (buffer_.size() < *length) {
      if (!Fill()) return std::nullopt;
    }
    std::string message = buffer_.substr(0, *length);
    buffer_.erase(0, *length);
    return message;
  }
  return std::nullopt;
}

}  // namespace adc::tool
