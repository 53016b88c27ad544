#include <zstd.h>

#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "bundle_layout.h"

namespace adc::artifact {
namespace {

constexpr int kLevel = 9;

// One zstd frame with the content size and neither checksum nor dictionary, from one thread: the same bytes
// whatever the machine. Empty where compressing saves nothing or would pass the ratio that readers accept.
bool Compress(std::span<const uint8_t> bytes, Vector<uint8_t>* stored, Error* error) {
  size_t bound = ZSTD_compressBound(bytes.size());
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (!context || !stored->TryResize(bound)) {
    ZSTD_freeCCtx(context);
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for compressing a section");
  }
  ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, kLevel);
  ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, kMaxWindowLog);
  ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 1);
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 0);
  ZSTD_CCtx_setParameter(context, ZSTD_c_dictIDFlag, 0);
  size_t size = ZSTD_compress2(context, stored->data(), bound, bytes.data(), bytes.size());
  ZSTD_freeCCtx(context);
  bool shrinks = !ZSTD_isError(size) && size < bytes.size() && bytes.size() / size < Limits{}.ratio;
  return stored->TryResize(shrinks ? size : 0);
}

bool IsPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

struct Item {
  Section row;
  Vector<uint8_t> compressed;
  std::span<const uint8_t> raw, stored;
  bool over_budget = false;
};

// Whether an open of these sections stays within the default budget, padding not counted.
bool FitsBudget(std::span<const Item> items) {
  uint64_t file = kHeaderSize + kEntrySize * items.size(), raw = 0, steps = 0;
  for (const Item& item : items) {
    bool compressed = !item.compressed.empty();
    file += compressed ? item.compressed.size() : item.raw.size();
    if (compressed) raw += item.raw.size();
    bool metadata = item.row.kind == section::kMeta;
    steps += (metadata ? kOpenStepsOfMetadata : kOpenStepsOfSection) * item.raw.size();
  }
  steps += file;
  return raw <= kOpenRaw + kOpenRawPerByte * file && steps <= kOpenSteps + kOpenStepsPerByte * (file + raw) &&
         steps <= kMostOpenSteps + kMostOpenStepsPerByte * file;
}

// Sections that compress so well that an open of the bundle would look like one made to be costly are stored
// as they are, the longest first, until it does not.
void StoreWithinBudget(std::span<Item> items) {
  while (!FitsBudget(items)) {
    Item* longest = nullptr;
    for (Item& item : items) {
      bool can = !item.compressed.empty() && !item.over_budget;
      if (can && (!longest || item.raw.size() > longest->raw.size())) longest = &item;
    }
    if (!longest) return;
    longest->compressed.clear();
    longest->row.flags &= ~uint32_t{kSectionZstd};
  }
}

}  // namespace

