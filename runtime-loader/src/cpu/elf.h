#pragma once
// The form of an image: ELF64, little-endian, as the System V ABI defines it, as far as the mapper reads it.
// Not every system has a header with these.

#include <cstdint>

namespace adrt::elf {

struct Header {
  unsigned char ident[16];  ///< the four of kMagic, then class, order of bytes, version
  uint16_t type;
  uint16_t machine;
  uint32_t version;
  uint64_t entry;
  uint64_t segments, sections;  ///< where their tables begin in the file
  uint32_t flags;
  uint16_t header_bytes;
  uint16_t segment_bytes, segment_count;
  uint16_t section_bytes, section_count, section_names;
};
inline constexpr unsigned char kMagic[] = {0x7F, 'E', 'L', 'F'};
inline constexpr uint32_t kClassAt = 4, kOrderAt = 5;
inline constexpr unsigned char kClass64 = 2, kLittleEndian = 1;
inline constexpr uint32_t kVersion = 1;
inline constexpr uint16_t kShared = 3;
inline constexpr uint16_t kX86 = 62, kAarch64 = 183;

struct Segment {
  uint32_t type;
  uint32_t flags;
  uint64_t offset;           ///< in the file
  uint64_t address, unused;  ///< in the image
  uint64_t stored, bytes;    ///< in the file, in the image
  uint64_t alignment;
};
enum SegmentType : uint32_t {
  kLoad = 1,
  kDynamic = 2,
  kInterpreter = 3,
  kThreadLocal = 7,
  kStack = 0x6474E551,
  kReadOnlyLater = 0x6474E552,
};
enum SegmentFlag : uint32_t { kExecutable = 1, kWritable = 2 };

struct Entry {
  uint64_t tag;
  uint64_t value;
};
enum EntryTag : uint64_t {
  kEnd = 0,
  kDependsOn = 1,
  kJumpBytes = 2,
  kHash = 4,
  kStrings = 5,
  kSymbols = 6,
  kRelocations = 7,
  kRelocationBytes = 8,
  kRelocationEntry = 9,
  kStringBytes = 10,
  kSymbolEntry = 11,
  kInit = 12,
  kFini = 13,
  kShortRelocations = 17,
  kJumpKind = 20,
  kTextRelocations = 22,
  kJumpRelocations = 23,
  kInitArray = 25,
  kFiniArray = 26,
  kPreinitArray = 32,
  kPackedRelocations = 36,
  kGnuHash = 0x6FFFFEF5,
};

/// The bits of tags, all but kGnuHash.
template <class... Tag>
constexpr uint64_t Tags(Tag... tags) {
  return ((uint64_t{1} << tags) | ...);
}

struct Symbol {
  uint32_t name;
  unsigned char info;
  unsigned char other;
  uint16_t section;
  uint64_t value;
  uint64_t bytes;
};
inline constexpr uint16_t kUndefined = 0;
inline constexpr unsigned char kFunction = 2;
inline unsigned char TypeOf(const Symbol& symbol) {
  return symbol.info & 0xF;
}

struct Relocation {
  uint64_t offset;
  uint64_t info;
  int64_t addend;
};
inline uint32_t TypeOf(const Relocation& relocation) {
  return static_cast<uint32_t>(relocation.info);
}
inline uint64_t SymbolOf(const Relocation& relocation) {
  return relocation.info >> 32;
}

static_assert(sizeof(Header) == 64 && sizeof(Segment) == 56 && sizeof(Entry) == 16 && sizeof(Symbol) == 24 &&
              sizeof(Relocation) == 24);

}  // namespace adrt::elf
