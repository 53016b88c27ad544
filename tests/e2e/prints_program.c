/* What an engine does with kernels that print: opens a bundle, gives the kernel of prints/branches.ir a
 * buffer for its records, and shows them as lines. */

#include <adrt/adrt_call.h>
#include <adrt/adrt_prints.h>
#include <adrt/adrt_vk.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 4, RECORDS = 1 << 16 };

static adrt_error error;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void show(void* lines, const char* line, size_t size) {
  ++*(uint64_t*)lines;
  if (strlen(line) != size) exit(1);
  puts(line);
}

static adrt_memory* memory_of(adrt_device* device, const void* from, uint64_t bytes) {
  adrt_memory* memory = NULL;
  check(adrt_memory_create(device, bytes, &memory, &error), "memory");
  check(adrt_memory_write(memory, 0, from, bytes, &error), "write");
  return memory;
}

static adrt_arg buffer(const char* name, uint32_t type, int64_t count, adrt_memory* memory) {
  return adrt_call_buffer(name, type, 1, 1, adrt_memory_data(memory), 1, &count);
}

int main(int argc, char** argv) {
  static char file[1 << 20], records[ADRT_PRINTS_HEAD + RECORDS];
  FILE* stream = argc == 3 ? fopen(argv[1], "rb") : NULL;
  size_t size = stream ? fread(file, 1, sizeof file, stream) : 0;
  if (size == 0) return 2;
  fclose(stream);
  error.struct_size = sizeof error;
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_open(&host, file, size, 0, &bundle, &error), "open");
  if (strcmp(argv[2], "vulkan") == 0) {
    check(adrt_device_open_vk(&host, NULL, &device, &error), "device");
  } else {
    check(adrt_device_open_cpu(&host, 2, &device, &error), "device");
  }
  check(adrt_module_load(device, bundle, &module, &error), "load");
  check(adrt_bundle_find_kernel(bundle, "k", 0, &kernel, &error), "find");
  adrt_prints prints;
  check(adrt_prints_open(bundle, "no such kernel", &prints), "prints of none");
  if (prints.buffer) return 1;
  check(adrt_prints_open(bundle, "k", &prints), "prints");

  static const float x[COUNT] = {1, 2.5f, 3, -1};
  int32_t n = 3;
  int64_t far = 5000000000;
  uint64_t bytes = adrt_prints_bytes(RECORDS), lines = 0;
  adrt_memory *values = memory_of(device, x, sizeof x), *said = memory_of(device, records, bytes);
  adrt_arg args[] = {buffer("x", ADRT_TYPE_F32, COUNT, values),
                     adrt_call_scalar("n", ADRT_TYPE_I32, 1, 1, &n),
                     adrt_call_scalar("far", ADRT_TYPE_I64, 1, 1, &far),
                     buffer(prints.buffer, ADRT_TYPE_U32, (int64_t)(bytes / 4), said)};
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = 4;
  desc.module = module;
  adrt_launch_plan* plan = NULL;
  check(adrt_plan(kernel, &desc, &plan, &error), "plan");
  check(adrt_run(plan, NULL, &error), "run");
  check(adrt_memory_read(said, 0, records, bytes, &error), "read");
  adrt_prints_seen seen;
  check(adrt_prints_show(&prints, records, bytes, show, &lines, &seen), "show");
  adrt_prints_close(&prints);
  adrt_plan_release(plan);
  adrt_memory_release(values);
  adrt_memory_release(said);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return seen.shown == lines && seen.all == lines ? 0 : 1;
}
