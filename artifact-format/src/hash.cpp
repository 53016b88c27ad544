// XXH3 from xxHash's header, compiled in here alone and for size: it runs once over each section.
#define XXH_INLINE_ALL
#define XXH_NO_STREAM
#define XXH_VECTOR XXH_SCALAR
#include <xxhash.h>

#include "artifact/bundle.h"

namespace adc::artifact {

uint64_t Hash64(std::span<const uint8_t> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace adc::artifact
