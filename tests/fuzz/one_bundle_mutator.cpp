// The mutator of targets whose input is a bundle.

#include "bundle_mutator.h"

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* bytes, size_t size, size_t most, unsigned int seed) {
  return fuzz::MutateBundle(bytes, size, most, seed);
}
