#ifndef ADC_TYPED_CALLS_SESSION_H
#define ADC_TYPED_CALLS_SESSION_H
/* What both programs need beside typed calls: a bundle that is loaded on this machine's processor. */
#include <adrt/adrt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 3 };

static adrt_error error;
static adrt_bundle* bundle;
static adrt_device* device;
static adrt_module* module_of_bundle;

static inline void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "typed_calls: %s: %s\n", what, error.text);
  exit(1);
}

static inline void begin_session(const unsigned char* bytes, size_t size) {
  adrt_host host;
  memset(&host, 0, sizeof host);
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  error.struct_size = sizeof error;
  expect(!adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_BORROW, &bundle, &error), "open");
  expect(!adrt_device_open_cpu(&host, WORKERS, &device, &error), "device");
  expect(!adrt_module_load(device, bundle, &module_of_bundle, &error), "load");
}

static inline void end_session(void) {
  adrt_module_release(module_of_bundle);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
}

static inline adrt_status make_plan(const char* name, uint64_t interface_hash, const adrt_arg* table,
                                    uint32_t count, adrt_launch_plan** plan) {
  const adrt_kernel* kernel = NULL;
  adrt_plan_desc desc;
  memset(&desc, 0, sizeof desc);
  desc.struct_size = sizeof desc;
  desc.args = table;
  desc.arg_count = count;
  desc.module = module_of_bundle;
  expect(!adrt_bundle_find_kernel(bundle, name, interface_hash, &kernel, &error), name);
  return adrt_plan(kernel, &desc, plan, &error);
}

/* Runs a kernel, and gives the bytes of heap that its plan says. */
static inline uint64_t run(const char* name, uint64_t interface_hash, const adrt_arg* table, uint32_t count) {
  adrt_launch_plan* plan = NULL;
  adrt_plan_report report;
  memset(&report, 0, sizeof report);
  report.struct_size = sizeof report;
  expect(!make_plan(name, interface_hash, table, count, &plan), name);
  expect(!adrt_plan_info(plan, &report, &error), name);
  expect(!adrt_run(plan, NULL, &error), name);
  adrt_plan_release(plan);
  return report.heap_bytes;
}

#endif
