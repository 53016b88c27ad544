#include "cuda_driver.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <dlfcn.h>
#endif

namespace adrt_python {
namespace {

constexpr int kDeviceOrdinal = 9;  // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL

void* Find(const char* name) {
#ifdef _WIN32
  static HMODULE driver = LoadLibraryA("nvcuda.dll");
  return driver ? reinterpret_cast<void*>(GetProcAddress(driver, name)) : nullptr;
#else
  static void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  return driver ? dlsym(driver, name) : nullptr;
#endif
}

}  // namespace

int32_t CudaDeviceOf(const void* memory) {
  using Ask = int (*)(void* value, int attribute, uint64_t address);
  static auto ask = reinterpret_cast<Ask>(Find("cuPointerGetAttribute"));
  int device = -1;
  bool known = ask && ask(&device, kDeviceOrdinal, reinterpret_cast<uintptr_t>(memory)) == 0;
  return known ? device : -1;
}

bool SynchronizeCuda(uint64_t stream) {
  using Wait = int (*)(uint64_t stream);
  static auto wait = reinterpret_cast<Wait>(Find("cuStreamSynchronize"));
  return wait && wait(stream) == 0;
}

CudaStream::CudaStream(void* stream) : stream_(stream) {
  using ContextOf = int (*)(void* stream, void** context);
  using Push = int (*)(void* context);
  using DeviceOf = int (*)(int* device);
  static auto context_of = reinterpret_cast<ContextOf>(Find("cuStreamGetCtx"));
  static auto push = reinterpret_cast<Push>(Find("cuCtxPushCurrent_v2"));
  static auto device_of = reinterpret_cast<DeviceOf>(Find("cuCtxGetDevice"));
  void* context = nullptr;
  entered_ = context_of && push && context_of(stream, &context) == 0 && push(context) == 0;
  int device = -1;
  if (entered_ && device_of && device_of(&device) == 0) device_ = device;
}

CudaStream::~CudaStream() {
  using Pop = int (*)(void** context);
  static auto pop = reinterpret_cast<Pop>(Find("cuCtxPopCurrent_v2"));
  void* context = nullptr;
  if (entered_ && pop) pop(&context);
}

bool CudaStream::Clear(void* to, size_t bytes) {
  using Set = int (*)(uint64_t to, unsigned char value, size_t bytes, void* stream);
  static auto set = reinterpret_cast<Set>(Find("cuMemsetD8Async"));
  return set && set(reinterpret_cast<uintptr_t>(to), 0, bytes, stream_) == 0;
}

bool CudaStream::Copy(void* to, const void* from, size_t bytes) {
  using CopyAsync = int (*)(uint64_t to, uint64_t from, size_t bytes, void* stream);
  static auto copy = reinterpret_cast<CopyAsync>(Find("cuMemcpyDtoDAsync_v2"));
  return copy &&
         copy(reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes, stream_) == 0;
}

bool CudaStream::Read(void* to, const void* from, size_t bytes) {
  using ReadAsync = int (*)(void* to, uint64_t from, size_t bytes, void* stream);
  static auto read = reinterpret_cast<ReadAsync>(Find("cuMemcpyDtoHAsync_v2"));
  return read && read(to, reinterpret_cast<uintptr_t>(from), bytes, stream_) == 0 && Wait();
}

bool CudaStream::Wait() {
  return SynchronizeCuda(reinterpret_cast<uintptr_t>(stream_));
}

}  // namespace adrt_python
