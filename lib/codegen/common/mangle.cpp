#include "codegen/common/mangle.h"

#include "support/letters.h"

namespace adc::codegen {
namespace {

constexpr std::string_view kHex = "0123456789ABCDEF";

/// Whether `text` begins with the spelling of a byte that is not plain, or of an underscore.
bool ReadsAsByte(std::string_view text) {
  if (text.size() < 3 || text[0] != '_') return false;
  size_t high = kHex.find(text[1]), low = kHex.find(text[2]);
  if (high == std::string_view::npos || low == std::string_view::npos) return false;
  char byte = static_cast<char>(high << 4 | low);
  return !IsNameCharacter(byte) || byte == '_';
}

}  // namespace

std::string EntrySymbol(std::string_view kernel, uint32_t task) {
  std::string symbol = "adc_";
  for (size_t at = 0; at < kernel.size(); ++at) {
    auto byte = static_cast<unsigned char>(kernel[at]);
    if (IsNameCharacter(kernel[at]) && !ReadsAsByte(kernel.substr(at))) {
      symbol += kernel[at];
      continue;
    }
    symbol += '_';
    symbol += kHex[byte >> 4];
    symbol += kHex[byte & 15];
  }
  return symbol + "_t" + std::to_string(task);
}

size_t LongestSymbol(std::string_view kernel, uint32_t task) {
  return EntrySymbol(kernel, task).size() + kFarEnding.size();
}

}  // namespace adc::codegen
