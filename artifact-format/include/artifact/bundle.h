#pragma once
// The bundle file, `.adcb`: a header, a table of sections, the sections. Little-endian and canonical: equal
// content gives equal bytes, and a reader refuses every other encoding. artifact-format/README.md describes
// the bytes.

#include <cstdint>
#include <span>
#include <string_view>

#include "artifact/error.h"
#include "artifact/memory.h"
#include "artifact/metadata.h"

namespace adc::artifact {

inline constexpr uint16_t kFormatMajor = 1;
inline constexpr uint16_t kFormatMinor = 18;
inline constexpr uint64_t kHeaderSize = 128;
inline constexpr uint64_t kEntrySize = 64;
inline constexpr uint64_t kSectionAlignment = 64;
inline constexpr uint32_t kNoTarget = 0xFFFFFFFFu;
inline constexpr uint32_t kContentIdSize = 32;

constexpr uint32_t FourCC(const char (&text)[5]) {
  return static_cast<uint32_t>(static_cast<unsigned char>(text[0])) |
         static_cast<uint32_t>(static_cast<unsigned char>(text[1])) << 8 |
         static_cast<uint32_t>(static_cast<unsigned char>(text[2])) << 16 |
         static_cast<uint32_t>(static_cast<unsigned char>(text[3])) << 24;
}

/// Kinds of sections.
namespace section {
inline constexpr uint32_t kMeta = FourCC("META");    ///< canonical JSON, first, exactly one
inline constexpr uint32_t kPtx = FourCC("PTX_");     ///< PTX text
inline constexpr uint32_t kHsaco = FourCC("HSAC");   ///< AMD code object
inline constexpr uint32_t kObject = FourCC("OBJ_");  ///< relocatable object, for static linking
inline constexpr uint32_t kImage = FourCC("SHLB");   ///< position-independent shared image
inline constexpr uint32_t kSpirv = FourCC("SPV_");
inline constexpr uint32_t kMsl = FourCC("MSL_");
inline constexpr uint32_t kPrints = FourCC("PRNT");     ///< the prints of kernels, as JSON
inline constexpr uint32_t kSourceMap = FourCC("SRCM");  ///< optional, strippable
inline constexpr uint32_t kDebugInfo = FourCC("DBGI");  ///< optional, strippable
inline constexpr uint32_t kSignature = FourCC("SIGN");  ///< optional, last
}  // namespace section

enum SectionFlags : uint32_t {
  kSectionRequired = 1u << 0,     ///< a reader that does not know the kind must refuse
  kSectionZstd = 1u << 1,         ///< stored as one zstd frame
  kSectionDifferences = 1u << 2,  ///< of SPIR-V with differences (artifact/spirv_differences.h)
  kSectionPrefix = 1u << 3,       ///< the frame has a prefix: the raw bytes of the first code for processors
};
/// Of these, those that say how a section is stored and nothing of what it holds.
inline constexpr uint32_t kStorageFlags = kSectionZstd | kSectionDifferences | kSectionPrefix;

/// One section to write. `target` is an index in Metadata::targets, or kNoTarget.
struct SectionInput {
  uint32_t kind = 0;
  uint32_t target = kNoTarget;
  bool required = false;
  bool compress = true;  ///< stored compressed where that is smaller
  uint16_t alignment = 64;
  std::span<const uint8_t> bytes = {};
  /// Compressed even where an open with the default budget would then refuse the bundle.
  bool over_budget = false;
};

/// Makes a bundle: sorts the sections into canonical order, compresses, hashes. Sections that are so small
/// that the default budget of an open would refuse them are stored larger: ends of sections remain as they
/// are, as long as the budget wants. The result depends on the inputs alone.
bool WriteBundle(std::span<const SectionInput> sections, Vector<uint8_t>* file, Error* error);

/// One row of the table, as read.
struct Section {
  uint32_t kind = 0;
  uint32_t flags = 0;
  uint32_t target = kNoTarget;
  uint16_t alignment = 0;
  uint64_t offset = 0;
  uint64_t stored_size = 0;
  uint64_t raw_size = 0;
  uint64_t stored_hash = 0;
  uint64_t raw_hash = 0;
  bool known = false;  ///< the kind is one of those above
};

/// The contents of the header and the table, after every rule about them held.
struct BundleIndex {
  uint16_t major = 0, minor = 0;
  uint64_t file_size = 0;
  uint8_t content_id[kContentIdSize] = {};
  Vector<Section> sections;
  uint32_t first_code = kNoSection;  ///< the section that is the prefix of others

  const Section* Find(uint32_t kind, uint32_t target = kNoTarget) const;
};

/// Reads and checks header, table, order, padding and stored hashes. Decompresses nothing.
bool ReadIndex(std::span<const uint8_t> file, const Limits& limits, const Allocator* allocator,
               BundleIndex* index, Error* error);

/// The raw bytes of one section of a file that ReadIndex accepted: decompressed where needed, checked against
/// the raw hash. `bytes` is resized to the raw size.
bool ReadSection(std::span<const uint8_t> file, const BundleIndex& index, uint32_t section,
                 const Limits& limits, Vector<uint8_t>* bytes, Error* error);

/// The same if another program may have written the file since it was opened: its bytes are copied first,
/// and must all match the content id.
bool ReadSectionAgain(std::span<const uint8_t> file, const BundleIndex& index, uint32_t section,
                      const Limits& limits, Vector<uint8_t>* bytes, Error* error);

/// Runs ReadIndex and ReadMetadata, and checks that the content id matches the raw bytes of all sections,
/// and that sections and metadata agree (targets exist, payloads have the form of their kind).
bool ReadBundle(std::span<const uint8_t> file, const Limits& limits, const Allocator* allocator,
                BundleIndex* index, Metadata* metadata, Error* error);

/// The first target, from `first` on, whose code no section holds in the form that its `abi` states;
/// kNoTarget where all have theirs. Reading does not refuse such a bundle: code of some targets may be
/// removed, and the rest stays usable.
uint32_t TargetWithoutCode(const Metadata& metadata, const BundleIndex& index, uint32_t first = 0);

/// "META", with unprintable bytes as '?'. `text` holds 4 characters and a zero.
void SectionKindName(uint32_t kind, char (&text)[5]);

/// XXH3-64.
uint64_t Hash64(std::span<const uint8_t> bytes);

}  // namespace adc::artifact
