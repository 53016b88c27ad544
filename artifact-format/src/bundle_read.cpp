#define ZSTD_STATIC_LINKING_ONLY  // for the decoder in the caller's memory
#include <zstd.h>

#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "artifact/spirv_differences.h"
#include "bundle_layout.h"
#include "metadata_rules.h"
#include "payload.h"

// Reading a bundle that may be hostile. Every length is unsigned 64-bit and compared as `offset <= size &&
// length <= size - offset` (H1); no allocation is in proportion to a number that was not checked against the
// file's size or a limit (H4); every spelling but the canonical one is refused (H3). A budget bounds the sum
// of all of it (artifact/budget.h): passes over bytes are counted here, before they begin.

namespace adc::artifact {
namespace {

bool Inside(uint64_t size, uint64_t offset, uint64_t length) {
  return offset <= size && length <= size - offset;
}

bool AllZero(std::span<const uint8_t> file, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin; at < end; ++at) {
    if (file[at] != 0) return false;
  }
  return true;
}

bool IsKnown(uint32_t kind) {
  for (uint32_t known :
       {section::kMeta, section::kPtx, section::kHsaco, section::kObject, section::kImage, section::kSpirv,
        section::kMsl, section::kPrints, section::kSourceMap, section::kDebugInfo, section::kSignature}) {
    if (kind == known) return true;
  }
  return false;
}

// Names both versions and the remedy. Returns false.
bool OtherVersion(const BundleIndex& index, Error* error) {
  bool newer = index.major >= kFormatMajor;
  return Fail(error, Code::kVersion, Rule::kNone, "format version ", uint32_t{index.major}, ".",
              uint32_t{index.minor}, "; this reader knows ", uint32_t{kFormatMajor}, ".",
              uint32_t{kFormatMinor}, newer ? ": update the loader" : ": compile the bundle again");
}

class IndexReader {
 public:
  IndexReader(std::span<const uint8_t> file, const Limits& limits, BundleIndex* index, Error* error)
      : file_(file), limits_(limits), index_(index), error_(error) {}

  bool Run() { return Header() && Table() && Sections(); }

 private:
  template <class... Parts>
  ADC_ALWAYS_INLINE bool Bad(Code code, Rule rule, uint64_t offset, const Parts&... parts) {
    const MessagePart list[] = {MessagePart(parts)...};
    return BadWith(code, rule, offset, list);
  }
  bool BadWith(Code code, Rule rule, uint64_t offset, Message message) {
    if (error_) {
      error_->offset = offset;
      error_->section = section_;
    }
    return FailWith(error_, code, rule, message);
  }
  template <class N>
  N At(uint64_t offset) const {
    return Load<N>(head_.data() + offset);
  }

  bool Header() {
    size_t compared = file_.size() < sizeof kMagic ? file_.size() : sizeof kMagic;
    if (compared == 0 || std::memcmp(file_.data(), kMagic, compared) != 0) {
      return Bad(Code::kBadMagic, Rule::kNone, 0,
                 "not a bundle: the first bytes are not those of an .adcb file");
    }
    if (file_.size() < kHeaderSize) {
      return Bad(Code::kTruncated, Rule::kH1, file_.size(), "the file ends inside its header");
    }
    index_->major = At<uint16_t>(header::kMajor);
    index_->minor = At<uint16_t>(header::kMinor);
    if (index_->major != kFormatMajor) {
      if (error_) error_->offset = header::kMajor;
      return OtherVersion(*index_, error_);
    }
    index_->file_size = At<uint64_t>(header::kFileSize);
    if (index_->file_size > file_.size()) {
      return Bad(Code::kTruncated, Rule::kH1, file_.size(), "the file has ", uint64_t{file_.size()}, " of ",
                 index_->file_size, " bytes");
    }
    if (index_->file_size != file_.size()) {
      return Bad(Code::kMalformed, Rule::kH3, index_->file_size, "bytes follow the end of the bundle");
    }
    if (file_.size() > limits_.file_bytes) {
      return Bad(Code::kOverLimit, Rule::kNone, 0, "a file of ", uint64_t{file_.size()},
                 " bytes is over the limit of ", limits_.file_bytes);
    }
    if (At<uint32_t>(header::kSize) != kHeaderSize || At<uint32_t>(header::kEntrySizeAt) != kEntrySize ||
        At<uint64_t>(header::kTableOffset) != kHeaderSize) {
      return Bad(Code::kMalformed, Rule::kH3, header::kSize,
                 "sizes in the header are not those of this format");
    }
    if (At<uint32_t>(header::kFlags) != 0) {
      return Bad(Code::kMalformed, Rule::kH3, header::kFlags, "unknown header flags");
    }
    if (At<uint32_t>(header::kFeatures) != 0) {
      return Bad(Code::kUnsupported, Rule::kH3, header::kFeatures, "the bundle requires features ",
                 At<uint32_t>(header::kFeatures), " that this reader does not know");
    }
    if (!AllZero(head_, header::kPadding, kHeaderSize)) {
      return Bad(Code::kMalformed, Rule::kH3, header::kPadding, "padding of the header is not zero");
    }
    std::memcpy(index_->content_id, head_.data() + header::kContentId, kContentIdSize);
    return true;
  }

