// There is no cache on Windows: the lists that say there who can write a folder are not read here. It is
// refused before anything is looked for in it.

#include "product/product_cache.h"

#include "host/program_identity.h"
#include "support/check.h"

namespace adc {

std::string ProgramIdentity() {
  ADC_UNREACHABLE("a key of a cache that was refused");
}

namespace driver {

FileStatus CheckCache(const Cache& cache) {
  return FileFailure{"'" + cache.folder + "' cannot be a cache: adc has none on Windows",
                     "leave --cache-dir out"};
}

void CacheKey::Add(std::string_view) {
  ADC_UNREACHABLE("a key of a cache that was refused");
}

std::string CacheKey::Text() {
  ADC_UNREACHABLE("a key of a cache that was refused");
}

bool FindInCache(const Cache&, const std::string&, Product*) {
  ADC_UNREACHABLE("a cache that was refused");
}

FileStatus StoreInCache(const Cache& cache, const std::string&, const Product&) {
  return CheckCache(cache);
}

}  // namespace driver

}  // namespace adc
