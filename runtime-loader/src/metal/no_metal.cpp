#include "metal/api.h"

// Other systems have no Metal; Apple's get metal_api.mm.

#if !defined(__APPLE__)
const adrt_metal_api* adrt_metal_system_api(void) {
  return nullptr;
}
#endif