  bool Table() {
    count_ = At<uint32_t>(header::kSectionCount);
    if (count_ == 0)
      return Bad(Code::kMalformed, Rule::kH3, header::kSectionCount, "the bundle has no section");
    if (count_ > limits_.sections) {
      return Bad(Code::kOverLimit, Rule::kNone, header::kSectionCount, count_,
                 " sections are over the limit of ", limits_.sections);
    }
    uint64_t table_size = uint64_t{count_} * kEntrySize;
    if (!Inside(file_.size(), kHeaderSize, table_size)) {
      return Bad(Code::kTruncated, Rule::kH1, file_.size(), "the file ends inside its table of sections");
    }
    // The reader decides from the bytes that it hashes: a copy, with the hash's own field as zero (H2). The
    // header was read to get here, and is read again from it.
    Vector<uint8_t>& copy = copy_;
    copy.Bind(index_->sections.allocator());
    if (!copy.TryResize(kHeaderSize + table_size)) return NoMemory();
    std::memcpy(copy.data(), file_.data(), copy.size());
    Store<uint64_t>(copy.data() + header::kHash, 0);
    if (Hash64({copy.data(), copy.size()}) != At<uint64_t>(header::kHash)) {
      return Bad(Code::kCorrupt, Rule::kNone, header::kHash, "header or table of sections is damaged");
    }
    uint32_t count = count_;
    head_ = {copy.data(), copy.size()};
    if (!Header()) return false;
    count_ = At<uint32_t>(header::kSectionCount);
    if (count_ == count) return true;
    return Bad(Code::kCorrupt, Rule::kNone, header::kSectionCount, "the bytes change while they are read");
  }

  bool Sections() {
    uint64_t end = kHeaderSize + uint64_t{count_} * kEntrySize;
    index_->first_code = kNoSection;
    if (!index_->sections.TryReserve(count_)) return NoMemory();
    for (uint32_t number = 0; number < count_; ++number) {
      section_ = number;
      uint64_t at = kHeaderSize + uint64_t{number} * kEntrySize;
      Section item;
      if (!Row(at, &item) || !Place(at, item, end)) return false;
      if (number > 0 && !ComesBefore(index_->sections[number - 1], item)) {
        return Bad(Code::kMalformed, Rule::kH3, at, "sections are not in canonical order");
      }
      if (number == 0 && item.kind != section::kMeta) {
        return Bad(Code::kMalformed, Rule::kH3, at, "the first section is not META");
      }
      if (Hash64(file_.subspan(item.offset, item.stored_size)) != item.stored_hash) {
        return Bad(Code::kCorrupt, Rule::kNone, item.offset, "section ", number, " is damaged");
      }
      end = item.offset + item.stored_size;
      if (!index_->sections.TryPush(item)) return NoMemory();
    }
    section_ = kNoSection;
    if (end != file_.size()) {
      return Bad(Code::kMalformed, Rule::kH3, end, "bytes follow the last section");
    }
    return true;
  }

