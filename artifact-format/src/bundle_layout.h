#pragma once
// Where each byte of a bundle lies, for the reader and the writer.

#include <cstdint>

#include "artifact/bundle.h"
#include "artifact/sha256.h"

namespace adc::artifact {

inline constexpr uint8_t kMagic[8] = {0x89, 'A', 'D', 'C', 0x0D, 0x0A, 0x1A, 0x0A};

/// Offsets in the header.
namespace header {
inline constexpr uint64_t kMajor = 8, kMinor = 10, kSize = 12, kFileSize = 16, kSectionCount = 24,
                          kEntrySizeAt = 28, kTableOffset = 32, kFlags = 40, kFeatures = 44, kHash = 48,
                          kContentId = 56, kPadding = 88;
}  // namespace header

/// Offsets in a row of the table.
namespace row {
inline constexpr uint64_t kKind = 0, kFlags = 4, kOffset = 8, kStoredSize = 16, kRawSize = 24,
                          kStoredHash = 32, kRawHash = 40, kTarget = 48, kAlignment = 52, kZero16 = 54,
                          kZero64 = 56;
}  // namespace row

/// Little-endian numbers at a place that the caller knows to be inside.
template <class N>
N Load(const uint8_t* bytes) {
  N number = 0;
  for (unsigned index = 0; index < sizeof(N); ++index)
    number = static_cast<N>(number | N{bytes[index]} << (8 * index));
  return number;
}
template <class N>
void Store(uint8_t* bytes, N number) {
  for (unsigned index = 0; index < sizeof(N); ++index)
    bytes[index] = static_cast<uint8_t>(number >> (8 * index));
}

/// Canonical order of sections: META first, SIGN last, between them by target (those of no target last), then
/// kind.
inline bool ComesBefore(const Section& left, const Section& right) {
  auto group = [](const Section& item) {
    return item.kind == section::kMeta ? 0 : item.kind == section::kSignature ? 2 : 1;
  };
  if (group(left) != group(right)) return group(left) < group(right);
  if (left.target != right.target) return left.target < right.target;
  return left.kind < right.kind;
}

/// Relocatable objects and shared images. They hold the same code, and that of targets is alike: the raw
/// bytes of the first one may be the prefix of the others.
inline bool IsProcessorCode(uint32_t kind) {
  return kind == section::kObject || kind == section::kImage;
}

inline uint64_t AlignUp(uint64_t value, uint64_t alignment) {
  return (value + alignment - 1) & ~(alignment - 1);
}

/// Where a section may begin: a multiple of 64, and of its own alignment where it is stored as it is.
inline uint64_t FileAlignment(const Section& item) {
  uint64_t own = item.flags & kSectionZstd ? 1 : item.alignment;
  return own > kSectionAlignment ? own : kSectionAlignment;
}

/// Adds to a content id what the table says about a section, apart from how it is stored; its raw bytes
/// follow.
inline void HashDescription(const Section& item, Sha256* sha) {
  uint8_t record[24] = {};
  Store<uint32_t>(record, item.kind);
  Store<uint32_t>(record + 4, item.flags & ~kStorageFlags);
  Store<uint32_t>(record + 8, item.target);
  Store<uint16_t>(record + 12, item.alignment);
  Store<uint64_t>(record + 16, item.raw_size);
  sha->Update(record, sizeof record);
}

/// Largest window that a compressed section may need.
inline constexpr uint32_t kMaxWindowLog = 23;

}  // namespace adc::artifact
