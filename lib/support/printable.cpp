#include "support/printable.h"

#include <cstdint>

namespace adc {

namespace {

uint32_t CodePoint(std::string_view text, size_t at, size_t length) {
  auto byte = [&](size_t n) { return static_cast<unsigned char>(text[at + n]); };
  uint32_t point = length == 1 ? byte(0) : byte(0) & (0x7Fu >> length);
  for (size_t n = 1; n < length; ++n) point = point << 6 | (byte(n) & 0x3Fu);
  return point;
}

bool IsHiddenPoint(uint32_t point) {
  return point < 0x20 || (point >= 0x7F && point <= 0x9F) || point == 0x61C || point == 0x200E ||
         point == 0x200F || (point >= 0x2028 && point <= 0x202E) || (point >= 0x2066 && point <= 0x2069);
}

void AppendHex(std::string& text, uint32_t number, size_t digits) {
  for (size_t digit = digits; digit-- > 0;) text += "0123456789abcdef"[number >> (4 * digit) & 15];
}

std::string Shown(std::string_view text, bool lines) {
  std::string shown;
  shown.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    size_t length = SequenceAt(text, at);
    bool stays = lines && (text[at] == '\n' || text[at] == '\t');
    if (length == 0) {
      shown += "\\x";
      AppendHex(shown, static_cast<unsigned char>(text[at]), 2);
    } else if (!stays && IsHidden(text, at)) {
      shown += "\\u";
      AppendHex(shown, CodePoint(text, at, length), 4);
    } else {
      shown += text.substr(at, length);
    }
    at += length == 0 ? 1 : length;
  }
  return shown;
}

}  // namespace

size_t SequenceAt(std::string_view text, size_t at) {
  auto byte = [&](size_t n) { return static_cast<unsigned char>(text[n]); };
  unsigned char lead = byte(at);
  if (lead < 0x80) return 1;
  size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || at + length > text.size()) return 0;
  for (size_t n = 1; n < length; ++n) {
    if ((byte(at + n) & 0xC0) != 0x80) return 0;
  }
  if ((lead == 0xE0 && byte(at + 1) < 0xA0) || (lead == 0xED && byte(at + 1) > 0x9F) ||
      (lead == 0xF0 && byte(at + 1) < 0x90) || (lead == 0xF4 && byte(at + 1) > 0x8F))
    return 0;
  return length;
}

bool IsHidden(std::string_view text, size_t at) {
  size_t length = SequenceAt(text, at);
  return length != 0 && IsHiddenPoint(CodePoint(text, at, length));
}

std::string Printable(std::string_view text) {
  return Shown(text, false);
}

std::string PrintableLines(std::string_view text) {
  return Shown(text, true);
}

}  // namespace adc
