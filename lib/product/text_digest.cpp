#include "product/text_digest.h"

#include <cstdint>

namespace adc::product {

std::string HexDigest(artifact::Sha256* hash) {
  uint8_t digest[32];
  hash->Finish(digest);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string TextDigest(std::string_view text) {
  artifact::Sha256 hash;
  hash.Update(reinterpret_cast<const uint8_t*>(text.data()), text.size());
  return HexDigest(&hash);
}

}  // namespace adc::product
