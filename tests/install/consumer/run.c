/* Opens the bundle that is inside the program, runs the kernel and its gradient, and compares both with what
 * the recurrence gives: a(t+1) = sin a(t) + 0.1, whose derivative is the product of the cosines. */
#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>

#include "relax.h"
#include "relax_adcb.h"

const char* gradient_name(void);

static adrt_error error;
static int failed;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  failed = 1;
}

enum { COUNT = 100, STEPS = 5 };
static float x[COUNT], x_adjoint[COUNT], loss, loss_adjoint = 1;
static int32_t steps = STEPS;

static adrt_arg buffer(const char* name, void* data, uint32_t rank) {
  adrt_arg arg = {0};
  arg.struct_size = sizeof arg;
  arg.name = name;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.type = ADRT_TYPE_F32;
  arg.data = data;
  arg.rank = rank;
  arg.extents[0] = rank == 1 ? COUNT : 0;
  return arg;
}

static void run(adrt_bundle* bundle, adrt_module* module, const char* name, uint64_t hash, uint32_t count) {
  adrt_arg args[5] = {buffer("x", x, 1),
                      buffer("loss", &loss, 0),
                      {0},
                      buffer("x.adj", x_adjoint, 1),
                      buffer("loss.adj", &loss_adjoint, 0)};
  args[2].struct_size = sizeof args[2];
  args[2].name = "n";
  args[2].kind = ADRT_PARAM_SCALAR;
  args[2].type = ADRT_TYPE_I32;
  args[2].data = &steps;
  const adrt_kernel* kernel = NULL;
  adrt_launch_plan* plan = NULL;
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.arg_count = count;
  desc.args = args;
  desc.module = module;
  check(adrt_bundle_find_kernel(bundle, name, hash, &kernel, &error), "find");
  if (!failed) check(adrt_plan(kernel, &desc, &plan, &error), "plan");
  if (!failed) check(adrt_run(plan, NULL, &error), "run");
  if (plan) adrt_plan_release(plan);
}

int main(void) {
  error.struct_size = sizeof error;
  if (adrt_version() != ADRT_VERSION) return 2;
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  check(adrt_bundle_open(&host, relax_adcb, relax_adcb_size, ADRT_BUNDLE_COPY, &bundle, &error), "open");
  if (!failed) check(adrt_device_open_cpu(&host, 2, &device, &error), "device");
  if (!failed) check(adrt_module_load(device, bundle, &module, &error), "load");
  for (int i = 0; i < COUNT; ++i) x[i] = 0.01f * (float)i - 0.3f;
  if (!failed) run(bundle, module, adc_relax_name, adc_relax_interface_hash, 3);
  if (!failed) run(bundle, module, gradient_name(), adc_relax_grad_interface_hash, 5);
  double sum = 0, worst = 0;
  for (int i = 0; i < COUNT; ++i) {
    double a = x[i], derivative = 1;
    for (int t = 0; t < STEPS; ++t) {
      derivative *= cos(a);
      a = sin(a) + 0.1;
    }
    sum += a;
    worst = fmax(worst, fabs(derivative - x_adjoint[i]));
  }
  printf("loss %.6f, expected %.6f, worst error of the gradient %.1e\n", loss, sum, worst);
  if (module) adrt_module_release(module);
  if (device) adrt_device_release(device);
  if (bundle) adrt_bundle_release(bundle);
  return failed || fabs(loss - sum) > 1e-4 || worst > 1e-5;
}
