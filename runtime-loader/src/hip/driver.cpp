#include "hip/driver.h"

#include "core/errors.h"
#include "platform/driver_names.h"

namespace adrt {
namespace {

constexpr const char* kNames[] = {
#define ADRT_HIP_CALL(name, symbol, result, parameters) symbol,
#include "hip/calls.def"
#undef ADRT_HIP_CALL
};
static_assert(sizeof(adrt_hip_api) == sizeof kNames);

// After these nothing works on the device any more, whatever is called.
bool IsLost(int code) {
  switch (code) {
    case 4:    // hipErrorDeinitialized
    case 214:  // hipErrorECCNotCorrectable
    case 700:  // hipErrorIllegalAddress
    case 702:  // hipErrorLaunchTimeOut
    case 709:  // hipErrorContextIsDestroyed
    case 710:  // hipErrorAssert
    case 719:  // hipErrorLaunchFailure
      return true;
    default:
      return false;
  }
}

}  // namespace

const char* const kHipStreamNames[] = {
#define ADRT_STREAM_CALL(name, cuda, hip, parameters) hip,
#include "stream/calls.def"
#undef ADRT_STREAM_CALL
};
const char* const kHipGraphNames[] = {
#define ADRT_GRAPH_CALL(name, cuda, hip, parameters) hip,
#include "stream/graph_calls.def"
#undef ADRT_GRAPH_CALL
};

bool FindHip(FindEntry find, void* user, adrt_hip_api* api, adrt_stream_api* stream_api,
             adrt_graph_api* graph_api, adrt_error* error) {
  if (!find) {
    user = OpenLibrary(platform::kHipLibraries, error);
    if (!user) return false;
    find = FindInLibrary;
  }
  void *table[sizeof kNames / sizeof *kNames], *stream_table[kStreamCalls];
  if (!FillTable(find, user, kNames, table, "the HIP runtime", error) ||
      !FillTable(find, user, kHipStreamNames, stream_table, "the HIP runtime", error)) {
    return false;
  }
  std::memcpy(api, static_cast<const void*>(table), sizeof table);
  std::memcpy(stream_api, static_cast<const void*>(stream_table), sizeof stream_table);
  void* graph_table[kGraphCalls];
  for (size_t call = 0; call < kGraphCalls; ++call) graph_table[call] = find(user, kHipGraphNames[call]);
  std::memcpy(graph_api, static_cast<const void*>(graph_table), sizeof graph_table);
  return true;
}

bool HipFailed(const adrt_hip_api& api, int code, const char* call, adrt_error* error) {
  const char *name = api.GetErrorName(code), *text = api.GetErrorString(code);
  if (!name) name = "an unknown error";
  if (!text) text = "";
  adrt_status status = code == kHipOutOfMemory ? ADRT_ERROR_OUT_OF_DEVICE_MEMORY
                       : IsLost(code)          ? ADRT_ERROR_DEVICE_LOST
                                               : ADRT_ERROR_DRIVER;
  Fail(error, status, call, " failed: ", name, " (", int32_t{code}, ")", *text ? ": " : "", text);
  error->native_code = code;
  return false;
}

}  // namespace adrt