  bool Row(uint64_t at, Section* item) {
    item->kind = At<uint32_t>(at + row::kKind);
    item->flags = At<uint32_t>(at + row::kFlags);
    item->offset = At<uint64_t>(at + row::kOffset);
    item->stored_size = At<uint64_t>(at + row::kStoredSize);
    item->raw_size = At<uint64_t>(at + row::kRawSize);
    item->stored_hash = At<uint64_t>(at + row::kStoredHash);
    item->raw_hash = At<uint64_t>(at + row::kRawHash);
    item->target = At<uint32_t>(at + row::kTarget);
    item->alignment = At<uint16_t>(at + row::kAlignment);
    item->known = IsKnown(item->kind);
    char kind[5], name[16];
    SectionKindName(item->kind, kind);
    TextWriter(name, sizeof name) << "section " << kind;
    uint32_t storage = kSectionZstd;
    if (item->kind == section::kSpirv) storage |= kSectionDifferences;
    if (IsProcessorCode(item->kind)) {
      if (index_->first_code != kNoSection)
        storage |= kSectionPrefix;
      else
        index_->first_code = section_;
    }
    if ((item->flags & ~(kSectionRequired | storage)) != 0) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kFlags, name, " has unknown flags");
    }
    if (!item->known && (item->flags & kSectionRequired)) {
      return Bad(Code::kUnsupported, Rule::kH3, at, name, " is required and unknown to this reader");
    }
    if (At<uint16_t>(at + row::kZero16) != 0 || At<uint64_t>(at + row::kZero64) != 0) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kZero16, "reserved fields of ", name,
                 " are not zero");
    }
    uint64_t alignment = item->alignment;
    if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kAlignment, name, " has alignment ", alignment);
    }
    if (item->target != kNoTarget && item->target >= limits_.targets) {
      return Bad(Code::kOverLimit, Rule::kH3, at + row::kTarget, name, " names a target over the limit of ",
                 limits_.targets, " targets");
    }
    // The content id leaves the signature out, so the rules here fix the content of its row.
    if (item->kind == section::kSignature &&
        (item->flags != 0 || item->target != kNoTarget || alignment != kSectionAlignment)) {
      return Bad(Code::kMalformed, Rule::kH3, at, name, " is optional, plain, of no target and aligned to ",
                 kSectionAlignment);
    }
    return Sizes(at, *item, name);
  }

  bool Sizes(uint64_t at, const Section& item, const char* name) {
    bool packed = item.flags & kSectionZstd;
    if (item.stored_size == 0 || item.raw_size == 0) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kStoredSize, name, " is empty");
    }
    if (item.raw_size > limits_.section_bytes ||
        (item.kind == section::kMeta && item.raw_size > limits_.metadata_bytes)) {
      return Bad(Code::kOverLimit, Rule::kH4, at + row::kRawSize, name, " of ", item.raw_size,
                 " bytes is over the limit");
    }
    if (!packed && (item.stored_size != item.raw_size || item.stored_hash != item.raw_hash ||
                    item.flags & kStorageFlags)) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kRawSize, name,
                 " is stored as it is, yet sizes or hashes differ");
    }
    if (packed && item.stored_size >= item.raw_size) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kRawSize, name, " grew by compression");
    }
    if (packed && item.raw_size / item.stored_size >= limits_.ratio) {
      return Bad(Code::kOverLimit, Rule::kH5, at + row::kRawSize, name, " is compressed more than ",
                 limits_.ratio, " to 1");
    }
    return true;
  }

  bool Place(uint64_t at, const Section& item, uint64_t end) {
    if (!Inside(file_.size(), item.offset, item.stored_size)) {
      return Bad(Code::kMalformed, Rule::kH1, at + row::kOffset,
                 "a section reaches past the end of the file");
    }
    if (item.offset != AlignUp(end, FileAlignment(item))) {
      return Bad(Code::kMalformed, Rule::kH3, at + row::kOffset,
                 "a section does not begin where the last one ends");
    }
    if (!AllZero(file_, end, item.offset)) {
      return Bad(Code::kMalformed, Rule::kH3, end, "padding between sections is not zero");
    }
    return true;
  }

  bool NoMemory() {
    return Fail(error_, Code::kOutOfMemory, Rule::kNone, "out of memory for the table of sections");
  }

  std::span<const uint8_t> file_;
  std::span<const uint8_t> head_ =
      file_;  ///< where header and table are read: in the copy, once there is one
  Vector<uint8_t> copy_;
  const Limits& limits_;
  BundleIndex* index_;
  Error* error_;
  uint32_t count_ = 0;
  uint32_t section_ = kNoSection;
};

