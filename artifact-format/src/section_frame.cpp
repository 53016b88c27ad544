#include "section_frame.h"

#include <zstd.h>

#include "artifact/bundle.h"
#include "bundle_layout.h"

namespace adc::artifact {
namespace {

// Of zstd. Small sections are worth the time of the thorough one, 8 ms for 64 KiB: level 9 takes 1 ms and
// gives 5 to 8 % more bytes, level 19 takes 18 ms and gives 1 % fewer.
constexpr int kLevel = 9, kThoroughLevel = 16;
constexpr size_t kThorough = 512 << 10;
// Of RFC 8878: a block's header, with the last block's bit, and the type 0 of a block that is stored as it
// is.
constexpr size_t kBlockHeader = 3, kMostOfBlock = 128 << 10;

bool Copy(std::span<const uint8_t> bytes, std::span<const uint8_t> prefix, size_t plain,
          Vector<uint8_t>* stored, Error* error) {
  size_t bound = ZSTD_compressBound(bytes.size()) + kBlockHeader * (plain / kMostOfBlock + 2);
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (!context || !stored->TryResize(bound)) {
    ZSTD_freeCCtx(context);
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for compressing a section");
  }
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                         bytes.size() <= kThorough ? kThoroughLevel : kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kMaxWindowLog);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
  ZSTD_CCtx_setPledgedSrcSize(context, bytes.size());
  if (!prefix.empty()) ZSTD_CCtx_refPrefix(context, prefix.data(), prefix.size());
  // With a plain end the frame is left open after the compressed blocks.
  ZSTD_inBuffer from = {bytes.data(), bytes.size() - plain, 0};
  ZSTD_outBuffer to = {stored->data(), bound, 0};
  size_t left = ZSTD_compressStream2(context, &to, &from, plain == 0 ? ZSTD_e_end : ZSTD_e_flush);
  ZSTD_freeCCtx(context);
  if (left != 0) return stored->TryResize(0);
  for (size_t at = bytes.size() - plain; at < bytes.size();) {
    size_t size = bytes.size() - at < kMostOfBlock ? bytes.size() - at : kMostOfBlock;
    uint32_t head = static_cast<uint32_t>(size << 3) | (at + size == bytes.size() ? 1 : 0);
    for (size_t n = 0; n < kBlockHeader; ++n)
      stored->data()[to.pos + n] = static_cast<uint8_t>(head >> 8 * n);
    std::memcpy(stored->data() + to.pos + kBlockHeader, bytes.data() + at, size);
    to.pos += kBlockHeader + size;
    at += size;
  }
  return stored->TryResize(to.pos < bytes.size() ? to.pos : 0);
}

}  // namespace

bool CompressSection(std::span<const uint8_t> bytes, std::span<const uint8_t> prefix, size_t plain,
                     Vector<uint8_t>* stored, Error* error) {
  if (!Copy(bytes, prefix, plain, stored, error)) return false;
  uint64_t ratio = Limits{}.ratio;
  if (stored->empty() || bytes.size() / stored->size() < ratio) return true;
  return Copy(bytes, prefix, bytes.size() / ratio + 1, stored, error);
}

}  // namespace adc::artifact
