/* The public header from C11: opens a bundle file, runs a kernel with a tape on a pool of its own and checks
 * the numbers; linked by the C compiler, so that nothing of the C++ runtime is needed. */

#include <adrt/adrt.h>
#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>
#include <adrt/adrt_metal.h>
#include <adrt/adrt_vk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static adrt_error error;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) return NULL;
  long length = ftell(file);
  rewind(file);
  void* bytes = length > 0 ? malloc((size_t)length) : NULL;
  *size = bytes ? fread(bytes, 1, (size_t)length, file) : 0;
  fclose(file);
  return *size == (size_t)length ? bytes : NULL;
}

int main(int argc, char** argv) {
  enum { COUNT = 1000, STEPS = 16 };
  size_t size = 0;
  void* bytes = argc == 2 ? read_file(argv[1], &size) : NULL;
  if (!bytes) {
    fprintf(stderr, "usage: program_c BUNDLE\n");
    return 2;
  }
  error.struct_size = sizeof error;

  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), "open");
  free(bytes);
  check(adrt_device_open_cpu(&host, 2, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");
  check(adrt_bundle_find_kernel(bundle, "tape", 0, &kernel, &error), "find");

  static double x[COUNT], y[COUNT];
  for (int i = 0; i < COUNT; ++i) x[i] = 0.5 + 0.0001 * i;
  int32_t steps = STEPS;
  adrt_arg args[3] = {{0}};
  for (int i = 0; i < 3; ++i) args[i].struct_size = sizeof args[i];
  args[0].kind = args[1].kind = ADRT_PARAM_BUFFER;
  args[0].type = args[1].type = ADRT_TYPE_F64;
  args[0].rank = args[1].rank = 1;
  args[0].extents[0] = args[1].extents[0] = COUNT;
  args[0].name = "x";
  args[0].data = x;
  args[1].name = "y";
  args[1].data = y;
  args[2].name = "n";
  args[2].kind = ADRT_PARAM_SCALAR;
  args[2].type = ADRT_TYPE_I32;
  args[2].data = &steps;
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = 3;
  desc.module = module;
  adrt_launch_plan* plan = NULL;
  check(adrt_plan(kernel, &desc, &plan, &error), "plan");
  adrt_plan_report report = {0};
  report.struct_size = sizeof report;
  check(adrt_plan_info(plan, &report, &error), "info");
  check(adrt_run(plan, NULL, &error), "run");

  double worst = 0;
  for (int i = 0; i < COUNT; ++i) {
    double expected = 0;
    for (int t = 0; t < STEPS; ++t) expected += t * pow(x[i], t);
    if (fabs(y[i] - expected) > worst) worst = fabs(y[i] - expected);
  }
  printf("tape: %d iterations, %llu heap bytes, worst error %.3g\n", COUNT,
         (unsigned long long)report.heap_bytes, worst);
  adrt_plan_release(plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return worst < 1e-12 ? 0 : 1;
}