// Checks the header of a zstd frame (RFC 8878, 3.1.1.1): one frame of known size, no dictionary, a window
// that the decoder may be asked to have.
bool CheckFrame(std::span<const uint8_t> stored, uint64_t raw_size, Error* error) {
  auto bad = [&](std::string_view why) {
    return Fail(error, Code::kMalformed, Rule::kH5, "compressed section: ", why);
  };
  if (stored.size() < 6 || Load<uint32_t>(stored.data()) != 0xFD2FB528u) return bad("not a zstd frame");
  uint8_t descriptor = stored[4];
  bool single_segment = descriptor & 0x20;
  if (descriptor & 0x0F) return bad("has a checksum, dictionary or reserved bit");
  uint64_t window = raw_size;
  if (!single_segment) {
    uint32_t exponent = stored[5] >> 3, mantissa = stored[5] & 7;
    window = (uint64_t{1} << (10 + exponent)) / 8 * (8 + mantissa);
  }
  if (window > uint64_t{1} << kMaxWindowLog) return bad("window is too large");
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_size ||
      ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) {
    return bad("not one frame that states its size");
  }
  return true;
}

void* ZstdAllocate(void* user, size_t size) {
  // zstd does not say the size when it releases: it is stored in front.
  constexpr size_t kFront = alignof(std::max_align_t);
  if (size > SIZE_MAX - kFront) return nullptr;
  char* memory = static_cast<char*>(Allocate(static_cast<const Allocator*>(user), size + kFront, kFront));
  if (!memory) return nullptr;
  std::memcpy(memory, &size, sizeof size);
  return memory + kFront;
}

void ZstdRelease(void* user, void* memory) {
  constexpr size_t kFront = alignof(std::max_align_t);
  if (!memory) return;
  char* begin = static_cast<char*>(memory) - kFront;
  size_t size = 0;
  std::memcpy(&size, begin, sizeof size);
  Release(static_cast<const Allocator*>(user), begin, size + kFront, kFront);
}

// Sections of one bundle, one after the other, with one decoder: making one takes longer than most sections.
class SectionReader {
 public:
  SectionReader(std::span<const uint8_t> file, const BundleIndex& index, const Limits& limits,
                const Allocator* allocator)
      : prefix(allocator), file_(file), index_(index), limits_(limits) {}
  ~SectionReader() { ZSTD_freeDCtx(context_); }
  SectionReader(const SectionReader&) = delete;
  SectionReader& operator=(const SectionReader&) = delete;

  bool Read(uint32_t number, Vector<uint8_t>* bytes, Error* error) {
    if (number >= index_.sections.size()) return Fail(error, Code::kArgument, Rule::kNone, "no such section");
    const Section& item = index_.sections[number];
    if (error) error->section = number;
    if (!Inside(file_.size(), item.offset, item.stored_size) || item.raw_size > limits_.section_bytes) {
      return Fail(error, Code::kMalformed, Rule::kH1, "a section reaches past the end of the file");
    }
    std::span<const uint8_t> stored = file_.subspan(item.offset, item.stored_size);
    if (item.flags & kSectionPrefix && prefix.empty()) {
      if (!Read(index_.first_code, &prefix, error)) return false;
      if (error) error->section = number;
    }
    bytes->clear();
    if (item.flags & kSectionZstd && !CheckFrame(stored, item.raw_size, error)) return false;
    if (!bytes->TryResize(item.raw_size)) {
      return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for a section");
    }
    if (item.flags & kSectionZstd) {
      if (!Decompress(stored, item.flags, bytes, error)) return false;
    } else {
      std::memcpy(bytes->data(), stored.data(), stored.size());
    }
    // The caller's bytes may change under us: only the copy counts (H2).
    if (Hash64({bytes->data(), bytes->size()}) != item.raw_hash) {
      return Fail(error, Code::kCorrupt, Rule::kNone, "the content of a section is damaged");
    }
    if (error) error->section = kNoSection;
    return true;
  }

  Vector<uint8_t> prefix;  ///< the raw bytes of the first code, from which others are decompressed

