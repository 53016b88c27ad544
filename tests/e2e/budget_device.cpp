// Gradients within a budget on devices.

#include "../support/folders.h"
#include "../support/this_device.h"
#include "budget_cases.h"

using namespace adc;
using namespace adc::test;

TEST_CASE("gradients within a budget", "[budget]") {
  ThisSystem system;
  WithinBudget device(adc::test::TestsFolder() + "/budget/loops.ir", ThisSystem::kTarget,
                      [&](const adrt_host& host, adrt_device** made, adrt_error* error) {
                        return system.Open(host, made, error);
                      });
  CompareBudgets(device, 0);
}
