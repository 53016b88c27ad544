#include "new_templates.h"

namespace adc::tool {

const std::string_view kNewText = R"text(// The energy of springs between neighbours on a line:
//   energy = sum over i of k/2 * (x[i+1] - x[i] - 1)^2
// `diff` marks what has a derivative: @name@.grad fills x.adj, the adjoint of x, from energy.adj.

kernel @@name@(%x: buffer<f32, 1> diff, %energy: buffer<f32, 0> diff, %k: f32) {
  parallel %i in 0..shape(%x, 0) - 1 {
    %stretch = %x[%i + 1] - %x[%i] - 1.0
    atomic add %energy[], 0.5 * %k * %stretch * %stretch
  }
}
)text";

const std::string_view kNewCpp = R"text(// The energy of springs between neighbours on a line:
//   energy = sum over i of k/2 * (x[i+1] - x[i] - 1)^2
// diff<> marks what has a derivative: @name@.grad fills x.adj, the adjoint of x, from energy.adj.

#include <adc/kernel.hpp>

ADC_KERNEL void @name@(adc::diff<adc::buffer<float, 1>> x, adc::diff<adc::buffer<float, 0>> energy, float k) {
  adc::parallel(x.extent(0) - 1, [&](int i) {
    float stretch = x[i + 1] - x[i] - 1.0f;
    adc::atomic_add(energy(), 0.5f * k * stretch * stretch);
  });
}
)text";

const std::string_view kNewMain =
    R"text(/* Runs the kernel @name@ and its gradient on this machine's processor, and compares the gradient with the formula. */
#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "@name@.h"
#include "@name@_adcb.h"

static adrt_error error;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

enum { COUNT = 8 };
static float x[COUNT], x_adjoint[COUNT], energy, energy_adjoint = 1, k = 2;

static void run(adrt_bundle* bundle, adrt_module* module, const char* name, uint64_t interface_hash,
                const adrt_arg* args, uint32_t arg_count) {
  const adrt_kernel* kernel = NULL;
  adrt_launch_plan* plan = NULL;
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = arg_count;
  desc.module = module;
  check(adrt_bundle_find_kernel(bundle, name, interface_hash, &kernel, &error), name);
  check(adrt_plan(kernel, &desc, &plan, &error), name);
  check(adrt_run(plan, NULL, &error), name);
  adrt_plan_release(plan);
}

int main(void) {
  error.struct_size = sizeof error;
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST; /* the bundle is part of this program */
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  check(adrt_bundle_open(&host, @name@_adcb, @name@_adcb_size, ADRT_BUNDLE_BORROW, &bundle, &error), "open");
  check(adrt_device_open_cpu(&host, 2, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");

  for (int i = 0; i < COUNT; ++i) x[i] = 1.1f * (float)i;
  adc_@name@_args forward = {.x = x, .x_shape = {COUNT}, .energy = &energy, .k = k};
  adrt_arg args[adc_@name@_param_count];
  adc_@name@_bind(&forward, args);
  run(bundle, module, adc_@name@_name, adc_@name@_interface_hash, args, adc_@name@_param_count);
  adc_@name@_grad_args gradient = {
      .x = x, .x_shape = {COUNT}, .energy = &energy, .k = k, .x_adj = x_adjoint, .energy_adj = &energy_adjoint};
  adrt_arg grad_args[adc_@name@_grad_param_count];
  adc_@name@_grad_bind(&gradient, grad_args);
  run(bundle, module, adc_@name@_grad_name, adc_@name@_grad_interface_hash, grad_args, adc_@name@_grad_param_count);

  double worst = 0;
  for (int i = 0; i < COUNT; ++i) {
    double left = i > 0 ? x[i] - x[i - 1] - 1.0 : 0, right = i + 1 < COUNT ? x[i + 1] - x[i] - 1.0 : 0;
    worst = fmax(worst, fabs(k * (left - right) - x_adjoint[i]));
  }
  printf("energy %.6f, worst error of the gradient %.1e\n", energy, worst);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return worst < 1e-5 ? 0 : 1;
}
)text";

const std::string_view kNewBuild = R"text(cmake_minimum_required(VERSION 3.25)
project(@name@ LANGUAGES C)

find_package(adc REQUIRED)
find_package(adrt REQUIRED COMPONENTS cpu)

add_executable(@name@ main.c)
target_link_libraries(@name@ PRIVATE adrt::adrt m)
# One run of adc makes the bundle, which becomes part of the program, and the header that names what it holds.
adc_add_kernels(TARGET @name@ SOURCES @source@ TARGETS cpu HEADER EMBED)
)text";

const std::string_view kNewReadme = R"text(# @name@

The kernel is in `@source@`; `main.c` runs it and its gradient.

    cmake -S . -B build && cmake --build build && build/@name@

- `adc gradcheck @source@ --kernel @name@ --arg x=random[100] --arg k=2.0` compares the gradient with forward mode and
  with central differences.
- `adc --emit=ir @source@` prints the derived gradient.
- `adc explain E0401` says more about a message.
- More targets: `TARGETS cpu vulkan cuda` in `CMakeLists.txt`, and `adrt_device_open_vk` or `adrt_device_open_cuda`
  in `main.c`.
)text";

}  // namespace adc::tool
