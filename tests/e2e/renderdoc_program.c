/* What an engine does of which RenderDoc makes a capture: runs kernels on Vulkan, each a frame.
 *
 *   renderdoc_program BUNDLE CAPTURE KERNEL...
 *
 * Writes CAPTURE_capture.rdc, CAPTURE_capture_1.rdc and so on. Every extent is 4, every component 3, every
 * integer of the parameters 4; types take four bytes. Exit code 77 where this machine lacks RenderDoc. */

#define _GNU_SOURCE
#include <adrt/adrt_call.h>
#include <adrt/adrt_vk.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#if __has_include(<renderdoc_app.h>)
#include <renderdoc_app.h>

enum { COUNT = 4, PARAMETERS = 32, BYTES = 1 << 16 };

static adrt_error error = {.struct_size = sizeof error};

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "%s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static RENDERDOC_API_1_0_0* open_renderdoc(void) {
  /* Before the first call of Vulkan, whose loader then finds the layer. */
  setenv("ENABLE_VULKAN_RENDERDOC_CAPTURE", "1", 1);
  void* library = dlopen("librenderdoc.so", RTLD_NOW);
  if (library == NULL) {
    fprintf(stderr, "NO RENDERDOC HERE, NOTHING IS CAPTURED: %s\n", dlerror());
    exit(77);
  }
  pRENDERDOC_GetAPI get = (pRENDERDOC_GetAPI)dlsym(library, "RENDERDOC_GetAPI");
  void* api = NULL;
  if (get == NULL || get(eRENDERDOC_API_Version_1_0_0, &api) != 1) {
    fprintf(stderr, "librenderdoc.so has no interface of version 1.0.0\n");
    exit(1);
  }
  return api;
}

/* One launch of a kernel, in buffers of its own. */
static void run(adrt_device* device, adrt_module* module, const adrt_bundle* bundle, const char* name) {
  static const float kThree = 3;
  static const int32_t kCount = COUNT;
  static const int64_t kShape[] = {COUNT, COUNT, COUNT, COUNT};
  const adrt_kernel* kernel = NULL;
  adrt_memory* memories[PARAMETERS];
  adrt_arg args[PARAMETERS];
  uint32_t count = 0, buffers = 0;
  float threes[BYTES / sizeof(float)];
  check(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error), name);
  for (uint32_t n = 0; n < BYTES / sizeof(float); ++n) threes[n] = kThree;
  for (; count < PARAMETERS; ++count) {
    adrt_param_report param = {.struct_size = sizeof param};
    if (adrt_kernel_param(kernel, count, &param, NULL) != ADRT_OK) break;
    if (param.kind == ADRT_PARAM_SCALAR) {
      const void* value = param.type == ADRT_TYPE_F32 ? (const void*)&kThree : &kCount;
      args[count] = adrt_call_scalar(param.name, param.type, param.rows, param.columns, value);
      continue;
    }
    adrt_memory** memory = &memories[buffers++];
    check(adrt_memory_create(device, BYTES, memory, &error), param.name);
    check(adrt_memory_write(*memory, 0, threes, BYTES, &error), param.name);
    args[count] = adrt_call_buffer(param.name, param.type, param.rows, param.columns,
                                   adrt_memory_data(*memory), param.rank, kShape);
  }
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .arg_count = count, .module = module};
  adrt_launch_plan* plan = NULL;
  check(adrt_plan(kernel, &desc, &plan, &error), name);
  check(adrt_run(plan, NULL, &error), name);
  adrt_plan_release(plan);
  while (buffers != 0) adrt_memory_release(memories[--buffers]);
}

int main(int argc, char** argv) {
  static char file[1 << 22];
  FILE* stream = argc > 3 ? fopen(argv[1], "rb") : NULL;
  size_t size = stream ? fread(file, 1, sizeof file, stream) : 0;
  if (size == 0) return 2;
  fclose(stream);
  RENDERDOC_API_1_0_0* renderdoc = open_renderdoc();
  renderdoc->SetCaptureFilePathTemplate(argv[2]);
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  check(adrt_bundle_open(&host, file, size, 0, &bundle, &error), "open");
  check(adrt_device_open_vk(&host, NULL, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");
  for (int n = 3; n < argc; ++n) {
    renderdoc->StartFrameCapture(NULL, NULL);
    run(device, module, bundle, argv[n]);
    if (renderdoc->EndFrameCapture(NULL, NULL) != 1) {
      fprintf(stderr, "%s: no capture\n", argv[n]);
      return 1;
    }
    char path[4096];
    uint32_t length = sizeof path;
    if (renderdoc->GetCapture(renderdoc->GetNumCaptures() - 1, path, &length, NULL) != 1) return 1;
    printf("%s\n", path);
  }
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return 0;
}
#else
int main(void) {
  fprintf(stderr, "BUILT WITHOUT renderdoc_app.h, NOTHING IS CAPTURED\n");
  return 77;
}
#endif