 private:
  bool Decompress(std::span<const uint8_t> stored, uint32_t flags, Vector<uint8_t>* bytes, Error* error) {
    if (!context_) {
      ZSTD_customMem memory = {ZstdAllocate, ZstdRelease, const_cast<Allocator*>(prefix.allocator())};
      context_ = ZSTD_createDCtx_advanced(memory);
      if (!context_) return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the decoder");
    }
    size_t of_prefix = flags & kSectionPrefix ? prefix.size() : 0;
    size_t size = ZSTD_decompress_usingDict(context_, bytes->data(), bytes->size(), stored.data(),
                                            stored.size(), prefix.data(), of_prefix);
    bool good = !ZSTD_isError(size) && size == bytes->size();
    if (good && flags & kSectionDifferences) good = FromDifferences({bytes->data(), size});
    if (!good) return Fail(error, Code::kCorrupt, Rule::kH5, "a compressed section does not decompress");
    return true;
  }

  std::span<const uint8_t> file_;
  const BundleIndex& index_;
  const Limits& limits_;
  ZSTD_DCtx* context_ = nullptr;
};

}  // namespace

void SectionKindName(uint32_t kind, char (&text)[5]) {
  for (int index = 0; index < 4; ++index) {
    char letter = static_cast<char>(kind >> (8 * index) & 0xFF);
    text[index] = letter >= 0x20 && letter < 0x7F ? letter : '?';
  }
  text[4] = 0;
}

const Section* BundleIndex::Find(uint32_t kind, uint32_t target) const {
  for (const Section& item : sections) {
    if (item.kind == kind && item.target == target) return &item;
  }
  return nullptr;
}

uint32_t TargetWithoutCode(const Metadata& metadata, const BundleIndex& index, uint32_t first) {
  struct Form {
    std::string_view abi;
    uint32_t kind;
  };
  constexpr Form kForms[] = {{"elf", section::kObject},  {"elf", section::kImage},   {"ptx", section::kPtx},
                             {"hsaco", section::kHsaco}, {"spirv", section::kSpirv}, {"msl", section::kMsl}};
  for (uint32_t target = first; target < metadata.targets.size(); ++target) {
    bool found = false;
    for (const Form& form : kForms) {
      bool states = metadata.targets[target].abi.view() == form.abi;
      found = found || (states && index.Find(form.kind, target) != nullptr);
    }
    if (!found) return target;
  }
  return kNoTarget;
}

bool ReadIndex(std::span<const uint8_t> file, const Limits& limits, const Allocator* allocator,
               BundleIndex* index, Error* error) {
  index->sections.Bind(allocator);
  return IndexReader(file, limits, index, error).Run();
}

bool ReadSection(std::span<const uint8_t> file, const BundleIndex& index, uint32_t number,
                 const Limits& limits, Vector<uint8_t>* bytes, Error* error) {
  return SectionReader(file, index, limits, bytes->allocator()).Read(number, bytes, error);
}

