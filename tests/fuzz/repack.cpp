#include "repack.h"

#include <zstd.h>

#include "artifact/bundle.h"
#include "artifact/spirv_differences.h"

namespace fuzz {
namespace {

using namespace adc::artifact;

uint64_t Get(const std::vector<uint8_t>& file, size_t at, size_t size) {
  uint64_t value = 0;
  for (size_t index = 0; index < size; ++index) value |= uint64_t{file[at + index]} << (8 * index);
  return value;
}
void Put(std::vector<uint8_t>& file, size_t at, uint64_t value, size_t size) {
  for (size_t index = 0; index < size; ++index) file[at + index] = static_cast<uint8_t>(value >> (8 * index));
}

constexpr uint64_t kMostSections = 64;
constexpr uint64_t kMostRaw = 1 << 20;

struct Content {
  SectionInput input;
  std::vector<uint8_t> bytes;
};

const Content* FirstProcessorCode(const std::vector<Content>& contents) {
  for (const Content& content : contents)
    if (content.input.kind == section::kObject || content.input.kind == section::kImage) return &content;
  return nullptr;
}

// What each row names, decompressed where that can be done.
std::vector<Content> Contents(const std::vector<uint8_t>& file) {
  std::vector<Content> contents;
  if (file.size() < kHeaderSize) return contents;
  uint64_t count = Get(file, 24, 4);
  if (count > kMostSections) count = kMostSections;
  for (uint64_t row = 0; row < count && kHeaderSize + (row + 1) * kEntrySize <= file.size(); ++row) {
    size_t at = kHeaderSize + row * kEntrySize;
    uint64_t offset = Get(file, at + 8, 8), size = Get(file, at + 16, 8), raw = Get(file, at + 24, 8);
    if (offset > file.size() || size > file.size() - offset || size == 0) continue;
    Content content;
    content.input.kind = static_cast<uint32_t>(Get(file, at, 4));
    content.input.target = static_cast<uint32_t>(Get(file, at + 48, 4));
    content.input.alignment = static_cast<uint16_t>(Get(file, at + 52, 2));
    content.input.required = (file[at + 4] & kSectionRequired) != 0;
    content.input.compress = false;
    const uint8_t* stored = file.data() + offset;
    content.bytes.assign(stored, stored + size);
    if ((file[at + 4] & kSectionZstd) && raw > 0 && raw <= kMostRaw) {
      std::vector<uint8_t> plain(raw);
      const Content* first = file[at + 4] & kSectionPrefix ? FirstProcessorCode(contents) : nullptr;
      ZSTD_DCtx* context = ZSTD_createDCtx();
      size_t got =
          ZSTD_decompress_usingDict(context, plain.data(), plain.size(), stored, size,
                                    first ? first->bytes.data() : nullptr, first ? first->bytes.size() : 0);
      ZSTD_freeDCtx(context);
      if (!ZSTD_isError(got) && got > 0) {
        plain.resize(got);
        if (file[at + 4] & kSectionDifferences) FromDifferences(plain);
        content.bytes = plain;
      }
    }
    contents.push_back(content);
  }
  return contents;
}

std::vector<uint8_t> Pack(std::vector<Content>& contents) {
  std::vector<SectionInput> sections;
  for (Content& content : contents) {
    content.input.bytes = {content.bytes.data(), content.bytes.size()};
    sections.push_back(content.input);
  }
  Vector<uint8_t> file;
  Error error;
  if (sections.empty() || !WriteBundle({sections.data(), sections.size()}, &file, &error)) return {};
  return {file.begin(), file.end()};
}

}  // namespace

void PutRight(std::vector<uint8_t>& file) {
  if (file.size() < kHeaderSize) return;
  Put(file, 16, file.size(), 8);
  uint64_t table = kEntrySize * Get(file, 24, 4);
  if (table > file.size() - kHeaderSize) return;
  for (uint64_t at = kHeaderSize; at < kHeaderSize + table; at += kEntrySize) {
    uint64_t offset = Get(file, at + 8, 8), size = Get(file, at + 16, 8);
    if (offset > file.size() || size > file.size() - offset) continue;
    uint64_t hash = Hash64({file.data() + offset, size});
    Put(file, at + 32, hash, 8);
    if (!(file[at + 4] & kSectionZstd)) Put(file, at + 40, hash, 8);
  }
  Put(file, 48, 0, 8);
  Put(file, 48, Hash64({file.data(), kHeaderSize + table}), 8);
}

std::vector<uint8_t> Repack(const std::vector<uint8_t>& file) {
  std::vector<Content> contents = Contents(file);
  return Pack(contents);
}

std::vector<uint8_t> RepackChanged(const std::vector<uint8_t>& file, uint32_t seed, size_t most,
                                   size_t (*change)(uint8_t* bytes, size_t size, size_t most)) {
  std::vector<Content> contents = Contents(file);
  if (contents.empty()) return {};
  // Most of what decides is in the metadata, which comes first.
  Content& chosen = contents[seed % 4 != 0 ? 0 : seed / 4 % contents.size()];
  size_t size = chosen.bytes.size(), capacity = size + 256 < most ? size + 256 : most;
  if (capacity < size) return {};
  chosen.bytes.resize(capacity);
  chosen.bytes.resize(change(chosen.bytes.data(), size, capacity));
  if (chosen.bytes.empty()) return {};
  return Pack(contents);
}

}  // namespace fuzz
