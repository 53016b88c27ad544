/* An engine on the CPU: its own jobs, its own memory, and kernels that change while it runs.
 *
 * A frame is five kernels: the loss, its gradient, a step along it, and whether that is enough. They are
 * recorded once (adrt_cpu.h); each frame then runs the record's chunks as jobs, none of which waits: the last
 * chunk of a stage adds the jobs of those stages that waited for it alone. All memory of the loader and of
 * launches comes from one arena, and a frame takes none. When the bundle's file changes the engine opens the
 * new one beside the old one, records it, and drops the old one: the state stays.
 *
 * The same frames run once more by adrt_run; the points must be equal to the last bit.
 *
 *   adc fit.ir -o fit.adcb && cpu_engine fit.adcb changed.adcb live.adcb */

#include <adrt/adrt.h>
#include <adrt/adrt_cpu.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jobs.h"

enum { POINTS = 5000, WORKERS = 3, FRAMES = 60, KERNELS = 5, MOST_STAGES = 64, ARENA = 8 << 20 };

struct World {
  double x[POINTS], slope[POINTS], wanted[POINTS], loss, loss_slope, rate, most;
  uint32_t flag;
};
static struct World world, reference;

static adrt_error error = {.struct_size = sizeof error};

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "cpu_engine: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "cpu_engine: %s\n", what);
  exit(1);
}

/* One arena for one bundle: what the loader takes is given back all at once. */
struct Arena {
  size_t used, taken;
  _Alignas(64) unsigned char memory[ARENA];
};
static struct Arena arenas[2];

static void* take(void* user, size_t size, size_t alignment) {
  struct Arena* arena = user;
  size_t begin = (arena->used + alignment - 1) / alignment * alignment;
  if (begin > ARENA || size > ARENA - begin) return NULL;
  arena->used = begin + size;
  ++arena->taken;
  return arena->memory + begin;
}
static void give(void* user, void* memory, size_t size, size_t alignment) {
  (void)user, (void)memory, (void)size, (void)alignment;
}

/* The kernels of a frame, in order. */
static const char* const kNames[KERNELS] = {"begin", "miss", "miss.grad", "step", "settled"};

static adrt_arg arg(const char* name, uint32_t kind, uint32_t type, void* data, int64_t extent) {
  adrt_arg made = {.struct_size = sizeof made, .kind = kind, .name = name, .type = type, .data = data};
  if (extent > 0) {
    made.rank = 1;
    made.extents[0] = extent;
  }
  return made;
}
static adrt_arg buffer(const char* name, void* data, int64_t extent) {
  return arg(name, ADRT_PARAM_BUFFER, ADRT_TYPE_F64, data, extent);
}

static uint32_t arguments(uint32_t kernel, struct World* of, adrt_arg* args) {
  uint32_t count = 0;
  if (kernel == 1 || kernel == 2 || kernel == 3) args[count++] = buffer("x", of->x, POINTS);
  if (kernel == 1 || kernel == 2) args[count++] = buffer("wanted", of->wanted, POINTS);
  if (kernel != 3) args[count++] = buffer("loss", &of->loss, 0);
  if (kernel == 2) {
    args[count++] = buffer("x.adj", of->slope, POINTS);
    args[count++] = buffer("loss.adj", &of->loss_slope, 0);
  }
  if (kernel == 3) {
    args[count++] = buffer("slope", of->slope, POINTS);
    args[count++] = arg("rate", ADRT_PARAM_SCALAR, ADRT_TYPE_F64, &of->rate, 0);
  }
  if (kernel == 4) {
    args[count++] = arg("flag", ADRT_PARAM_BUFFER, ADRT_TYPE_U32, &of->flag, 0);
    args[count++] = arg("most", ADRT_PARAM_SCALAR, ADRT_TYPE_F64, &of->most, 0);
  }
  return count;
}

/* A bundle, loaded and recorded. */
struct Code {
  struct Arena* arena;
  adrt_bundle* bundle;
  adrt_device* device;
  adrt_module* module;
  adrt_launch_plan* plans[KERNELS]; /* of the engine's world: for reports */
  adrt_launch_plan* same[KERNELS];  /* of the reference */
  uint32_t (*status)[ADRT_STATUS_BYTES / 4];
  adrt_cpu_record* record;
  uint32_t stages, chunks[MOST_STAGES], waits[MOST_STAGES]; /* how many stages each waits for */
  uint32_t next[MOST_STAGES][MOST_STAGES], next_count[MOST_STAGES];
  atomic_uint open[MOST_STAGES]; /* of which so many are not done in this frame */
};

