#include "artifact/budget.h"
#include "artifact/bundle.h"
#include "artifact/spirv_differences.h"
#include "bundle_layout.h"
#include "section_frame.h"

namespace adc::artifact {
namespace {

bool IsPowerOfTwo(uint64_t value) {
  return value != 0 && (value & (value - 1)) == 0;
}

struct Item {
  Section row;
  Vector<uint8_t> differences, compressed;  // empty where the section is stored without
  std::span<const uint8_t> raw, stored;
  std::span<const uint8_t> prefix;  // empty where the section is compressed alone
  bool compress = false, over_budget = false;

  std::span<const uint8_t> Packed() const {
    return differences.empty() ? raw : std::span<const uint8_t>(differences.data(), differences.size());
  }
};

uint64_t Saved(const Item& item) {
  return item.raw.size() - item.compressed.size();
}

bool Compress(Item* item, Error* error) {
  if (item->row.kind == section::kSpirv) {
    item->differences = Vector<uint8_t>(item->raw.data(), item->raw.data() + item->raw.size());
    bool has = ToDifferences({item->differences.data(), item->differences.size()});
    if (!has) item->differences.clear();
  }
  if (!CompressSection(item->Packed(), item->prefix, 0, &item->compressed, error)) return false;
  if (item->compressed.empty()) return true;
  item->row.flags |= kSectionZstd;
  if (!item->differences.empty()) item->row.flags |= kSectionDifferences;
  if (!item->prefix.empty()) item->row.flags |= kSectionPrefix;
  return true;
}

// Code for processors has the first of its kind as prefix, as far as a window reaches.
bool CompressAll(std::span<Item> items, Error* error) {
  const Item* first = nullptr;
  for (Item& item : items) {
    bool is_code = IsProcessorCode(item.row.kind);
    if (is_code && first && first->raw.size() + item.raw.size() <= uint64_t{1} << kMaxWindowLog)
      item.prefix = first->raw;
    if (is_code && !first) first = &item;
    if (item.compress && !Compress(&item, error)) return false;
  }
  return true;
}

// Whether an open of these sections, and of `more` bytes of compressed ones, stays within the default budget,
// padding not counted.
bool FitsBudget(std::span<const Item> items, uint64_t more) {
  uint64_t file = kHeaderSize + kEntrySize * items.size() + more, raw = 0, steps = 0;
  for (const Item& item : items) {
    bool compressed = !item.compressed.empty();
    file += compressed ? item.compressed.size() : item.raw.size();
    if (compressed) raw += item.raw.size();
    bool metadata = item.row.kind == section::kMeta;
    steps += (metadata ? kOpenStepsOfMetadata : kOpenStepsOfSection) * item.raw.size();
    if (!item.differences.empty()) steps += kOpenStepsOfDifferences * item.raw.size();
  }
  steps += file;
  return raw <= kOpenRaw + kOpenRawPerByte * file && steps <= kOpenSteps + kOpenStepsPerByte * (file + raw) &&
         steps <= kMostOpenSteps + kMostOpenStepsPerByte * file;
}

// The fewest bytes up to `most` that the file lacks to fit; `most` where these do not suffice.
uint64_t MissingBytes(std::span<const Item> items, uint64_t most) {
  uint64_t least = 0;
  while (least < most) {
    uint64_t middle = least + (most - least) / 2;
    if (FitsBudget(items, middle)) {
      most = middle;
    } else {
      least = middle + 1;
    }
  }
  return least;
}

// A bundle that compresses so well that an open would look like one made to be costly keeps as many bytes as
// they are as the budget wants, of the sections that compression saves most of, each from its end.
bool StoreWithinBudget(std::span<Item> items, Error* error) {
  while (!FitsBudget(items, 0)) {
    Item* most = nullptr;
    for (Item& item : items) {
      bool can = !item.compressed.empty() && !item.over_budget;
      if (can && (!most || Saved(item) > Saved(*most))) most = &item;
    }
    if (!most) return true;
    // The compressed form of what becomes plain is missing then too.
    size_t plain = 0, whole = most->raw.size();
    while (!most->compressed.empty() && !FitsBudget(items, 0)) {
      plain += MissingBytes(items, whole - plain);
      if (plain >= whole) {
        most->compressed.clear();
      } else if (!CompressSection(most->Packed(), most->prefix, plain, &most->compressed, error)) {
        return false;
      }
    }
    if (most->compressed.empty()) most->row.flags &= ~kStorageFlags;
  }
  return true;
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
    item.compress = input.compress && !is_signature;
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

  if (!CompressAll({items.data(), items.size()}, error)) return false;
  if (!StoreWithinBudget({items.data(), items.size()}, error)) return false;
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
