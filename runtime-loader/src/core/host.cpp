#include "core/host.h"

#include "core/errors.h"

namespace adrt {
namespace {

// A caller may lower a limit, never raise it.
template <class N>
void Lower(N wanted, N* limit) {
  if (wanted != 0 && wanted < *limit) *limit = wanted;
}

}  // namespace

bool MakeHost(const adrt_host* from, Host* host, adrt_error* error) {
  if (!from) return true;
  adrt_host copy = {};
  if (!CopyDescriptor(from, &copy)) return Refuse(error, ADRT_ERROR_ARGUMENT, "host: ", kNotSet);
  if (!copy.allocate != !copy.release) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "host: allocate and release go together");
  }
  host->allocator = {copy.allocate, copy.release, copy.user};
  host->user = copy.user;
  host->log = copy.log;
  host->authorize = copy.authorize;
  host->trust = copy.flags & ADRT_HOST_TRUST;
  constexpr uint32_t kMostKeys = 64;
  if (copy.public_key_count > kMostKeys || (!copy.public_keys && copy.public_key_count > 0)) {
    return Refuse(error, ADRT_ERROR_ARGUMENT, "host: public_keys: ", copy.public_key_count, " keys",
                  copy.public_keys ? ", at most 64 are possible" : " at a null pointer");
  }
  if (copy.reserved0 != 0) return Refuse(error, ADRT_ERROR_ARGUMENT, "host: ", kNotSet);
  host->public_keys = {copy.public_keys, size_t{copy.public_key_count} * artifact::kPublicKeySize};
  host->check_signature = copy.check_signature;
  host->trace_heap = copy.trace_heap;
  if (copy.flags & ~uint32_t{ADRT_HOST_TRUST})
    return Refuse(error, ADRT_ERROR_ARGUMENT, "host: unknown flags");
  if (copy.limits) {
    adrt_limits wanted = {};
    if (!CopyDescriptor(copy.limits, &wanted)) {
      return Refuse(error, ADRT_ERROR_ARGUMENT, "host: limits: ", kNotSet);
    }
    Lower(wanted.sections, &host->limits.sections);
    Lower(wanted.file_bytes, &host->limits.file_bytes);
    Lower(wanted.section_bytes, &host->limits.section_bytes);
    Lower(wanted.metadata_bytes, &host->limits.metadata_bytes);
    Lower(wanted.targets, &host->limits.targets);
    Lower(wanted.kernels, &host->limits.kernels);
    Lower(wanted.name_bytes, &host->limits.name_bytes);
    Lower(wanted.ratio, &host->limits.ratio);
    host->open_limits = {wanted.open_memory_bytes, wanted.open_raw_bytes, wanted.open_steps};
  }
  return true;
}

void Log(const Host& host, const char* text) {
  if (host.log) host.log(host.user, text);
}

}  // namespace adrt