static adrt_launch_plan* plan(struct Code* code, uint32_t kernel, struct World* of) {
  adrt_arg args[8];
  const adrt_kernel* found = NULL;
  check(adrt_bundle_find_kernel(code->bundle, kNames[kernel], 0, &found, &error), kNames[kernel]);
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .module = code->module};
  desc.arg_count = arguments(kernel, of, args);
  adrt_launch_plan* made = NULL;
  check(adrt_plan(found, &desc, &made, &error), kNames[kernel]);
  return made;
}

static void record(struct Code* code) {
  code->status = take(code->arena, KERNELS * sizeof *code->status, 64);
  expect(code->status != NULL, "the arena is full");
  check(adrt_cpu_record_create(code->device, &code->record, &error), "record_create");
  for (uint32_t kernel = 0; kernel < KERNELS; ++kernel) {
    code->plans[kernel] = plan(code, kernel, &world);
    code->same[kernel] = plan(code, kernel, &reference);
    check(adrt_plan_resolve(code->plans[kernel], NULL, 0, &error), "resolve");
    adrt_plan_report report = {.struct_size = sizeof report};
    check(adrt_plan_info(code->plans[kernel], &report, &error), "info");
    void* heap = take(code->arena, report.heap_bytes, ADRT_HEAP_ALIGNMENT);
    expect(heap != NULL, "the arena is full");
    check(adrt_record_cpu(code->plans[kernel], code->record, heap, report.heap_bytes, code->status[kernel],
                          &error),
          kNames[kernel]);
  }
  code->stages = adrt_cpu_record_stages(code->record);
  expect(code->stages <= MOST_STAGES, "more stages than expected");
  for (uint32_t stage = 0; stage < code->stages; ++stage) {
    adrt_cpu_stage_report report = {.struct_size = sizeof report};
    check(adrt_cpu_record_stage(code->record, stage, &report, &error), "stage");
    code->chunks[stage] = report.chunk_count;
    code->waits[stage] = report.wait_count;
    for (uint32_t index = 0; index < report.wait_count; ++index) {
      uint32_t before = report.waits[index];
      code->next[before][code->next_count[before]++] = stage;
    }
  }
}

static void* read_file(const char* path, size_t* size) {
  FILE* file = fopen(path, "rb");
  expect(file != NULL, path);
  size_t capacity = 1 << 20;
  unsigned char* bytes = malloc(capacity);
  expect(bytes != NULL, "no memory for a bundle");
  *size = fread(bytes, 1, capacity, file);
  expect(*size < capacity, "the bundle is larger than expected");
  fclose(file);
  return bytes;
}

/* Written beside it and renamed, as adc itself does: who reads the file never sees half of it. */
static void copy_file(const char* from, const char* to) {
  char beside[4096];
  size_t size = 0;
  void* bytes = read_file(from, &size);
  expect((size_t)snprintf(beside, sizeof beside, "%s.new", to) < sizeof beside, "the path is too long");
  FILE* file = fopen(beside, "wb");
  expect(file && fwrite(bytes, 1, size, file) == size, beside);
  expect(fclose(file) == 0 && rename(beside, to) == 0, to);
  free(bytes);
}

static struct Code* load(const void* bytes, size_t size, struct Arena* arena) {
  struct Code* code = calloc(1, sizeof *code);
  expect(code != NULL, "no memory for the code");
  arena->used = arena->taken = 0;
  code->arena = arena;
  adrt_host host = {
      .struct_size = sizeof host, .flags = ADRT_HOST_TRUST, .user = arena, .allocate = take, .release = give};
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &code->bundle, &error), "open");
  check(adrt_device_open_cpu(&host, WORKERS, &code->device, &error), "device");
  check(adrt_module_load(code->device, code->bundle, &code->module, &error), "load");
  record(code);
  return code;
}

static void drop(struct Code* code) {
  adrt_cpu_record_release(code->record);
  for (uint32_t kernel = 0; kernel < KERNELS; ++kernel) {
    adrt_plan_release(code->plans[kernel]);
    adrt_plan_release(code->same[kernel]);
  }
  adrt_module_release(code->module);
  adrt_device_release(code->device);
  adrt_bundle_release(code->bundle);
  free(code);
}

static void run_chunk(struct Jobs* jobs, void* context, uint32_t stage, uint32_t chunk);

static void add_stage(struct Jobs* jobs, struct Code* code, uint32_t stage) {
  for (uint32_t chunk = 0; chunk < code->chunks[stage]; ++chunk)
    jobs_add(jobs, (struct Job){run_chunk, code, stage, chunk});
}

