// The system's Metal of a program that has none: the loader finds this table in the place of the one that
// metal_api.mm fills, so that the whole tool (`run --device metal`, `gradcheck --device metal`) runs Metal
// source on the host.

#include "metal_host_api.h"

const adrt_metal_api* adrt_metal_system_api(void) {
  static adc::msl_host::MetalHost metal;
  return metal.api();
}
