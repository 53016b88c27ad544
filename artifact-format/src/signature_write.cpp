#include <cstring>

#include "artifact/signature.h"
#include "copy_sections.h"

// Apart from reading signatures, which the loader does: a program that links this links the writer of bundles
// and the compressor, and the loader must not.

namespace adc::artifact {

bool WithSignatures(std::span<const uint8_t> file, const BundleIndex& index,
                    std::span<const Signature> signatures, Vector<uint8_t>* written, Error* error) {
  SectionCopies copies;
  auto is_signature = [](uint32_t kind) { return kind == section::kSignature; };
  // Over a budget as it was, for the signed bundle to hold the same bytes.
  if (!CopySections(file, index, is_signature, /*over_budget=*/true, &copies, error)) return false;
  if (!signatures.empty()) {
    SectionInput input;
    input.kind = section::kSignature;
    input.bytes = {reinterpret_cast<const uint8_t*>(signatures.data()), signatures.size_bytes()};
    Vector<Signature> copy;
    if (!ReadSignatures(input.bytes, &copy, error)) return false;
    copies.sections.push_back(input);
  }
  BundleIndex again;
  if (!WriteBundle({copies.sections.data(), copies.sections.size()}, written, error) ||
      !ReadIndex({written->data(), written->size()}, Limits(), nullptr, &again, error)) {
    return false;
  }
  if (std::memcmp(again.content_id, index.content_id, sizeof again.content_id) == 0) return true;
  return Fail(error, Code::kCorrupt, Rule::kNone, "the content id is not that of the sections");
}

}  // namespace adc::artifact
