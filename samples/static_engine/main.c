/* An engine on a system that loads no code: the kernels are linked into the program, and no memory becomes
 * executable while it runs. The bundle says how their launches are planned; it lies in the program too,
 * without the code.
 *
 * Sizes, budgets, guards and reports are those of any other module: the heap of the gradient follows from the
 * content of a buffer, a budget takes workers away, and a stack that is too small is reported. The gradient
 * is compared with its closed form, with central differences and with forward mode.
 *
 *   adc settle.ir --target=cpu --derive=grad,jvp -o settle.adcb && adc extract --static settle.adcb */

#include <adrt/adrt.h>
#include <adrt/adrt_static.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "settle_adcb.h"
#include "settle_entries.h"

enum { COUNT = 100, WORKERS = 4, MOST_STEPS = 12, ARENA = 1 << 20, HEAP = 1 << 16 };

struct World {
  double x[COUNT], slope[COUNT], tangent[COUNT], loss, loss_slope, loss_tangent;
  int32_t steps[COUNT];
  uint64_t version; /* of `steps` */
};
static struct World world;
static _Alignas(ADRT_HEAP_ALIGNMENT) unsigned char heap[HEAP];
static adrt_error error = {.struct_size = sizeof error};

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "static_engine: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "static_engine: %s\n", what);
  exit(1);
}

/* The engine's memory: the loader gets all of its own from here, and gives it back all at once. */
static _Alignas(64) unsigned char arena[ARENA];
static size_t arena_used;
static void* take(void* user, size_t size, size_t alignment) {
  (void)user;
  size_t begin = (arena_used + alignment - 1) / alignment * alignment;
  if (begin > ARENA || size > ARENA - begin) return NULL;
  arena_used = begin + size;
  return arena + begin;
}
static void give(void* user, void* memory, size_t size, size_t alignment) {
  (void)user, (void)memory, (void)size, (void)alignment;
}

/* The engine's jobs; this one has a thread and no more. */
static void parallel_for(void* user, uint32_t count, void (*job)(void* context, uint32_t index),
                         void* context) {
  (void)user;
  for (uint32_t index = 0; index < count; ++index) job(context, index);
}

static adrt_arg buffer(const char* name, uint32_t type, void* data, int64_t extent) {
  adrt_arg made = {
      .struct_size = sizeof made, .kind = ADRT_PARAM_BUFFER, .name = name, .type = type, .data = data};
  made.rank = extent > 0;
  made.extents[0] = extent;
  return made;
}

struct Engine {
  adrt_bundle* bundle;
  adrt_device* device;
  adrt_module* module;
};

static adrt_launch_plan* plan(const struct Engine* engine, const char* name, uint64_t budget) {
  adrt_arg args[5] = {buffer("x", ADRT_TYPE_F64, world.x, COUNT),
                      buffer("steps", ADRT_TYPE_I32, world.steps, COUNT),
                      buffer("loss", ADRT_TYPE_F64, &world.loss, 0)};
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .arg_count = 3, .module = engine->module};
  desc.heap_budget = budget;
  args[1].content_version = world.version;
  if (strstr(name, ".grad")) {
    args[desc.arg_count++] = buffer("x.adj", ADRT_TYPE_F64, world.slope, COUNT);
    args[desc.arg_count++] = buffer("loss.adj", ADRT_TYPE_F64, &world.loss_slope, 0);
  } else if (strstr(name, ".jvp")) {
    args[desc.arg_count++] = buffer("x.tan", ADRT_TYPE_F64, world.tangent, COUNT);
    args[desc.arg_count++] = buffer("loss.tan", ADRT_TYPE_F64, &world.loss_tangent, 0);
  }
  const adrt_kernel* kernel = NULL;
  adrt_launch_plan* made = NULL;
  check(adrt_bundle_find_kernel(engine->bundle, name, 0, &kernel, &error), name);
  check(adrt_plan(kernel, &desc, &made, &error), name);
  check(adrt_plan_resolve(made, NULL, 0, &error), name);
  return made;
}

static adrt_plan_report info(const adrt_launch_plan* made) {
  adrt_plan_report report = {.struct_size = sizeof report};
  check(adrt_plan_info(made, &report, &error), "plan_info");
  return report;
}

/* One launch in the engine's own memory. */
static adrt_status launch(adrt_launch_plan* made) {
  adrt_run_desc desc = {.struct_size = sizeof desc, .memory = heap, .memory_size = HEAP};
  world.loss = world.loss_tangent = 0;
  world.loss_slope = 1;
  memset(world.slope, 0, sizeof world.slope);
  return adrt_run(made, &desc, &error);
}

static double loss(adrt_launch_plan* made) {
  check(launch(made), "settle");
  return world.loss;
}

