#pragma once
// The SIGN section: the keys that have signed a bundle's content, and their signatures. Nothing here computes
// or checks a signature: that is a library's work.

#include "artifact/bundle.h"

namespace adc::artifact {

inline constexpr uint32_t kPublicKeySize = 32;
inline constexpr uint32_t kSignatureSize = 64;
inline constexpr uint32_t kMaxSignatures = 16;

/// A row of the section: an Ed25519 public key, and its signature over the signed bytes. Rows ascend by key,
/// no key has two.
struct Signature {
  uint8_t key[kPublicKeySize];
  uint8_t bytes[kSignatureSize];
};
static_assert(sizeof(Signature) == 96);

/// The bytes that are signed: "ADCSIGN1", major and minor version of the format (16 bits each), required
/// features (32 bits), content id. The version is there because metadata is read by it and the content id
/// leaves it out.
inline constexpr uint32_t kSignedBytes = 48;
void MakeSignedBytes(const BundleIndex& index, uint8_t (&bytes)[kSignedBytes]);

/// The rows of a section's raw bytes; refuses all but the canonical form (H3).
bool ReadSignatures(std::span<const uint8_t> section, Vector<Signature>* signatures, Error* error);

/// The same bundle with these signatures, ascending by key, in place of those that it has; without SIGN where
/// there are none. The content id stays. `file` is one that ReadBundle accepted as `index`; of another minor
/// version than the writer's it is refused, since the written bundle would claim to be of the writer's.
bool WithSignatures(std::span<const uint8_t> file, const BundleIndex& index,
                    std::span<const Signature> signatures, Vector<uint8_t>* written, Error* error);

}  // namespace adc::artifact
