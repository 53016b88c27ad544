#pragma once
// AMD's HIP runtime on the host: the functions that the loader calls, on a device that is the interpreter.
//
// The functions go to the loader in one of two ways: by a table (`adrt_hip_desc::find`), for tests that have
// the device in their process, or as the exports of a libamdhip64.so.6, which a program that knows nothing of
// it loads as it loads AMD's.
//
// Guarantees: a launch is complete when the call returns. What a kernel must not do makes the launch fail
// with hipErrorLaunchFailure, and is printed to standard error with kernel and instruction. The device works
// on, unlike a real one, so that one wrong kernel does not fail what comes after it.

#include <adrt/adrt_hip.h>

#include <cstdint>
#include <string>

namespace adc::rdna3 {

/// A function of the runtime by its exported name, for adrt_hip_desc::find; null where it is none that the
/// loader calls.
void* FindHipFunction(void* unused, const char* name);

/// What the device did and still has.
struct DeviceState {
  size_t live = 0;  ///< allocations, streams and modules
  uint64_t launches = 0, instructions = 0;
  std::string fault;  ///< text of the last one
};
DeviceState StateOfDevice();

}  // namespace adc::rdna3
