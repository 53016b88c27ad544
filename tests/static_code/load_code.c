/* What static_engine does without: code is loaded from a bundle. Linked with refuse_mappings.c it must not
 * get there, or that file refuses nothing. Exit code 0: the code was loaded. */

#include <adrt/adrt.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  static unsigned char bytes[1 << 20];
  adrt_error error = {.struct_size = sizeof error};
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  if (adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error) != ADRT_OK ||
      adrt_device_wrap_cpu(&host, NULL, &device, &error) != ADRT_OK ||
      adrt_module_load(device, bundle, &module, &error) != ADRT_OK) {
    fprintf(stderr, "load_code: %s\n", error.text);
    return 1;
  }
  puts("load_code: code was loaded");
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  if (file) fclose(file);
  return 0;
}
