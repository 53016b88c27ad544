#ifndef ADRT_PYTHON_CUDA_DRIVER_H
#define ADRT_PYTHON_CUDA_DRIVER_H

#include <cstddef>
#include <cstdint>

namespace adrt_python {

/// The device, which __cuda_array_interface__ does not tell, asked of CUDA's driver, which the array's
/// library has loaded. The number of the device on which memory lies; -1: the driver does not know it, or
/// there is none.
int32_t CudaDeviceOf(const void* memory);

/// Waits for the work of a stream. False where the driver refuses.
bool SynchronizeCuda(uint64_t stream);

/// A stream of CUDA's driver. Its context is that of the thread for as long as the object lives. Functions
/// give false where the driver refuses.
class CudaStream {
 public:
  explicit CudaStream(void* stream);
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  ~CudaStream();

  /// The stream's device; -1: the driver does not know the stream.
  int32_t device() const { return device_; }
  void* handle() const { return stream_; }
  /// Both in the stream, without waiting.
  bool Clear(void* to, size_t bytes);
  bool Copy(void* to, const void* from, size_t bytes);
  /// From the device to the host, after all that is in the stream.
  bool Read(void* to, const void* from, size_t bytes);
  bool Wait();

 private:
  void* stream_;
  int32_t device_ = -1;
  bool entered_ = false;
};

}  // namespace adrt_python

#endif
