// Gradients within a budget on Vulkan.

#include <adrt/adrt_vk.h>

#include "budget_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("gradients within a budget on Vulkan", "[budget][vulkan]") {
  std::string faults;
  {
    WithinBudget device(std::string(ADC_TESTS) + "/budget/loops.ir", "vulkan:1.2",
                        [&](adrt_host host, adrt_device** made, adrt_error* error) {
                          host.user = &faults;
                          host.log = [](void* own, const char* text) {
                            bool is_fault = std::strstr(text, "validation: ") != nullptr;
                            if (is_fault) *static_cast<std::string*>(own) += std::string(text) + "\n";
                          };
                          adrt_vk_open_desc desc = {};
                          desc.struct_size = sizeof desc;
                          desc.flags = ADRT_VK_VALIDATE;
                          return adrt_device_open_vk(&host, &desc, made, error);
                        });
    CompareBudgets(device, 0);
  }
  CHECK(faults == "");
}
