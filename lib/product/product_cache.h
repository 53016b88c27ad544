#pragma once
// Products of earlier compilations, in a folder that any number of processes and machines may share.
//
// An entry is one file, named after the inputs that decide its bytes: KEY is the SHA-256 of the compiler's
// own identity, the options that matter, and the texts as they were read (driver/compile.cpp gathers them),
// and the file is DIR/KE/Y....adcc. Text is read and verified in every run, so that imports are found by the
// rules of this run; the later steps are left out when an entry is found. Entries are written whole under
// their final name and never changed, so that none is ever half there. An entry whose bytes are damaged is no
// entry. The digest in it finds damage, not forgery. The permissions of the folder protect entries against
// that, and each run checks them.

#include <string>
#include <string_view>

#include "artifact/sha256.h"
#include "host/file_result.h"
#include "product/product.h"

namespace adc::product {

/// Hashes parts so that no two lists of parts meet: each with its length in front.
class CacheKey {
 public:
  void Add(std::string_view part);
  /// 64 hexadecimal digits. Once.
  std::string Text();

 private:
  artifact::Sha256 hash_;
};

/// A folder of entries. A user who can write there decides the outputs of others.
struct Cache {
  std::string folder;
  bool trusted = false;  ///< all users who can write there may: owners and modes are not checked
};

/// Fails where others than this user (and root) can write the folder. A folder that does not exist passes.
FileStatus CheckCache(const Cache& cache);

/// True with the entry's bytes in `product`, and its time set to now, for tools that remove old entries.
/// Links and files that are not regular are no entries, nor are files that others can write.
bool FindInCache(const Cache& cache, const std::string& key, Product* product);

/// Writes an entry in place of what has its name; makes the folders. Fails as writing a file does.
FileStatus StoreInCache(const Cache& cache, const std::string& key, const Product& product);

}  // namespace adc::product
