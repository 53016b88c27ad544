#include "keys/keys.h"

#include <cstring>

#ifdef ADC_HAS_SODIUM
#include <adrt/adrt_sodium.h>
#endif

namespace adc::keys {

namespace {

constexpr std::string_view kSecretHead = "adc-secret-key-1 ", kPublicHead = "adc-public-key-1 ";

std::optional<uint8_t> Digit(char letter) {
  if (letter >= '0' && letter <= '9') return static_cast<uint8_t>(letter - '0');
  if (letter >= 'a' && letter <= 'f') return static_cast<uint8_t>(letter - 'a' + 10);
  return std::nullopt;
}

std::optional<std::array<uint8_t, 32>> FromText(std::string_view text, std::string_view head,
                                                std::string* wrong) {
  if (!text.starts_with(head)) {
    *wrong = text.starts_with(kSecretHead)   ? "is a secret key, and a public one is expected (NAME.pub)"
             : text.starts_with(kPublicHead) ? "is a public key, and a secret one is expected"
                                             : "is no key file of 'adc sign --new-key'";
    return std::nullopt;
  }
  text.remove_prefix(head.size());
  if (text.ends_with('\n')) text.remove_suffix(1);
  std::array<uint8_t, 32> bytes = {};
  bool good = text.size() == 2 * bytes.size();
  for (size_t at = 0; good && at < bytes.size(); ++at) {
    std::optional<uint8_t> high = Digit(text[2 * at]), low = Digit(text[2 * at + 1]);
    good = high && low;
    if (good) bytes[at] = static_cast<uint8_t>(*high << 4 | *low);
  }
  if (good) return bytes;
  *wrong = "is a key file with other than 64 hexadecimal digits";
  return std::nullopt;
}

}  // namespace

std::string Hex(std::span<const uint8_t, 32> bytes) {
  std::string text;
  for (uint8_t byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::string SecretText(const Seed& seed) {
  return std::string(kSecretHead) + Hex(seed) + "\n";
}
std::string PublicText(const PublicKey& key) {
  return std::string(kPublicHead) + Hex(key) + "\n";
}
std::optional<Seed> SecretFromText(std::string_view text, std::string* wrong) {
  return FromText(text, kSecretHead, wrong);
}
std::optional<PublicKey> PublicFromText(std::string_view text, std::string* wrong) {
  return FromText(text, kPublicHead, wrong);
}

#ifdef ADC_HAS_SODIUM

namespace {

/// libsodium's secret key: the seed, then the public key.
struct Expanded {
  uint8_t bytes[crypto_sign_ed25519_SECRETKEYBYTES];
  explicit Expanded(const Seed& seed, PublicKey* key) {
    crypto_sign_ed25519_seed_keypair(key->data(), bytes, seed.data());
  }
  ~Expanded() { sodium_memzero(bytes, sizeof bytes); }
};

}  // namespace

bool Available() {
  return sodium_init() >= 0;
}
bool Make(Seed* seed, PublicKey* key) {
  if (!Available()) return false;
  randombytes_buf(seed->data(), seed->size());
  return PublicOf(*seed, key);
}
bool PublicOf(const Seed& seed, PublicKey* key) {
  if (!Available()) return false;
  Expanded expanded(seed, key);
  return true;
}
bool Sign(const Seed& seed, std::span<const uint8_t> message, artifact::Signature* signature) {
  if (!Available()) return false;
  PublicKey key;
  Expanded expanded(seed, &key);
  std::memcpy(signature->key, key.data(), key.size());
  return crypto_sign_ed25519_detached(signature->bytes, nullptr, message.data(), message.size(),
                                      expanded.bytes) == 0;
}
Check Checker() {
  return Available() ? adrt_sodium_check_signature : nullptr;
}

#else

bool Available() {
  return false;
}
bool Make(Seed*, PublicKey*) {
  return false;
}
bool PublicOf(const Seed&, PublicKey*) {
  return false;
}
bool Sign(const Seed&, std::span<const uint8_t>, artifact::Signature*) {
  return false;
}
Check Checker() {
  return nullptr;
}

#endif

}  // namespace adc::keys
