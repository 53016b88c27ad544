/* Runs the gradient of relax.ir from the bundle that the build made, and compares it with the product of
 * cosines. */
#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>

#include "relax.h"

enum { COUNT = 8, STEPS = 3 };

int main(int argc, char** argv) {
  static unsigned char bytes[1 << 20];
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);

  float x[COUNT], gradient[COUNT] = {0}, loss = 0, seed = 1;
  for (int i = 0; i < COUNT; ++i) x[i] = 0.2f * (float)i - 0.5f;
  const adc_relax_grad_args call = {
      .x = x, .x_shape = {COUNT}, .loss = &loss, .n = STEPS, .x_adj = gradient, .loss_adj = &seed};
  adrt_arg args[adc_relax_grad_param_count];
  adc_relax_grad_bind(&call, args);

  adrt_error error = {.struct_size = sizeof error};
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  const adrt_kernel* kernel = NULL;
  adrt_launch_plan* plan = NULL;
  adrt_status status = adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error);
  if (!status) status = adrt_device_open_cpu(&host, 1, &device, &error);
  if (!status) status = adrt_module_load(device, bundle, &module, &error);
  if (!status)
    status =
        adrt_bundle_find_kernel(bundle, adc_relax_grad_name, adc_relax_grad_interface_hash, &kernel, &error);
  adrt_plan_desc desc = {
      .struct_size = sizeof desc, .arg_count = adc_relax_grad_param_count, .args = args, .module = module};
  if (!status) status = adrt_plan(kernel, &desc, &plan, &error);
  if (!status) status = adrt_run(plan, NULL, &error);
  if (status) {
    fprintf(stderr, "%s: %s\n", adrt_status_text(status), error.text);
    return 1;
  }
  double worst = 0;
  for (int i = 0; i < COUNT; ++i) {
    double a = x[i], derivative = 1;
    for (int t = 0; t < STEPS; ++t) {
      derivative *= cos(a);
      a = sin(a) + 0.1;
    }
    worst = fmax(worst, fabs(derivative - gradient[i]));
  }
  printf("worst error of the gradient %.1e\n", worst);
  adrt_plan_release(plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return worst > 1e-5;
}
