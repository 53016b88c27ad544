/* A program as Microsoft's tools make it, without their libraries: calls the loader in adrt.dll through the
 * DLL's import library. Runs the gradient of plain.ir from plain.adcb and writes what it adds to x.adj to
 * x.adj.bin. */

#include <adrt/adrt.h>

#define SYSTEM __declspec(dllimport) __stdcall
typedef void* handle;
extern SYSTEM handle CreateFileA(const char*, uint32_t, uint32_t, void*, uint32_t, uint32_t, handle);
extern SYSTEM int ReadFile(handle, void*, uint32_t, uint32_t*, void*);
extern SYSTEM int WriteFile(handle, const void*, uint32_t, uint32_t*, void*);
extern SYSTEM handle GetStdHandle(uint32_t);
extern SYSTEM void ExitProcess(uint32_t);

enum {
  COUNT = 5000,
  GENERIC_READ = (int)0x80000000,
  GENERIC_WRITE = 0x40000000,
  CREATE_ALWAYS = 2,
  OPEN_EXISTING = 3
};

int _fltused; /* Microsoft's compiler names it where there are floats */

/* The compiler calls these. */
void* memset(void* to, int byte, size_t size) {
  for (volatile unsigned char* at = to; size-- > 0;) *at++ = (unsigned char)byte;
  return to;
}
void* memcpy(void* to, const void* from, size_t size) {
  const unsigned char* read = from;
  for (volatile unsigned char* at = to; size-- > 0;) *at++ = *read++;
  return to;
}

static adrt_error error;
static char bundle_bytes[1 << 20];
static double x[COUNT], y[COUNT], x_adj[COUNT], y_adj[COUNT];

static void say(const char* text) {
  uint32_t size = 0, written;
  while (text[size] != 0) ++size;
  WriteFile(GetStdHandle((uint32_t)-11), text, size, &written, NULL);
}

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  say(what);
  say(": ");
  say(adrt_status_text(status));
  say(": ");
  say(error.text);
  say("\n");
  ExitProcess(1);
}

static adrt_arg buffer(const char* name, double* data) {
  adrt_arg arg = {0};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.type = ADRT_TYPE_F64;
  arg.rank = 1;
  arg.extents[0] = COUNT;
  arg.name = name;
  arg.data = data;
  return arg;
}

void start(void) {
  uint32_t size = 0, written = 0;
  handle file = CreateFileA("plain.adcb", (uint32_t)GENERIC_READ, 1, NULL, OPEN_EXISTING, 0, NULL);
  ReadFile(file, bundle_bytes, sizeof bundle_bytes, &size, NULL);
  error.struct_size = sizeof error;
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  adrt_bundle* bundle = NULL;
  adrt_device* device = NULL;
  adrt_module* module = NULL;
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_open(&host, bundle_bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), "open");
  check(adrt_device_open_cpu(&host, 2, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");
  check(adrt_bundle_find_kernel(bundle, "plain.grad", 0, &kernel, &error), "find");

  for (int i = 0; i < COUNT; ++i) {
    x[i] = i;
    y_adj[i] = 1;
  }
  int32_t steps = 20;
  adrt_arg args[] = {buffer("x", x), buffer("y", y), {0}, buffer("x.adj", x_adj), buffer("y.adj", y_adj)};
  args[2].struct_size = sizeof args[2];
  args[2].name = "n";
  args[2].kind = ADRT_PARAM_SCALAR;
  args[2].type = ADRT_TYPE_I32;
  args[2].data = &steps;
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = sizeof args / sizeof args[0];
  desc.module = module;
  adrt_launch_plan* plan = NULL;
  check(adrt_plan(kernel, &desc, &plan, &error), "plan");
  check(adrt_run(plan, NULL, &error), "run");
  adrt_plan_release(plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);

  file = CreateFileA("x.adj.bin", GENERIC_WRITE, 0, NULL, CREATE_ALWAYS, 0, NULL);
  WriteFile(file, x_adj, sizeof x_adj, &written, NULL);
  say("plain.grad has run\n");
  ExitProcess(written == sizeof x_adj ? 0 : 1);
}
