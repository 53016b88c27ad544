// Gradients within a budget on Metal source that the host runs.

#include <adrt/adrt_metal.h>

#include "../support/metal_host_api.h"
#include "budget_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("gradients within a budget on Metal", "[budget][metal]") {
  msl_host::MetalHost metal;
  {
    WithinBudget device(std::string(ADC_TESTS) + "/budget/loops.ir", "metal:2.4",
                        [&](const adrt_host& host, adrt_device** made, adrt_error* error) {
                          adrt_metal_desc desc = {};
                          desc.struct_size = sizeof desc;
                          desc.threads = 1024;
                          desc.api = metal.api();
                          return adrt_device_open_metal(&host, &desc, made, error);
                        });
    CompareBudgets(device, 0);
  }
  CHECK(metal.LiveObjects() == 0);
}
