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

}  // namespace adrt_python
