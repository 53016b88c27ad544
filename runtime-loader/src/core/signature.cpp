#include "core/signature.h"

#include <cstring>

// The loader does no cryptography of its own: it says which key, which signature and which message, and the
// host's function says whether they belong together. The signed message holds the content id, which was
// compared with the sections before, so that a good signature speaks for every byte that decides.
//
// Signatures of keys that the host did not give are not looked at: their holders may have signed anything.

namespace adrt {
namespace {

bool IsKeyOf(const Host& host, const uint8_t (&key)[artifact::kPublicKeySize]) {
  for (size_t at = 0; at < host.public_keys.size(); at += sizeof key) {
    if (std::memcmp(host.public_keys.data() + at, key, sizeof key) == 0) return true;
  }
  return false;
}

}  // namespace

bool CheckSignatures(adrt_bundle& bundle, artifact::Error* reason) {
  const Host& host = bundle.host;
  const artifact::Section* section = bundle.index.Find(artifact::section::kSignature);
  if (!section) return true;
  bundle.signature = ADRT_SIGNATURE_NOT_CHECKED;
  if (host.public_keys.empty() || !host.check_signature) return true;

  Vector<uint8_t> bytes(&host.allocator);
  Vector<artifact::Signature> signatures(&host.allocator);
  uint32_t number = static_cast<uint32_t>(section - bundle.index.sections.begin());
  if (!artifact::ReadSection(bundle.file, bundle.index, number, host.limits, &bytes, reason) ||
      !artifact::ReadSignatures({bytes.data(), bytes.size()}, &signatures, reason)) {
    return false;
  }
  uint8_t message[artifact::kSignedBytes];
  artifact::MakeSignedBytes(bundle.index, message);
  bundle.signature = ADRT_SIGNATURE_UNKNOWN;
  for (const artifact::Signature& signature : signatures) {
    if (!IsKeyOf(host, signature.key)) continue;
    bool good = host.check_signature(host.user, signature.key, signature.bytes, message, sizeof message) != 0;
    bundle.signature = good ? ADRT_SIGNATURE_GOOD : ADRT_SIGNATURE_BAD;
    std::memcpy(bundle.signer, signature.key, sizeof bundle.signer);
    if (good) break;
  }
  return true;
}

}  // namespace adrt

const char* adrt_signature_text(uint32_t signature) {
  switch (signature) {
    case ADRT_SIGNATURE_NONE:
      return "not signed";
    case ADRT_SIGNATURE_NOT_CHECKED:
      return "signed, not checked";
    case ADRT_SIGNATURE_GOOD:
      return "signed by a known key";
    case ADRT_SIGNATURE_UNKNOWN:
      return "signed by an unknown key";
    case ADRT_SIGNATURE_BAD:
      return "the signature of a known key is bad";
    default:
      return "?";
  }
}
