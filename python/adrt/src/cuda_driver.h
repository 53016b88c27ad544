#ifndef ADRT_PYTHON_CUDA_DRIVER_H
#define ADRT_PYTHON_CUDA_DRIVER_H

#include <cstdint>

namespace adrt_python {

/// What __cuda_array_interface__ does not say, asked of CUDA's driver, which the array's library has loaded.
/// The number of the device on which memory lies; -1: the driver does not know it, or there is none.
int32_t CudaDeviceOf(const void* memory);

/// Waits for the work of a stream. False where the driver refuses.
bool SynchronizeCuda(uint64_t stream);

}  // namespace adrt_python

#endif