static void run_chunk(struct Jobs* jobs, void* context, uint32_t stage, uint32_t chunk) {
  struct Code* code = context;
  uint32_t finished = 0;
  if (adrt_cpu_run_chunk(code->record, stage, chunk, &finished, NULL) != ADRT_OK) abort();
  for (uint32_t index = 0; finished && index < code->next_count[stage]; ++index) {
    uint32_t later = code->next[stage][index];
    if (atomic_fetch_sub(&code->open[later], 1) == 1) add_stage(jobs, code, later);
  }
}

static void frame(struct Jobs* jobs, struct Code* code) {
  for (uint32_t stage = 0; stage < code->stages; ++stage)
    atomic_store(&code->open[stage], code->waits[stage]);
  for (uint32_t stage = 0; stage < code->stages; ++stage) {
    if (code->waits[stage] == 0) add_stage(jobs, code, stage);
  }
  jobs_wait(jobs);
  for (uint32_t kernel = 0; kernel < KERNELS; ++kernel) {
    check(adrt_status_read(code->plans[kernel], code->status[kernel], &error), kNames[kernel]);
    check(adrt_run(code->same[kernel], NULL, &error), "adrt_run");
  }
}

static void begin(struct World* of) {
  for (int i = 0; i < POINTS; ++i) of->wanted[i] = sin(0.01 * i);
  of->loss_slope = 1;
  of->rate = 0.05;
  of->most = 1e-9;
}

/* The rest of the way in one call, on the loader's own workers. */
static uint32_t settle(struct Code* code) {
  adrt_cpu_rounds rounds = {.struct_size = sizeof rounds, .most = 5000, .until = &world.flag};
  check(adrt_cpu_record_run(code->record, &rounds, &error), "record_run");
  expect(world.flag == 1 && rounds.done < 5000, "the points did not settle");
  return rounds.done;
}

/* The worst distance of a point from `factor` times where it is wanted. */
static double farthest(double factor) {
  double worst = 0;
  for (int i = 0; i < POINTS; ++i) worst = fmax(worst, fabs(world.x[i] - factor * world.wanted[i]));
  return worst;
}

/* Whether two arrays hold the same numbers, to the bit. */
static int same_bits(const double* a, const double* b, size_t count) {
  for (size_t index = 0; index < count; ++index) {
    uint64_t first, second;
    memcpy(&first, &a[index], sizeof first);
    memcpy(&second, &b[index], sizeof second);
    if (first != second) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: cpu_engine fit.adcb changed.adcb live.adcb\n");
    return 2;
  }
  const char *first = argv[1], *second = argv[2], *live = argv[3];
  struct Jobs* jobs = jobs_start(WORKERS, MOST_STAGES * WORKERS);
  expect(jobs != NULL, "no job system");
  begin(&world);
  begin(&reference);
  copy_file(first, live);
  size_t size = 0, new_size = 0;
  void *bytes = read_file(live, &size), *new_bytes = NULL;
  struct Code* code = load(bytes, size, &arenas[0]);
  uint32_t reloads = 0;
  size_t taken = 0;
  for (int number = 0; number < FRAMES; ++number) {
    if (number == FRAMES / 2) copy_file(second, live);
    new_bytes = read_file(live, &new_size);
    if (new_size != size || memcmp(bytes, new_bytes, size) != 0) {
      struct Code* old = code;
      code = load(new_bytes, new_size, old->arena == &arenas[0] ? &arenas[1] : &arenas[0]);
      drop(old);
      ++reloads;
    }
    free(bytes);
    bytes = new_bytes;
    size = new_size;
    frame(jobs, code);
    /* The first frame of a bundle may take memory, for what adrt_run remembers; later ones take none. */
    if (number == 0 || number == FRAMES / 2) taken = code->arena->taken;
    expect(code->arena->taken == taken, "a frame took memory");
    expect(same_bits(world.x, reference.x, sizeof world.x / sizeof world.x[0]),
           "the points are not those of adrt_run");
    if (number == FRAMES / 2 - 1) expect(farthest(1.0) < 0.05, "the points did not come near");
  }
  expect(reloads == 1, "the engine saw another number of changes");
  uint32_t rounds = settle(code);
  expect(farthest(2.0) < 1e-4, "the changed kernel did not move the points");
  printf("%u stages a frame, %d frames on %d workers equal to adrt_run, %u reload, settled after %u more\n",
         code->stages, FRAMES, WORKERS, reloads, rounds);
  drop(code);
  free(bytes);
  jobs_stop(jobs);
  return 0;
}
