#pragma once
// The letters of names in texts of programs, which are those of ASCII in any locale.

namespace adc {

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
/// Also '_'.
constexpr bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
constexpr bool IsNameCharacter(char c) {
  return IsLetter(c) || IsDigit(c);
}

}  // namespace adc
