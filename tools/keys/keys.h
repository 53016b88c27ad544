#pragma once
// Ed25519 keys of bundles: their files, making them, signing and checking by libsodium. A build without it
// says so, and never that a signature is good.
//
// A key file is one line of text: "adc-public-key-1 " or "adc-secret-key-1 ", then 64 hexadecimal digits; of
// a secret key they are its seed (RFC 8032).

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "artifact/signature.h"

namespace adc::keys {

using PublicKey = std::array<uint8_t, artifact::kPublicKeySize>;
using Seed = std::array<uint8_t, 32>;

/// Whether this build can sign and check.
bool Available();

/// A new key. False where Available() is not.
bool Make(Seed* seed, PublicKey* key);
/// The public half. False where Available() is not.
bool PublicOf(const Seed& seed, PublicKey* key);
/// A row of SIGN by the key of `seed` over `message`. False where Available() is not.
bool Sign(const Seed& seed, std::span<const uint8_t> message, artifact::Signature* signature);

/// adrt_host::check_signature; null where Available() is not.
using Check = int (*)(void* user, const uint8_t key[32], const uint8_t signature[64], const void* message,
                      size_t message_size);
Check Checker();

std::string SecretText(const Seed& seed);
std::string PublicText(const PublicKey& key);
/// The key in the text of a file; else `wrong` says why there is none, without a byte of the text.
std::optional<Seed> SecretFromText(std::string_view text, std::string* wrong);
std::optional<PublicKey> PublicFromText(std::string_view text, std::string* wrong);

/// 64 digits.
std::string Hex(std::span<const uint8_t, 32> bytes);

}  // namespace adc::keys