bool WriteBundle(std::span<const SectionInput> inputs, Vector<uint8_t>* file, Error* error) {
  Limits limits;
  if (inputs.size() > limits.sections) {
    return Fail(error, Code::kOverLimit, Rule::kNone, "more than ", limits.sections, " sections");
  }
  Vector<Item> items;
  for (const SectionInput& input : inputs) {
    Item item;
    item.row.kind = input.kind;
    item.row.target = input.target;
    item.row.flags = input.required ? uint32_t{kSectionRequired} : 0;
    item.row.alignment = input.alignment;
    item.over_budget = input.over_budget;
    item.row.raw_size = input.bytes.size();
    item.raw = item.stored = input.bytes;
    char name[5];
    SectionKindName(input.kind, name);
    if (input.bytes.empty() || input.bytes.size() > limits.section_bytes) {
      return Fail(error, Code::kArgument, Rule::kNone, "section ", std::string_view(name, 4), " has ",
                  uint64_t{input.bytes.size()}, " bytes; 1 to ", limits.section_bytes, " are possible");
    }
    if (!IsPowerOfTwo(input.alignment) || input.alignment > 4096) {
      return Fail(error, Code::kArgument, Rule::kNone, "alignment of section ", std::string_view(name, 4),
                  " is no power of two up to 4096");
    }
    bool is_signature = input.kind == section::kSignature;
    if (is_signature &&
        (input.required || input.target != kNoTarget || input.alignment != kSectionAlignment)) {
      return Fail(error, Code::kArgument, Rule::kNone,
                  "a signature is optional, of no target and aligned to ", kSectionAlignment);
    }
    if (input.compress && !is_signature) {
      if (!Compress(input.bytes, &item.compressed, error)) return false;
      if (!item.compressed.empty()) item.row.flags |= kSectionZstd;
    }
    size_t at = items.size();
    items.push_back(std::move(item));
    while (at > 0 && ComesBefore(items[at].row, items[at - 1].row)) {
      std::swap(items[at], items[at - 1]);
      --at;
    }
  }
  if (items.empty() || items[0].row.kind != section::kMeta) {
    return Fail(error, Code::kArgument, Rule::kNone, "a bundle needs a META section");
  }
  for (size_t index = 1; index < items.size(); ++index) {
    if (!ComesBefore(items[index - 1].row, items[index].row)) {
      return Fail(error, Code::kArgument, Rule::kNone, "two sections have the same kind and target");
    }
  }

  StoreWithinBudget({items.data(), items.size()});
  uint64_t end = kHeaderSize + kEntrySize * items.size();
  for (Item& item : items) {
    if (item.row.flags & kSectionZstd) item.stored = {item.compressed.data(), item.compressed.size()};
    item.row.offset = AlignUp(end, FileAlignment(item.row));
    item.row.stored_size = item.stored.size();
    item.row.stored_hash = Hash64(item.stored);
    item.row.raw_hash = Hash64(item.raw);
    end = item.row.offset + item.row.stored_size;
  }
  if (end > limits.file_bytes) {
    return Fail(error, Code::kOverLimit, Rule::kNone, "the bundle would have ", end, " bytes; the limit is ",
                limits.file_bytes);
  }

  file->clear();
  if (!file->TryResize(end))
    return Fail(error, Code::kOutOfMemory, Rule::kNone, "out of memory for the bundle");
  uint8_t* bytes = file->data();
  std::memcpy(bytes, kMagic, sizeof kMagic);
  Store<uint16_t>(bytes + header::kMajor, kFormatMajor);
  Store<uint16_t>(bytes + header::kMinor, kFormatMinor);
  Store<uint32_t>(bytes + header::kSize, kHeaderSize);
  Store<uint64_t>(bytes + header::kFileSize, end);
  Store<uint32_t>(bytes + header::kSectionCount, static_cast<uint32_t>(items.size()));
  Store<uint32_t>(bytes + header::kEntrySizeAt, kEntrySize);
  Store<uint64_t>(bytes + header::kTableOffset, kHeaderSize);

  Sha256 sha;
  uint8_t* entry = bytes + kHeaderSize;
  for (const Item& item : items) {
    Store<uint32_t>(entry + row::kKind, item.row.kind);
    Store<uint32_t>(entry + row::kFlags, item.row.flags);
    Store<uint64_t>(entry + row::kOffset, item.row.offset);
    Store<uint64_t>(entry + row::kStoredSize, item.row.stored_size);
    Store<uint64_t>(entry + row::kRawSize, item.row.raw_size);
    Store<uint64_t>(entry + row::kStoredHash, item.row.stored_hash);
    Store<uint64_t>(entry + row::kRawHash, item.row.raw_hash);
    Store<uint32_t>(entry + row::kTarget, item.row.target);
    Store<uint16_t>(entry + row::kAlignment, item.row.alignment);
    std::memcpy(bytes + item.row.offset, item.stored.data(), item.stored.size());
    if (item.row.kind != section::kSignature) {
      HashDescription(item.row, &sha);
      sha.Update(item.raw.data(), item.raw.size());
    }
    entry += kEntrySize;
  }
  uint8_t digest[kContentIdSize];
  sha.Finish(digest);
  std::memcpy(bytes + header::kContentId, digest, sizeof digest);
  Store<uint64_t>(bytes + header::kHash, Hash64({bytes, kHeaderSize + kEntrySize * items.size()}));
  return true;
}

}  // namespace adc::artifact
