// Typed calls in C++20: relax and its gradient through spans, against central differences; a span that is too
// short is refused.
#include <cmath>
#include <vector>

#include "kernels.h"
#include "kernels_adcb.h"
#include "session.h"

namespace {

double Loss(const std::vector<float>& x) {
  float loss = 0;
  const adc::calls::relax::call call({.x = x, .loss = &loss, .n = 4});
  run(adc_relax_name, adc_relax_interface_hash, call.table, adc_relax_param_count);
  return static_cast<double>(loss);
}

void CompareWithDifferences() {
  std::vector<float> x = {-1.0f, -0.25f, 0.5f, 1.25f}, x_adjoint(x.size());
  float loss = 0, seed = 1;
  const adc::calls::relax_grad::call call(
      {.x = x, .loss = &loss, .n = 4, .x_adj = x_adjoint, .loss_adj = &seed});
  uint64_t heap =
      run(adc_relax_grad_name, adc_relax_grad_interface_hash, call.table, adc_relax_grad_param_count);
  expect(heap == adc_relax_grad_heap_bytes(&call.values, WORKERS), "another heap than the plan says");
  for (size_t i = 0; i < x.size(); ++i) {
    const float at = x[i], h = 1.0f / 128;
    x[i] = at + h;
    double above = Loss(x);
    x[i] = at - h;
    double below = Loss(x);
    x[i] = at;
    double difference = (above - below) / (2 * static_cast<double>(h));
    expect(std::fabs(difference - static_cast<double>(x_adjoint[i])) < 1e-3,
           "the gradient differs from differences");
  }
}

void RefuseShortSpan() {
  std::vector<float> x(8), x_adjoint(7);
  float loss = 0, seed = 1;
  for (std::span<float> adjoint : {std::span<float>(x_adjoint), std::span<float>()}) {
    const adc::calls::relax_grad::call call(
        {.x = x, .loss = &loss, .n = 4, .x_adj = adjoint, .loss_adj = &seed});
    adrt_launch_plan* plan = nullptr;
    adrt_status status = make_plan(adc_relax_grad_name, adc_relax_grad_interface_hash, call.table,
                                   adc_relax_grad_param_count, &plan);
    expect(status == ADRT_ERROR_ARGUMENT, "a span that is too short is taken");
  }
}

}  // namespace

int main() {
  begin_session(kernels_adcb, kernels_adcb_size);
  CompareWithDifferences();
  RefuseShortSpan();
  end_session();
  return 0;
}