namespace {

bool OverSteps(Error* error) {
  return Fail(error, Code::kOverLimit, Rule::kH4, "opening takes too many steps");
}

// Decompressed bytes that the table announces, before any is made.
bool TakeRaw(const BundleIndex& index, OpenBudget* budget, Error* error) {
  uint64_t raw = 0;
  for (const Section& item : index.sections) {
    // At most 1024 sections of at most 256 MiB.
    if (item.flags & kSectionZstd) raw += item.raw_size;
  }
  return budget->TakeRaw(raw) || Fail(error, Code::kOverLimit, Rule::kH4, "sections are too large");
}

// Checks each section, for the content id and for what its kind promises. Section 0, the metadata, was read
// before: the content id is computed of the bytes from which the reader decided.
bool CheckSections(SectionReader& reader, const BundleIndex& index, const Metadata& metadata,
                   std::span<const uint8_t> first, OpenBudget* budget, Error* error) {
  constexpr uint64_t kPasses = 6;  // decompressing, two hashes, looking for entry points
  Sha256 sha;
  Vector<uint8_t> other(budget->allocator());
  for (uint32_t number = 0; number < index.sections.size(); ++number) {
    const Section& item = index.sections[number];
    uint64_t passes = kPasses + (item.flags & kSectionDifferences ? kOpenStepsOfDifferences : 0);
    if (!budget->Spend(passes * item.raw_size)) return OverSteps(error);
    Vector<uint8_t>& bytes = number == index.first_code ? reader.prefix : other;
    if (number > 0 && !reader.Read(number, &bytes, error)) return false;
    std::span<const uint8_t> raw = first;
    if (number > 0) raw = {bytes.data(), bytes.size()};
    if (!CheckPayload(item, raw, metadata, budget, error)) {
      if (error) error->section = number;
      return false;
    }
    if (item.kind == section::kSignature) continue;
    HashDescription(item, &sha);
    sha.Update(raw.data(), raw.size());
  }
  uint8_t digest[kContentIdSize];
  sha.Finish(digest);
  if (std::memcmp(digest, index.content_id, sizeof digest) != 0) {
    return Fail(error, Code::kCorrupt, Rule::kNone, "the content id is not that of the sections");
  }
  return true;
}

bool ReadParts(std::span<const uint8_t> file, const Limits& limits, OpenBudget* budget, BundleIndex* index,
               Metadata* metadata, Error* error) {
  if (!budget->Spend(file.size())) return OverSteps(error);
  if (!ReadIndex(file, limits, budget->allocator(), index, error) || !TakeRaw(*index, budget, error))
    return false;
  SectionReader reader(file, *index, limits, budget->allocator());
  Vector<uint8_t> json(budget->allocator());
  if (!reader.Read(0, &json, error)) return false;
  std::string_view text(reinterpret_cast<const char*>(json.data()), json.size());
  if (!ReadMetadata(text, index->minor, limits, budget, metadata, error)) {
    if (error) error->section = 0;
    return false;
  }
  return CheckSections(reader, *index, *metadata, {json.data(), json.size()}, budget, error);
}

// If this reader refuses something in a bundle of a newer minor version, then most likely that version added
// it. Returns false.
bool TellNewer(const BundleIndex& index, Error* error) {
  bool unknown = error && (error->code == Code::kMalformed || error->code == Code::kUnsupported);
  if (!unknown || index.minor <= kFormatMinor) return false;
  error->code = Code::kOk;
  return OtherVersion(index, error);
}

}  // namespace

bool ReadSectionAgain(std::span<const uint8_t> file, const BundleIndex& index, uint32_t number,
                      const Limits& limits, Vector<uint8_t>* bytes, Error* error) {
  // One reading of bytes that may change meanwhile; all else reads the copy.
  Vector<uint8_t> copy(bytes->allocator()), other(bytes->allocator());
  if (!copy.TryResize(file.size()))
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for a copy of the bundle");
  std::memcpy(copy.data(), file.data(), file.size());
  SectionReader reader({copy.data(), copy.size()}, index, limits, bytes->allocator());
  Sha256 sha;
  for (uint32_t each = 0; each < index.sections.size(); ++each) {
    Vector<uint8_t>* raw = each == number ? bytes : &other;
    if (!reader.Read(each, raw, error)) return false;
    if (index.sections[each].kind == section::kSignature) continue;
    HashDescription(index.sections[each], &sha);
    sha.Update(raw->data(), raw->size());
  }
  uint8_t digest[kContentIdSize];
  sha.Finish(digest);
  if (std::memcmp(digest, index.content_id, sizeof digest) == 0) return true;
  return Fail(error, Code::kCorrupt, Rule::kNone, "the bytes are not those that were opened");
}

bool ReadBundle(std::span<const uint8_t> file, const Limits& limits, OpenBudget* budget, BundleIndex* index,
                Metadata* metadata, Error* error) {
  bool good = ReadParts(file, limits, budget, index, metadata, error);
  budget->Finish();
  return good || budget->Explain(error) || TellNewer(*index, error);
}

bool ReadBundle(std::span<const uint8_t> file, const Limits& limits, const Allocator* allocator,
                BundleIndex* index, Metadata* metadata, Error* error) {
  // The budget goes with the call and the result stays, so its memory is the allocator's own.
  OpenLimits own;
  own.memory_bytes = UINT64_MAX;
  OpenBudget budget(allocator, own, file.size());
  return ReadBundle(file, limits, &budget, index, metadata, error);
}

}  // namespace adc::artifact
