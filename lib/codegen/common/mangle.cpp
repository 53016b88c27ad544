#include "codegen/common/mangle.h"

namespace adc::codegen {

std::string EntrySymbol(std::string_view kernel, uint32_t task) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string symbol = "adc_";
  for (char c : kernel) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (plain) {
      symbol += c;
      continue;
    }
    auto byte = static_cast<unsigned char>(c);
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
