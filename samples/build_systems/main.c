/* Runs the gradient of relax.ir from the bundle that the build made, and compares it with the product of
 * cosines. */
#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>

#include "relax.h"

enum { COUNT = 8, STEPS = 3 };

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

int main(int argc, char** argv) {
  static unsigned char bytes[1 << 20];
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);

  float x[COUNT], gradient[COUNT] = {0}, loss = 0, seed = 1;
  int32_t steps = STEPS;
  for (int i = 0; i < COUNT; ++i) x[i] = 0.2f * (float)i - 0.5f;
  adrt_arg args[5] = {buffer("x", x, 1),
                      buffer("loss", &loss, 0),
                      {0},
                      buffer("x.adj", gradient, 1),
                      buffer("loss.adj", &seed, 0)};
  args[2] = (adrt_arg){
      .struct_size = sizeof args[2], .name = "n", .kind = ADRT_PARAM_SCALAR, .type = ADRT_TYPE_I32};
  args[2].data = &steps;

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
  adrt_plan_desc desc = {.struct_size = sizeof desc, .arg_count = 5, .args = args, .module = module};
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
