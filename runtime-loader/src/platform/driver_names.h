#pragma once
// The file names of the libraries of drivers, best first.

namespace adrt::platform {

#if defined(_WIN32)
inline constexpr const char* kCudaLibraries[] = {"nvcuda.dll"};
inline constexpr const char* kHipLibraries[] = {"amdhip64_6.dll", "amdhip64_7.dll", "amdhip64.dll"};
inline constexpr const char* kVulkanLibraries[] = {"vulkan-1.dll"};
#elif defined(__APPLE__)
// Neither NVIDIA's driver nor AMD's runtime exists there.
inline constexpr const char* kCudaLibraries[] = {"libcuda.dylib"};
inline constexpr const char* kHipLibraries[] = {"libamdhip64.dylib"};
inline constexpr const char* kVulkanLibraries[] = {"libvulkan.1.dylib", "libMoltenVK.dylib"};
#else
inline constexpr const char* kCudaLibraries[] = {"libcuda.so.1"};
// The name without a number comes with the runtime's development files alone.
inline constexpr const char* kHipLibraries[] = {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so"};
inline constexpr const char* kVulkanLibraries[] = {"libvulkan.so.1"};
#endif

}  // namespace adrt::platform
