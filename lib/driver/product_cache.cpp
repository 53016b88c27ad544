#include "driver/product_cache.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstring>
#include <filesystem>
#include <vector>

#include "support/files.h"

namespace adc::driver {

namespace {

// An entry: these 8 bytes, the lengths of the three parts as 8 bytes each, the parts, the SHA-256 of all
// before.
constexpr char kMagic[] = "ADCCACH1";
constexpr size_t kMagicSize = 8, kHead = kMagicSize + 3 * 8, kDigest = 32;
constexpr uint64_t kLargest = uint64_t{1} << 32;

std::string Place(const std::string& folder, const std::string& key) {
  return folder + "/" + key.substr(0, 2) + "/" + key.substr(2) + ".adcc";
}

std::string DigestOf(std::string_view bytes) {
  artifact::Sha256 hash;
  hash.Update(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  uint8_t digest[kDigest];
  hash.Finish(digest);
  return {reinterpret_cast<const char*>(digest), kDigest};
}

std::string LengthBytes(uint64_t length) {
  std::string bytes;
  for (int at = 0; at < 8; ++at) bytes += static_cast<char>(length >> (8 * at) & 255);
  return bytes;
}

uint64_t LengthAt(std::string_view bytes) {
  uint64_t length = 0;
  for (size_t at = 0; at < 8; ++at) length |= uint64_t{static_cast<uint8_t>(bytes[at])} << (8 * at);
  return length;
}

}  // namespace

void CacheKey::Add(std::string_view part) {
  std::string length = LengthBytes(part.size());
  hash_.Update(reinterpret_cast<const uint8_t*>(length.data()), length.size());
  hash_.Update(reinterpret_cast<const uint8_t*>(part.data()), part.size());
}

std::string CacheKey::Text() {
  uint8_t digest[kDigest];
  hash_.Finish(digest);
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

bool FindInCache(const std::string& folder, const std::string& key, Product* product) {
  std::string place = Place(folder, key);
  if (!CheckRegularFile(place)) return false;
  FileResult<std::string> read = ReadWhole(place, kLargest);
  if (!read || read->size() < kHead + kDigest || !read->starts_with(kMagic)) return false;
  std::string_view bytes = *read;
  std::string_view content = bytes.substr(0, bytes.size() - kDigest);
  if (bytes.substr(content.size()) != DigestOf(content)) return false;
  std::vector<uint8_t>* parts[] = {&product->bytes, &product->header, &product->json};
  uint64_t at = kHead;
  for (size_t n = 0; n < 3; ++n) {
    uint64_t length = LengthAt(content.substr(kMagicSize + 8 * n));
    if (length > content.size() - at) return false;
    parts[n]->assign(content.begin() + static_cast<ptrdiff_t>(at),
                     content.begin() + static_cast<ptrdiff_t>(at + length));
    at += length;
  }
  // In a store that nobody may write the time stays.
  (void)utimensat(AT_FDCWD, place.c_str(), nullptr, 0);
  return at == content.size();
}

FileStatus StoreInCache(const std::string& folder, const std::string& key, const Product& product) {
  std::string bytes(kMagic, kMagicSize);
  for (const std::vector<uint8_t>* part : {&product.bytes, &product.header, &product.json})
    bytes += LengthBytes(part->size());
  for (const std::vector<uint8_t>* part : {&product.bytes, &product.header, &product.json})
    bytes.append(part->begin(), part->end());
  bytes += DigestOf(bytes);
  std::string place = Place(folder, key);
  std::error_code failure;  // what it says, writing says again
  std::filesystem::create_directories(std::filesystem::path(place).parent_path(), failure);
  return WriteWhole(place, bytes);
}

}  // namespace adc::driver
