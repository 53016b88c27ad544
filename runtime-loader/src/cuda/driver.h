#pragma once
// NVIDIA's driver as a table of function pointers: from libcuda.so.1, or from the program that wraps a
// device. The prototypes are the loader's own, after the driver's documentation: nothing of CUDA is needed to
// build it. The driver keeps these names and their parameters (a changed function gets a new suffix, _v2).

#include <adrt/adrt.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/library.h"
#include "stream/stream.h"

/// One pointer per row of calls.def, in its order.
struct adrt_cuda_api {
#define ADRT_CUDA_CALL(name, symbol, parameters) int(*name) parameters;
#include "cuda/calls.def"
#undef ADRT_CUDA_CALL
};

namespace adrt {

/// Numbers of the driver's documentation.
enum CudaResult : int {
  kCudaSuccess = 0,
  kCudaOutOfMemory = 2,
  kCudaNoDevice = 100,
  kCudaUnsupportedPtx = 222,
};

/// The names of the functions of stream/calls.def.
extern const char* const kCudaStreamNames[];
extern const char* const kCudaGraphNames[];

/// Fills the tables by name, from NVIDIA's library where `find` is null.
bool FindCuda(FindEntry find, void* user, adrt_cuda_api* api, adrt_stream_api* stream_api,
              adrt_graph_api* graph_api, adrt_error* error);

/// Reports that `call` gave `code`: by name and number, as out of memory or a lost device where it is that.
/// Always false.
bool CudaFailed(const adrt_cuda_api& api, int code, const char* call, adrt_error* error);

/// The newest PTX that a driver of this version reads, times ten: 12040 reads 84.
uint32_t NewestPtx(int driver_version);
/// The version that a text states in `.version 7.0`, times ten; 0 where it states none.
uint32_t PtxVersion(std::string_view text);

}  // namespace adrt
