#pragma once
// A shared image mapped into the process without the system's dynamic linker: no file, no dependency, no code
// that runs at loading. Pages are written first and executable afterwards, never both.

#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "core/handles.h"

namespace adrt {

/// A mapped image. Null base: none.
class Image {
 public:
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;
  ~Image();

  /// Checks an ELF64 shared object for this processor, maps it, relocates it against the import table, and
  /// sets the final protections. False with the reason in `error`: malformed (H10) or refused by the system.
  bool Map(std::span<const uint8_t> file, adrt_error* error);

  /// A function that is looked for.
  struct Wanted {
    std::string_view name;
    void* address = nullptr;  ///< null where the image exports none of that name
  };
  /// Finds functions in one pass over the symbols, however many there are of both. `wanted` ascends by name;
  /// of equal names the first gets the address.
  void FindAll(std::span<Wanted> wanted) const;
  /// The same for one function.
  void* Find(std::string_view name) const;

 private:
  friend class ImageMapper;

  /// The name that begins at `offset` of the strings, which ends with them at the latest. It is cut where it
  /// is longer than any that is looked for: symbols and relocations may all name one long text.
  std::string_view NameAt(uint64_t offset) const {
    constexpr uint64_t kCut = 256;
    const char* name = strings_ + offset;
    uint64_t most = strings_size_ - offset;
    return {name, strnlen(name, most < kCut ? most : kCut)};
  }

  unsigned char* base_ = nullptr;  ///< the address to which address 0 of the image is mapped
  uint64_t size_ = 0;
  const unsigned char* symbols_ = nullptr;
  uint64_t symbol_count_ = 0;
  const char* strings_ = nullptr;
  uint64_t strings_size_ = 0;
  uint64_t code_begin_[16] = {}, code_end_[16] = {};  ///< executable ranges
  uint32_t code_count_ = 0;
};

}  // namespace adrt
