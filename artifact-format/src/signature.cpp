#include "artifact/signature.h"

#include <cstring>

#include "bundle_layout.h"

namespace adc::artifact {

void MakeSignedBytes(const BundleIndex& index, uint8_t (&bytes)[kSignedBytes]) {
  std::memcpy(bytes, "ADCSIGN1", 8);
  Store<uint16_t>(bytes + 8, index.major);
  Store<uint16_t>(bytes + 10, index.minor);
  Store<uint32_t>(bytes + 12, 0);  // required features: this reader refuses any
  std::memcpy(bytes + 16, index.content_id, kContentIdSize);
}

bool ReadSignatures(std::span<const uint8_t> section, Vector<Signature>* signatures, Error* error) {
  size_t count = section.size() / sizeof(Signature);
  if (section.empty() || section.size() % sizeof(Signature) != 0 || count > kMaxSignatures) {
    return Fail(error, Code::kMalformed, Rule::kH3, "section SIGN has ", uint64_t{section.size()},
                " bytes; 96 for each of 1 to ", kMaxSignatures, " signatures are possible");
  }
  signatures->clear();
  if (!signatures->TryResize(count)) {
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for signatures");
  }
  std::memcpy(signatures->data(), section.data(), section.size());
  for (size_t row = 1; row < count; ++row) {
    if (std::memcmp((*signatures)[row - 1].key, (*signatures)[row].key, kPublicKeySize) >= 0) {
      return Fail(error, Code::kMalformed, Rule::kH3, "section SIGN: keys do not ascend");
    }
  }
  return true;
}

}  // namespace adc::artifact
