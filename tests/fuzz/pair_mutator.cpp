// The mutator of pairs of bundles: one of the two changes as a bundle does, or becomes the other one with a
// change, or what is asked for changes.

#include <cstring>

#include "bundle_mutator.h"
#include "bundle_pair.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  fuzz::BundlePair pair = fuzz::BundlePair::Read(bytes, size);
  unsigned int kind = seed % 16, rest = seed / 16;
  std::vector<uint8_t>& changed = kind & 1 ? pair.first : pair.second;
  if (kind == 0) {
    pair.choices = static_cast<uint8_t>(rest);
  } else {
    if (kind >= 12) changed = kind & 1 ? pair.second : pair.first;
    size_t length = changed.size(), most_of_one = most / 2;
    changed.resize(std::max(length, most_of_one));
    changed.resize(fuzz::MutateBundle(changed.data(), length, changed.size(), rest));
  }
  std::string written = pair.Write();
  size_t result = std::min(written.size(), most);
  std::memcpy(bytes, written.data(), result);
  return result;
}
