#pragma once
// The kind of device that a program is built for. Tests that say the same of every kind are one source,
// built once for each (adc_e2e_device_test in tests/e2e/CMakeLists.txt).

#if defined(ADC_TEST_ON_VULKAN)

#include "on_vulkan.h"

namespace adc::test {
using ThisSystem = VulkanSystem;
using ThisDevice = OnVulkan;
constexpr bool kHasDoubles = true;
}  // namespace adc::test

#elif defined(ADC_TEST_ON_METAL)

#include "on_metal.h"

namespace adc::test {
using ThisSystem = MetalSystem;
using ThisDevice = OnMetal;
constexpr bool kHasDoubles = false;
}  // namespace adc::test

#elif defined(ADC_TEST_ON_HIP)

#include "on_hip.h"

namespace adc::test {
using ThisSystem = HipSystem;
using ThisDevice = OnHip;
constexpr bool kHasDoubles = true;
}  // namespace adc::test

#elif defined(ADC_TEST_ON_PREPARED)

#include "on_prepared.h"

namespace adc::test {
using ThisSystem = PreparedSystem;
using ThisDevice = OnPrepared;
constexpr bool kHasDoubles = true;
}  // namespace adc::test

#else

#include "on_cpu.h"

namespace adc::test {
class ThisDevice : public OnCpu {
 public:
  explicit ThisDevice(const std::string& path) : OnCpu(path, 2) {}
};
}  // namespace adc::test

#endif