static void compare_gradient(const struct Engine* engine) {
  adrt_launch_plan *primal = plan(engine, "settle", 0), *forward = plan(engine, "settle.jvp", 0);
  adrt_launch_plan* gradient = plan(engine, "settle.grad", 0);
  double slope[COUNT], along = 0, worst = 0, worst_difference = 0;
  check(launch(gradient), "settle.grad");
  memcpy(slope, world.slope, sizeof slope);
  for (int i = 0; i < COUNT; ++i) {
    double a = world.x[i], expected = 1;
    for (int t = 0; t < world.steps[i]; ++t) {
      expected *= cos(a);
      a = sin(a) + 0.1;
    }
    worst = fmax(worst, fabs(slope[i] - expected));
    const double at = world.x[i], h = 1e-5;
    world.x[i] = at + h;
    double above = loss(primal);
    world.x[i] = at - h;
    double below = loss(primal);
    world.x[i] = at;
    worst_difference = fmax(worst_difference, fabs(slope[i] - (above - below) / (2 * h)));
    world.tangent[i] = 1 + 0.01 * i;
    along += slope[i] * world.tangent[i];
  }
  check(launch(forward), "settle.jvp");
  double apart = fabs(world.loss_tangent - along);
  printf("gradient: %.1e from its closed form, %.1e from central differences, %.1e from forward mode\n",
         worst, worst_difference, apart);
  expect(worst < 1e-14 && worst_difference < 1e-8 && apart < 1e-11, "the gradient is wrong");
  adrt_plan_release(primal);
  adrt_plan_release(forward);
  adrt_plan_release(gradient);
}

/* The heap has a row of tapes for each worker; a budget of two rows leaves two workers. */
static void use_budget(const struct Engine* engine) {
  adrt_launch_plan* whole = plan(engine, "settle.grad", 0);
  adrt_plan_report all = info(whole);
  adrt_launch_plan* half = plan(engine, "settle.grad", all.heap_bytes / 2);
  adrt_plan_report some = info(half);
  printf("heap: %llu bytes for %u workers, %llu within a budget\n", (unsigned long long)all.heap_bytes,
         WORKERS, (unsigned long long)some.heap_bytes);
  expect(all.heap_bytes >= WORKERS * MOST_STEPS * sizeof(double), "the heap does not hold the tapes");
  expect(some.heap_bytes <= all.heap_bytes / 2 && some.heap_bytes > 0, "the budget is not observed");
  check(launch(whole), "settle.grad");
  double slope[COUNT];
  memcpy(slope, world.slope, sizeof slope);
  check(launch(half), "settle.grad within a budget");
  expect(memcmp(slope, world.slope, sizeof slope) == 0, "the budget changes the gradient");
  adrt_plan_release(whole);
  adrt_plan_release(half);
}

/* An element takes more steps than the content version promised: the guard in front of the tape reports it,
 * and nothing outside of its row is written. */
static void meet_guard(const struct Engine* engine) {
  adrt_launch_plan* gradient = plan(engine, "settle.grad", 0);
  uint64_t used = info(gradient).heap_bytes;
  memset(heap, 0x5A, HEAP);
  world.steps[7] = 5 * MOST_STEPS;
  adrt_status status = launch(gradient);
  printf("guard: %s\n", error.text);
  expect(status == ADRT_ERROR_ADSTACK_OVERFLOW, "a tape that is too short is not reported");
  for (uint64_t at = used; at < HEAP; ++at) expect(heap[at] == 0x5A, "a byte behind the heap was written");
  adrt_plan_release(gradient);
}

int main(void) {
  for (int i = 0; i < COUNT; ++i) {
    world.x[i] = 0.02 * i - 1;
    world.steps[i] = i % (MOST_STEPS + 1);
  }
  world.version = 1;
  adrt_host host = {.struct_size = sizeof host, .allocate = take, .release = give};
  adrt_cpu_jobs jobs = {.struct_size = sizeof jobs, .worker_count = WORKERS, .parallel_for = parallel_for};
  struct Engine engine = {0};
  check(adrt_bundle_open(&host, settle_adcb, settle_adcb_size, ADRT_BUNDLE_BORROW, &engine.bundle, &error),
        "open");
  check(adrt_device_wrap_cpu(&host, &jobs, &engine.device, &error), "device");
  check(adrt_module_from_entries(engine.device, engine.bundle, &settle_entries, &engine.module, &error),
        "entries");
  compare_gradient(&engine);
  use_budget(&engine);
  meet_guard(&engine);
  adrt_module_release(engine.module);
  adrt_device_release(engine.device);
  adrt_bundle_release(engine.bundle);
  puts("static_engine: done");
  return 0;
}
