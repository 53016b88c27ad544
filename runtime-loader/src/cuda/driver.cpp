#include "cuda/driver.h"

#include <string_view>

#include "core/errors.h"
#include "platform/driver_names.h"

namespace adrt {
namespace {

constexpr const char* kNames[] = {
#define ADRT_CUDA_CALL(name, symbol, parameters) symbol,
#include "cuda/calls.def"
#undef ADRT_CUDA_CALL
};
static_assert(sizeof(adrt_cuda_api) == sizeof kNames);

// After these nothing works in the context any more, whatever is called: the driver's documentation says so
// of each.
bool IsLost(int code) {
  switch (code) {
    case 4:    // CUDA_ERROR_DEINITIALIZED
    case 214:  // CUDA_ERROR_ECC_UNCORRECTABLE
    case 220:  // CUDA_ERROR_NVLINK_UNCORRECTABLE
    case 226:  // CUDA_ERROR_CONTAINED
    case 700:  // CUDA_ERROR_ILLEGAL_ADDRESS
    case 702:  // CUDA_ERROR_LAUNCH_TIMEOUT
    case 709:  // CUDA_ERROR_CONTEXT_IS_DESTROYED
    case 710:  // CUDA_ERROR_ASSERT
    case 714:  // CUDA_ERROR_HARDWARE_STACK_ERROR
    case 715:  // CUDA_ERROR_ILLEGAL_INSTRUCTION
    case 716:  // CUDA_ERROR_MISALIGNED_ADDRESS
    case 717:  // CUDA_ERROR_INVALID_ADDRESS_SPACE
    case 718:  // CUDA_ERROR_INVALID_PC
    case 719:  // CUDA_ERROR_LAUNCH_FAILED
      return true;
    default:
      return false;
  }
}

}  // namespace

const char* const kCudaStreamNames[] = {
#define ADRT_STREAM_CALL(name, cuda, hip, parameters) cuda,
#include "stream/calls.def"
#undef ADRT_STREAM_CALL
};
const char* const kCudaGraphNames[] = {
#define ADRT_GRAPH_CALL(name, cuda, hip, parameters) cuda,
#include "stream/graph_calls.def"
#undef ADRT_GRAPH_CALL
};

bool FindCuda(FindEntry find, void* user, adrt_cuda_api* api, adrt_stream_api* stream_api,
              adrt_graph_api* graph_api, adrt_error* error) {
  if (!find) {
    user = OpenLibrary(platform::kCudaLibraries, error);
    if (!user) return false;
    find = FindInLibrary;
  }
  void *table[sizeof kNames / sizeof *kNames], *stream_table[kStreamCalls];
  if (!FillTable(find, user, kNames, table, "the CUDA driver", error) ||
      !FillTable(find, user, kCudaStreamNames, stream_table, "the CUDA driver", error)) {
    return false;
  }
  std::memcpy(api, static_cast<const void*>(table), sizeof table);
  std::memcpy(stream_api, static_cast<const void*>(stream_table), sizeof stream_table);
  void* graph_table[kGraphCalls];
  for (size_t call = 0; call < kGraphCalls; ++call) graph_table[call] = find(user, kCudaGraphNames[call]);
  std::memcpy(graph_api, static_cast<const void*>(graph_table), sizeof graph_table);
  return true;
}

bool CudaFailed(const adrt_cuda_api& api, int code, const char* call, adrt_error* error) {
  const char *name = nullptr, *text = nullptr;
  if (api.GetErrorName(code, &name) != kCudaSuccess || !name) name = "an unknown error";
  if (api.GetErrorString(code, &text) != kCudaSuccess || !text) text = "";
  adrt_status status = code == kCudaOutOfMemory ? ADRT_ERROR_OUT_OF_DEVICE_MEMORY
                       : IsLost(code)           ? ADRT_ERROR_DEVICE_LOST
                                                : ADRT_ERROR_DRIVER;
  Fail(error, status, call, " failed: ", name, " (", int32_t{code}, ")", *text ? ": " : "", text);
  error->native_code = code;
  return false;
}

uint32_t NewestPtx(int driver_version) {
  // CUDA 11.0 to 12.5 read PTX 7.0 to 8.5, and so on by the same rule, but for these.
  struct Exception {
    int driver;
    uint32_t ptx;
  };
  constexpr Exception kExceptions[] = {{9000, 60},  {9010, 61},  {9020, 62},  {10000, 63}, {10010, 64},
                                       {10020, 65}, {12060, 85}, {12070, 86}, {12080, 87}, {12090, 88}};
  for (const Exception& exception : kExceptions) {
    if (exception.driver == driver_version) return exception.ptx;
  }
  int major = driver_version / 1000, minor = driver_version % 1000 / 10;
  return major > 4 ? static_cast<uint32_t>(10 * (major - 4) + minor) : 0;
}

uint32_t PtxVersion(std::string_view text) {
  constexpr std::string_view kWord = ".version";
  size_t at = text.find(kWord);
  if (at == std::string_view::npos) return 0;
  at += kWord.size();
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  uint32_t parts[2] = {0, 0};
  for (uint32_t& part : parts) {
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9' && part < 100; ++at) {
      part = part * 10 + static_cast<uint32_t>(text[at] - '0');
    }
    ++at;  // the dot
  }
  return parts[0] * 10 + parts[1];
}

}  // namespace adrt
