#pragma once
// AMD's HIP runtime (6.0 or newer) as a table of function pointers: from libamdhip64.so, or from the program
// that wraps a device. The prototypes are the loader's own, after the runtime's documentation: nothing of
// ROCm is needed to build it.

#include <adrt/adrt.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/library.h"
#include "stream/stream.h"

/// One pointer per row of calls.def, in its order.
struct adrt_hip_api {
#define ADRT_HIP_CALL(name, symbol, result, parameters) result(*name) parameters;
#include "hip/calls.def"
#undef ADRT_HIP_CALL
};

namespace adrt {

/// Numbers of the runtime's documentation.
enum HipResult : int {
  kHipSuccess = 0,
  kHipOutOfMemory = 2,
  kHipNoDevice = 100,
};

/// hipDeviceProp_tR0600, whose layout the number in its name stands for: the members that are read, and the
/// rest unnamed.
struct HipProperties {
  char name[256];
  char rest_0[52];
  int32_t wave;  ///< threads that run in step
  char rest_1[24];
  int32_t grid[3];  ///< blocks of a launch, at most; of AMD's devices the threads
  char rest_2[40];
  int32_t processors;
  char rest_3[232];
  int32_t threads_per_processor;
  char rest_4[532];
  char arch[256];  ///< "gfx90a:sramecc+:xnack-"
  char rest_5[56];
  char later[576];  ///< for fields that the runtime may add at the end
};
static_assert(offsetof(HipProperties, wave) == 308);
static_assert(offsetof(HipProperties, grid) == 336);
static_assert(offsetof(HipProperties, processors) == 388);
static_assert(offsetof(HipProperties, threads_per_processor) == 624);
static_assert(offsetof(HipProperties, arch) == 1160);
static_assert(offsetof(HipProperties, later) == 1472);

/// The names of the functions of stream/calls.def.
extern const char* const kHipStreamNames[];
extern const char* const kHipGraphNames[];

/// Fills the tables by name, from AMD's library where `find` is null.
bool FindHip(FindEntry find, void* user, adrt_hip_api* api, adrt_stream_api* stream_api,
             adrt_graph_api* graph_api, adrt_error* error);

/// Reports that `call` gave `code`: by name and number, as out of memory or a lost device where it is that.
/// Always false.
bool HipFailed(const adrt_hip_api& api, int code, const char* call, adrt_error* error);

}  // namespace adrt
