#include "parse/literal.h"

#include <charconv>
#include <cmath>
#include <limits>

#include "ir/literal_places.h"
#include "ir/number.h"
#include "parse/keywords.h"
#include "parse/lexer.h"
#include "support/letters.h"

namespace adc::parse {
namespace {

using ir::Scalar;

struct Magnitude {
  bool good = true;
  uint64_t value = 0;
};

bool IsHex(std::string_view digits) {
  return digits.starts_with("0x") || digits.starts_with("0X");
}

Magnitude ReadMagnitude(std::string_view digits) {
  uint64_t base = IsHex(digits) ? 16 : 10;
  if (base == 16) digits.remove_prefix(2);
  Magnitude magnitude;
  for (char c : digits) {
    auto digit = static_cast<uint64_t>(IsDigit(c) ? c - '0' : (c | 0x20) - 'a' + 10);
    if (magnitude.value > (UINT64_MAX - digit) / base) return {false, 0};
    magnitude.value = magnitude.value * base + digit;
  }
  return magnitude;
}

LiteralBits Bad(std::string_view text, const std::string& reason, std::string help) {
  return {false, 0, Quoted(text) + reason, std::move(help)};
}

LiteralBits ReadInteger(std::string_view text, Scalar type) {
  bool negative = text.starts_with('-');
  Magnitude magnitude = ReadMagnitude(negative ? text.substr(1) : text);
  uint32_t width = ir::BitWidth(type);
  uint64_t largest = ir::IsSigned(type) ? (uint64_t{1} << (width - 1)) - (negative ? 0 : 1)
                     : negative         ? 0
                     : width == 64      ? UINT64_MAX
                                        : (uint64_t{1} << width) - 1;
  if (!magnitude.good || magnitude.value > largest) {
    Scalar wider = negative ? Scalar::I64 : magnitude.value > INT64_MAX ? Scalar::U64 : Scalar::I64;
    bool fits_wider = magnitude.good && wider != type && (!negative || magnitude.value <= uint64_t{1} << 63);
    return Bad(text, std::string(" is out of range for ") + Spelling(type),
               fits_wider
                   ? std::string("state a wider type: '") + std::string(text) + ":" + Spelling(wider) + "'"
                   : std::string());
  }
  return {true, ir::WrapInteger(type, negative ? 0 - magnitude.value : magnitude.value)};
}

LiteralBits ReadIntegerAsFloat(std::string_view text, Scalar type) {
  bool negative = text.starts_with('-');
  Magnitude magnitude = ReadMagnitude(negative ? text.substr(1) : text);
  auto value = static_cast<double>(magnitude.value);
  uint64_t bits = magnitude.good ? ir::FloatToBits(type, value) : 0;
  double held = magnitude.good ? ir::FloatFromBits(type, bits) : 0;
  bool exact = magnitude.good && held < 0x1p64 && static_cast<uint64_t>(held) == magnitude.value;
  if (!exact)
    return Bad(text, std::string(" cannot be held exactly by ") + Spelling(type),
               "write it with a point ('1.0') or an exponent ('1e9') to have it rounded");
  return {true, ir::FloatToBits(type, negative ? -held : held)};
}

template <class Float>
LiteralBits ReadFloatAs(std::string_view text, Scalar type) {
  bool negative = text.starts_with('-');
  std::string_view digits = negative ? text.substr(1) : text;
  bool hex = IsHex(digits);
  if (hex) digits.remove_prefix(2);
  Float value = 0;
  auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                hex ? std::chars_format::hex : std::chars_format::general);
  bool zero = digits.find_first_of(hex ? "123456789abcdefABCDEF" : "123456789") >=
              digits.find_first_of(hex ? "pP" : "eE");
  uint64_t bits = ir::FloatToBits(type, static_cast<double>(negative ? -value : value));
  double held = ir::FloatFromBits(type, bits);
  bool lost = result.ec != std::errc() || std::isinf(held) || (held == 0 && !zero);
  if (lost && zero) return {true, ir::FloatToBits(type, negative ? -0.0 : 0.0)};
  if (!lost) return {true, bits};
  bool may_widen = type != Scalar::F64;
  return Bad(
      text, std::string(" is outside of the range of ") + Spelling(type),
      may_widen && text.size() < 40 ? "state a wider type: '" + std::string(text) + ":f64'" : std::string());
}

LiteralBits ReadFloat(std::string_view text, Scalar type) {
  std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (digits == "nan") return {true, ir::FloatToBits(type, std::numeric_limits<double>::quiet_NaN())};
  if (digits == "inf") return {true, ir::FloatToBits(type, digits == text ? kInfinity : -kInfinity)};
  return type == Scalar::F32 ? ReadFloatAs<float>(text, type) : ReadFloatAs<double>(text, type);
}

}  // namespace

bool IsLiteralWord(std::string_view word) {
  return std::ranges::find(kLiteralWords, word) != std::end(kLiteralWords);
}

LiteralBits ReadLiteral(std::string_view text, Scalar type) {
  ir::LiteralKind kind = ir::KindOfSpelling(text);
  bool integer = kind == ir::LiteralKind::Integer;
  if (kind == ir::LiteralKind::Bool) {
    if (type == Scalar::I1) return {true, text == "true" ? uint64_t{1} : uint64_t{0}};
    return Bad(text, std::string(" is i1, its place asks for ") + Spelling(type), "write a number");
  }
  if (type == Scalar::I1) return Bad(text, " is a number, its place asks for i1", "write 'true' or 'false'");
  if (ir::IsFloat(type)) return integer ? ReadIntegerAsFloat(text, type) : ReadFloat(text, type);
  if (integer) return ReadInteger(text, type);
  return Bad(text, std::string(" is no integer, its place asks for ") + Spelling(type),
             "write an integer, or convert the other side with 'cast ... to f32'");
}

bool ReadCount(std::string_view text, uint64_t limit, uint64_t* value) {
  if (text.starts_with('-') || ir::KindOfSpelling(text) != ir::LiteralKind::Integer) return false;
  Magnitude magnitude = ReadMagnitude(text);
  *value = magnitude.value;
  return magnitude.good && magnitude.value <= limit;
}

}  // namespace adc::parse
