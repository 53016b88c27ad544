#pragma once
// A device, queue and command buffer of the test's own, of the kind that a program is built for
// (this_device.h).

#if defined(ADC_TEST_ON_METAL)

#include "own_metal.h"

namespace adc::test {
using OwnDevice = OwnMetal;
}  // namespace adc::test

#elif defined(ADC_TEST_ON_PREPARED)

#include "on_prepared.h"

namespace adc::test {
using OwnDevice = OnPrepared;
}  // namespace adc::test

#else

#include "own_vulkan.h"

namespace adc::test {
using OwnDevice = OwnVulkan;
}  // namespace adc::test

#endif
