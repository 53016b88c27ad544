#include "bundle_mutator.h"

#include <algorithm>

#include "repack.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* bytes, size_t size, size_t most);

namespace fuzz {

size_t MutateBundle(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  std::vector<uint8_t> file(bytes, bytes + size);
  if (seed % 8 < 5) {
    std::vector<uint8_t> changed = RepackChanged(file, seed / 8, most, LLVMFuzzerMutate);
    if (!changed.empty() && changed.size() <= most) {
      std::ranges::copy(changed, bytes);
      return changed.size();
    }
  }
  size = LLVMFuzzerMutate(bytes, size, most);
  if (seed % 8 == 7) return size;
  file.assign(bytes, bytes + size);
  PutRight(file);
  std::ranges::copy(file, bytes);
  return size;
}

}  // namespace fuzz
