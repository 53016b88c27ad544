#include "support/number.h"

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>

#include "support/check.h"

namespace adc {

uint64_t WrapInteger(NumberForm form, uint64_t bits) {
  uint32_t width = form.width;
  if (width == 64) return bits;
  uint64_t mask = (uint64_t{1} << width) - 1;
  bits &= mask;
  if (form.kind == NumberKind::Signed && (bits >> (width - 1)) != 0) bits |= ~mask;
  return bits;
}

float FloatFromHalf(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1Fu;
  uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0x1F) return std::bit_cast<float>(sign | 0x7F800000u | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  float magnitude = std::ldexp(static_cast<float>(mantissa), -24);
  return sign != 0 ? -magnitude : magnitude;
}

namespace {

/// Rounds once, from double, so that no value suffers double rounding.
uint16_t HalfFromDouble(double value) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000u);
  if (std::isnan(value)) return static_cast<uint16_t>(sign | 0x7E00u);
  double magnitude = std::fabs(value);
  if (magnitude >= 65520.0) return static_cast<uint16_t>(sign | 0x7C00u);
  if (magnitude == 0) return sign;
  int exponent = 0;
  std::frexp(magnitude, &exponent);
  int lowest = exponent - 11 < -24 ? -24 : exponent - 11;  // weight of the last mantissa bit
  double units = std::nearbyint(std::ldexp(magnitude, -lowest));
  double rounded = std::ldexp(units, lowest);
  if (rounded < std::ldexp(1.0, -14))
    return static_cast<uint16_t>(sign | static_cast<uint16_t>(rounded * 0x1p24));
  std::frexp(rounded, &exponent);
  auto mantissa = static_cast<uint16_t>(std::ldexp(rounded, 11 - exponent) - 1024.0);
  return static_cast<uint16_t>(sign | static_cast<uint16_t>((exponent + 14) << 10) | mantissa);
}

}  // namespace

uint16_t HalfFromFloat(float value) {
  return HalfFromDouble(value);
}

uint64_t FloatToBits(NumberForm form, double value) {
  ADC_CHECK(form.kind == NumberKind::Float, "float bits of a type that is no float");
  if (form.width == 64) return std::bit_cast<uint64_t>(value);
  if (form.width == 32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  return HalfFromDouble(value);
}

double FloatFromBits(NumberForm form, uint64_t bits) {
  ADC_CHECK(form.kind == NumberKind::Float, "float value of a type that is no float");
  if (form.width == 64) return std::bit_cast<double>(bits);
  if (form.width == 32) return std::bit_cast<float>(static_cast<uint32_t>(bits));
  return FloatFromHalf(static_cast<uint16_t>(bits));
}

std::string PrintNumber(NumberForm form, uint64_t bits) {
  if (form.kind == NumberKind::Truth) return bits != 0 ? "true" : "false";
  char buffer[64];
  if (form.kind == NumberKind::Signed) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<int64_t>(bits)).ptr;
    return {buffer, end};
  }
  if (form.kind == NumberKind::Unsigned) {
    auto end = std::to_chars(buffer, buffer + sizeof buffer, bits).ptr;
    return {buffer, end};
  }
  double value = FloatFromBits(form, bits);
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  char* end = form.width == 64 ? std::to_chars(buffer, buffer + sizeof buffer, value).ptr
                               : std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value)).ptr;
  std::string text(buffer, end);
  size_t exponent = text.find('e');
  if (exponent == std::string::npos) return text.find('.') == std::string::npos ? text + ".0" : text;
  // "1e-06" -> "1e-6": the exponent without its sign '+' and leading zeros.
  std::string head = text.substr(0, exponent);
  std::string tail = text.substr(exponent + 1);
  bool negative = tail[0] == '-';
  size_t digits = tail[0] == '-' || tail[0] == '+' ? 1 : 0;
  while (digits + 1 < tail.size() && tail[digits] == '0') ++digits;
  return head + "e" + (negative ? "-" : "") + tail.substr(digits);
}

}  // namespace adc
