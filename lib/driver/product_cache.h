#pragma once
// Products of earlier compilations, in a folder that any number of processes and machines may share.
//
// An entry is one file, named after what decides its bytes: KEY is the SHA-256 of the compiler's own
// identity, the options that matter, and the texts as they were read (driver/compile.cpp gathers them), and
// the file is DIR/KE/Y....adcc. Text is read and verified in every run, so that imports are found by the
// rules of this run; what follows is left out when an entry is found. Entries are written whole under their
// final name and never changed, so that none is ever half there. An entry whose bytes are damaged is no
// entry.

#include <string>
#include <string_view>

#include "artifact/sha256.h"
#include "driver/compile.h"
#include "support/file_result.h"

namespace adc::driver {

/// Hashes parts so that no two lists of parts meet: each with its length in front.
class CacheKey {
 public:
  void Add(std::string_view part);
  /// 64 hexadecimal digits. Once.
  std::string Text();

 private:
  artifact::Sha256 hash_;
};

/// True with the entry's bytes in `product`, and its time set to now, for those who remove what is old.
bool FindInCache(const std::string& folder, const std::string& key, Product* product);

/// Writes an entry; makes the folders. Fails as writing a file does.
FileStatus StoreInCache(const std::string& folder, const std::string& key, const Product& product);

}  // namespace adc::driver
