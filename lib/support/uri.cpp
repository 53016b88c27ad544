#include "support/uri.h"

#include "support/letters.h"

namespace adc {

namespace {

constexpr std::string_view kDigits = "0123456789ABCDEF";

bool IsPlain(char c) {
  return IsNameCharacter(c) || std::string_view("-.~/").find(c) != std::string_view::npos;
}

/// The value of a hexadecimal digit; npos: it is none.
size_t DigitValue(char c) {
  return kDigits.find(c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c);
}

}  // namespace

std::string UriOfPath(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    auto byte = static_cast<unsigned char>(c);
    if (IsPlain(c)) {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri;
}

std::optional<std::string> PathOfUri(std::string_view uri) {
  constexpr std::string_view kHead = "file://";
  if (!uri.starts_with(kHead) || uri.find('/', kHead.size()) == std::string_view::npos) return std::nullopt;
  std::string path;
  // The part in front of the path is the name of a machine: this one.
  for (size_t at = uri.find('/', kHead.size()); at < uri.size(); ++at) {
    if (uri[at] != '%') {
      path += uri[at];
      continue;
    }
    if (at + 2 >= uri.size()) return std::nullopt;
    size_t high = DigitValue(uri[at + 1]), low = DigitValue(uri[at + 2]);
    if (high > 15 || low > 15) return std::nullopt;
    path += static_cast<char>(high << 4 | low);
    at += 2;
  }
  return path;
}

}  // namespace adc
