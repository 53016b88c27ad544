#include "product/product_cache.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "host/files.h"
#include "host/read_text.h"
#include "product/text_digest.h"

namespace adc::product {

namespace {

// An entry: these 8 bytes, the lengths of the three parts as 8 bytes each, the parts, the SHA-256 of all
// before.
constexpr char kMagic[] = "ADCCACH1";
constexpr size_t kMagicSize = 8, kHead = kMagicSize + 3 * 8, kDigest = 32;
constexpr uint64_t kLargest = uint64_t{1} << 32;

std::string FolderOf(const Cache& cache, const std::string& key) {
  return cache.folder + "/" + key.substr(0, 2);
}

std::string NameOf(const std::string& key) {
  return key.substr(2) + ".adcc";
}

/// An open file that is closed with this.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int operator*() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

constexpr int kOpenFolder = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
constexpr mode_t kOthersWrite = S_IWGRP | S_IWOTH;

/// Why others decide what is in the open file or folder; empty where none do.
std::string OthersIn(int file) {
  struct stat facts = {};
  if (fstat(file, &facts) != 0) return std::strerror(errno);
  if (facts.st_uid != geteuid() && facts.st_uid != 0)
    return "it belongs to the user with the number " + std::to_string(facts.st_uid);
  if ((facts.st_mode & kOthersWrite) == 0) return {};
  std::string mode;
  for (int shift = 9; shift >= 0; shift -= 3) mode += static_cast<char>('0' + (facts.st_mode >> shift & 7));
  return "its mode is " + mode;
}

FileStatus CheckOpen(const Cache& cache, int folder, const std::string& name) {
  std::string others = cache.trusted ? "" : OthersIn(folder);
  if (others.empty()) return FileDone{};
  return FileFailure{"others can write the cache '" + name + "', and so decide what comes out: " + others,
                     "take the right from them (chmod go-w), name a folder of your own with --cache-dir, or "
                     "trust all who can write there with --trust-cache"};
}

/// Makes a folder that only its owner may write or, in a trusted cache, all that the umask admits. Writing
/// the entry reports a failure again.
void MakeFolder(const Cache& cache, const std::string& folder) {
  (void)mkdir(folder.c_str(), cache.trusted ? 0777 : 0777 & ~kOthersWrite);
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
  return HexDigest(&hash_);
}

FileStatus CheckCache(const Cache& cache) {
  Descriptor folder(open(cache.folder.c_str(), kOpenFolder));
  if (!folder) return FileDone{};  // writing reports it if there can be no folder
  return CheckOpen(cache, *folder, cache.folder);
}

bool FindInCache(const Cache& cache, const std::string& key, Product* product) {
  std::string place = FolderOf(cache, key);
  Descriptor folder(open(place.c_str(), kOpenFolder | O_NOFOLLOW));
  if (!folder || !CheckOpen(cache, *folder, place)) return false;
  // A pipe is opened without its writer, and then is no regular file.
  int flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  Descriptor file(openat(*folder, NameOf(key).c_str(), flags));
  if (!file || (!cache.trusted && !OthersIn(*file).empty())) return false;
  ReadText read = ReadOpenFile(*file, kLargest);
  if (read.end != ReadEnd::Whole || read.text.size() < kHead + kDigest || !read.text.starts_with(kMagic))
    return false;
  std::string_view bytes = read.text;
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
  // In a store that this process may not write the time stays.
  (void)futimens(*file, nullptr);
  return at == content.size();
}

FileStatus StoreInCache(const Cache& cache, const std::string& key, const Product& product) {
  std::string bytes(kMagic, kMagicSize);
  for (const std::vector<uint8_t>* part : {&product.bytes, &product.header, &product.json})
    bytes += LengthBytes(part->size());
  for (const std::vector<uint8_t>* part : {&product.bytes, &product.header, &product.json})
    bytes.append(part->begin(), part->end());
  bytes += DigestOf(bytes);
  std::error_code failure;
  std::filesystem::path whole =
      std::filesystem::absolute(cache.folder) / "";  // with or without '/' at its end
  std::filesystem::create_directories(whole.parent_path().parent_path(), failure);
  MakeFolder(cache, cache.folder);
  std::string place = FolderOf(cache, key);
  MakeFolder(cache, place);
  if (FileStatus own = CheckCache(cache); !own) return own;
  Descriptor folder(open(place.c_str(), kOpenFolder | O_NOFOLLOW));
  if (!folder) return FileFailure{"cannot write '" + place + "': " + std::strerror(errno), ""};
  if (FileStatus own = CheckOpen(cache, *folder, place); !own) return own;
  return ReplaceWhole(place + "/" + NameOf(key), cache.trusted,
                      std::span(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()));
}

}  // namespace adc::product
