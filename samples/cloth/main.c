/* A cloth of springs hangs in wind, on a Vulkan device: how stiff it is at each mass is found from the shape
 * that it has in the end, by Adam on the reverse mode of a shader.
 *
 *   cloth cloth.adcb miss.adcb cloth.svg [SIDE STEPS TURNS]: SIDE by SIDE masses, STEPS in time, TURNS of
 * Adam
 *
 * A state has a frame for each step, so that nothing is overwritten. The launches of all steps are one
 * sequence, those of their gradients are another one, and each of them is submitted at once. */

#include <adrt/adrt.h>
#include <adrt/adrt_sequence.h>
#include <adrt/adrt_vk.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cloth.h"
#include "miss.h"
#include "picture.h"

enum {
  MOST_SIDE = 31,
  MOST = MOST_SIDE * MOST_SIDE,
  MOST_STEPS = 400,
  MOST_LAUNCHES = 3 * (MOST_STEPS + 1),
  BLOCK = 256
};

static int side, masses, steps;
static adrt_error error = {.struct_size = sizeof error};
static adrt_device* device;
/* What a shader has become. */
static struct Code {
  adrt_bundle* bundle;
  adrt_module* module;
} cloth, miss;
/* Of the device. Adjoints and tangents have two frames: one before a step, one after it, in turns. */
static adrt_memory *states, *adjoints, *tangents, *stiffness, *stiffness_adj, *stiffness_tan, *wanted;
static adrt_memory *loss, *loss_adj, *loss_tan, *heap, *statuses;
static adrt_sequence *forward, *tangent, *backward;
static adrt_launch_plan* plans[MOST_LAUNCHES];
static int plan_count;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "cloth: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void open_device(void) {
  adrt_status status = adrt_device_open_vk(NULL, NULL, &device, &error);
  if (status == ADRT_ERROR_NOT_FOUND) {
    fprintf(stderr, "cloth: NO VULKAN DEVICE HERE, NOTHING IS FITTED: %s\n", error.text);
    exit(77);
  }
  check(status, "device");
  adrt_device_report report = {.struct_size = sizeof report};
  check(adrt_device_info(device, &report, &error), "device_info");
  printf("%d masses, %d steps, on %s\n", masses, steps, report.name);
}

static struct Code load(const char* name) {
  static unsigned char bytes[1 << 20];
  FILE* file = fopen(name, "rb");
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  struct Code code = {NULL, NULL};
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &code.bundle, &error), name);
  check(adrt_module_load(device, code.bundle, &code.module, &error), name);
  return code;
}

/* Places and velocities, four numbers each. */
static uint64_t frame_bytes(void) {
  return (uint64_t)masses * 8 * sizeof(float);
}

static void make_memory(void) {
  struct {
    adrt_memory** memory;
    uint64_t bytes;
  } all[] = {{&states, (uint64_t)(steps + 1) * frame_bytes()},
             {&adjoints, 2 * frame_bytes()},
             {&tangents, 2 * frame_bytes()},
             {&stiffness, sizeof(float) * MOST},
             {&stiffness_adj, sizeof(float) * MOST},
             {&stiffness_tan, sizeof(float) * MOST},
             {&wanted, frame_bytes()},
             {&loss, sizeof(float)},
             {&loss_adj, sizeof(float)},
             {&loss_tan, sizeof(float)},
             {&heap, 4096},
             {&statuses, MOST_LAUNCHES * BLOCK}};
  for (size_t n = 0; n < sizeof all / sizeof *all; ++n)
    check(adrt_memory_create(device, all[n].bytes, all[n].memory, &error), "memory");
}

static void put(adrt_memory* memory, const void* from, uint64_t bytes) {
  check(adrt_memory_write(memory, 0, from, bytes, &error), "writing");
}

static void get(const adrt_memory* memory, uint64_t offset, void* to, uint64_t bytes) {
  check(adrt_memory_read(memory, offset, to, bytes, &error), "reading");
}

static adrt_vk_buffer part(const adrt_memory* memory, uint64_t offset, uint64_t bytes) {
  adrt_vk_buffer place = *(const adrt_vk_buffer*)adrt_memory_data(memory);
  place.offset += offset;
  place.address += offset;
  place.size = bytes;
  return place;
}

static adrt_vk_buffer frame(const adrt_memory* memory, int n) {
  return part(memory, (uint64_t)n * frame_bytes(), frame_bytes());
}

static void add(adrt_sequence* sequence, struct Code code, const char* name, uint64_t hash,
                const adrt_arg* args, uint32_t count) {
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_find_kernel(code.bundle, name, hash, &kernel, &error), name);
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .arg_count = count, .module = code.module};
  adrt_launch_plan** plan = &plans[plan_count];
  check(adrt_plan(kernel, &desc, plan, &error), name);
  adrt_vk_buffer status = part(statuses, (uint64_t)plan_count++ * BLOCK, ADRT_STATUS_BYTES);
  check(adrt_sequence_add(sequence, *plan, adrt_memory_data(heap), adrt_memory_bytes(heap), &status, &error),
        name);
}

#define AT(memory) (void*)adrt_memory_data(memory)
/* The arguments that a shader and what is derived from it have in common. */
#define OF_CLOTH                                                                                      \
  .before = (void*)&before, .before_shape = {2 * masses}, .after = (void*)&after,                     \
  .after_shape = {2 * masses}, .stiffness = AT(stiffness), .stiffness_shape = {masses}, .side = side, \
  .dt = 0.03f, .wind = {1.0f, 0.0f, 3.0f}, .invocations_x = (masses + 63) / 64 * 64
#define OF_MISS                                                                                            \
  .state = (void*)&state, .state_shape = {2 * masses}, .wanted = AT(wanted), .wanted_shape = {2 * masses}, \
  .loss = AT(loss), .count = masses, .invocations_x = (masses + 63) / 64 * 64
/* Appends the launch `call`. */
#define ADD(sequence, code, kernel)    \
  adrt_arg args[kernel##_param_count]; \
  kernel##_bind(&call, args);          \
  add(sequence, code, kernel##_name, kernel##_interface_hash, args, kernel##_param_count)

static void add_step(int t) {
  adrt_vk_buffer before = frame(states, t), after = frame(states, t + 1);
  adc_cloth_args call = {OF_CLOTH};
  ADD(forward, cloth, adc_cloth);
}

static void add_step_tangent(int t) {
  adrt_vk_buffer before = frame(states, t), after = frame(states, t + 1);
  adrt_vk_buffer before_tan = frame(tangents, t % 2), after_tan = frame(tangents, (t + 1) % 2);
  adc_cloth_jvp_args call = {OF_CLOTH, .before_tan = (void*)&before_tan, .after_tan = (void*)&after_tan,
                             .stiffness_tan = AT(stiffness_tan)};
  ADD(tangent, cloth, adc_cloth_jvp);
}

static void add_step_gradient(int t) {
  adrt_vk_buffer before = frame(states, t), after = frame(states, t + 1);
  adrt_vk_buffer before_adj = frame(adjoints, t % 2), after_adj = frame(adjoints, (t + 1) % 2);
  adc_cloth_grad_args call = {OF_CLOTH, .before_adj = (void*)&before_adj, .after_adj = (void*)&after_adj,
                              .stiffness_adj = AT(stiffness_adj)};
  ADD(backward, cloth, adc_cloth_grad);
}

static void add_miss(void) {
  adrt_vk_buffer state = frame(states, steps);
  adc_miss_args call = {OF_MISS};
  ADD(forward, miss, adc_miss);
}

static void add_miss_tangent(void) {
  adrt_vk_buffer state = frame(states, steps), state_tan = frame(tangents, steps % 2);
  adc_miss_jvp_args call = {OF_MISS, .state_tan = (void*)&state_tan, .loss_tan = AT(loss_tan)};
  ADD(tangent, miss, adc_miss_jvp);
}

static void add_miss_gradient(void) {
  adrt_vk_buffer state = frame(states, steps), state_adj = frame(adjoints, steps % 2);
  adc_miss_grad_args call = {OF_MISS, .state_adj = (void*)&state_adj, .loss_adj = AT(loss_adj)};
  ADD(backward, miss, adc_miss_grad);
}

static void make_sequences(void) {
  check(adrt_sequence_create(device, &forward, &error), "sequence");
  check(adrt_sequence_create(device, &tangent, &error), "sequence");
  check(adrt_sequence_create(device, &backward, &error), "sequence");
  for (int t = 0; t < steps; ++t) add_step(t), add_step_tangent(t);
  add_miss(), add_miss_tangent(), add_miss_gradient();
  for (int t = steps; t-- > 0;) add_step_gradient(t);
}

/* Runs it, and gives a number that it leaves. */
static double run(adrt_sequence* sequence, const adrt_memory* result) {
  static unsigned char blocks[MOST_LAUNCHES * BLOCK];
  check(adrt_sequence_run(sequence, &error), "run");
  get(statuses, 0, blocks, (uint64_t)plan_count * BLOCK);
  for (int n = 0; n < plan_count; ++n)
    check(adrt_status_read(plans[n], blocks + n * BLOCK, &error), "a launch");
  float value = 0;
  get(result, 0, &value, sizeof value);
  return (double)value;
}

static const float zeros[2 * MOST * 8], one = 1;

/* The loss after all steps. */
static double value_of(const float* numbers) {
  put(stiffness, numbers, sizeof(float) * (uint64_t)masses);
  put(loss, zeros, sizeof(float));
  return run(forward, loss);
}

/* The gradient of the loss that value_of has computed. The gradient of a step leaves zeros of the adjoint
 * after it, to which that of the step before it adds; the adjoint of the first state is left at the end. */
static void differentiate(float* gradient) {
  put(adjoints, zeros, 2 * frame_bytes());
  put(stiffness_adj, zeros, sizeof(float) * (uint64_t)masses);
  put(loss_adj, &one, sizeof one);
  run(backward, loss);
  get(stiffness_adj, 0, gradient, sizeof(float) * (uint64_t)masses);
}

/* The derivative along a direction, by forward mode. */
static double derivative(const float* direction) {
  put(tangents, zeros, 2 * frame_bytes());
  put(loss, zeros, sizeof(float));
  put(loss_tan, zeros, sizeof(float));
  put(stiffness_tan, direction, sizeof(float) * (uint64_t)masses);
  return run(tangent, loss_tan);
}

/* A number from -1 to 1, the same ones on each machine. */
static float uneven(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (float)(1 << 23) - 1;
}

/* Whether reverse mode, forward mode and central differences agree on d loss along an uneven direction. */
static int modes_agree(const float* at) {
  static float direction[MOST], gradient[MOST], moved[MOST];
  double by_reverse = 0, edge[2], h = 5e-3;
  value_of(at);
  differentiate(gradient);
  for (int i = 0; i < masses; ++i) {
    direction[i] = uneven();
    by_reverse += (double)gradient[i] * (double)direction[i];
  }
  double by_forward = derivative(direction);
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < masses; ++i) moved[i] = at[i] + (float)(s == 0 ? h : -h) * direction[i];
    edge[s] = value_of(moved);
  }
  double central = (edge[0] - edge[1]) / (2 * h);
  printf("d loss: reverse mode %.5f, forward mode %.5f, central differences %.5f\n", by_reverse, by_forward,
         central);
  return fabs(by_reverse - by_forward) < 1e-3 * fabs(by_forward) &&
         fabs(by_reverse - central) < 1e-2 * fabs(central);
}

/* The shape that is wanted, of a cloth that is as it shall be found: a soft disc in a stiff cloth. */
static void make_wanted(float* hidden, float (*shape)[8]) {
  static float start[MOST][2][4];
  for (int i = 0; i < masses; ++i) {
    int column = i % side, row = i / side;
    double radius = hypot((double)column / (side - 1) - 0.6, (double)row / (side - 1) - 0.45);
    hidden[i] = radius < 0.25 ? logf(20) : logf(70);
    start[i][0][0] = (float)column;
    start[i][0][1] = -(float)row;
  }
  put(states, start, frame_bytes());
  value_of(hidden);
  get(states, (uint64_t)steps * frame_bytes(), shape, frame_bytes());
  put(wanted, shape, frame_bytes());
}

/* Step `n` of Adam, whose rate goes down to 0. */
static void step(float* numbers, const float* gradient, int n, int turns) {
  static double mean[MOST], square[MOST];
  double rate = 0.05 * (1 - (double)(n - 1) / turns);
  for (int i = 0; i < masses; ++i) {
    double g = (double)gradient[i];
    mean[i] = 0.9 * mean[i] + 0.1 * g;
    square[i] = 0.99 * square[i] + 0.01 * g * g;
    double scaled = mean[i] / (1 - pow(0.9, n)) / (sqrt(square[i] / (1 - pow(0.99, n))) + 1e-8);
    numbers[i] -= (float)(rate * scaled);
  }
}

static int fit(FILE* picture, int turns) {
  static float hidden[MOST], numbers[MOST], gradient[MOST], target[MOST][8], shape[MOST][8];
  make_wanted(hidden, target);
  for (int i = 0; i < masses; ++i) numbers[i] = logf(70);
  if (!modes_agree(numbers)) return 0;
  double first = 0, last = 0;
  for (int turn = 0; turn <= turns; ++turn) {
    last = value_of(numbers);
    if (turn == 0) {
      first = last;
      get(states, (uint64_t)steps * frame_bytes(), shape, frame_bytes());
      put_panel(picture, 0, "as stiff everywhere", side, shape, numbers, target);
      put_panel(picture, 1, "wanted", side, target, hidden, target);
    }
    if (turn % 50 == 0 || turn == turns)
      printf("after %3d turns: masses are beside their places by %.3f\n", turn, sqrt(last));
    if (turn == turns) break;
    differentiate(gradient);
    step(numbers, gradient, turn + 1, turns);
  }
  get(states, (uint64_t)steps * frame_bytes(), shape, frame_bytes());
  put_panel(picture, 2, "fitted", side, shape, numbers, target);
  return last < first / 10;
}

int main(int argc, char** argv) {
  int turns = argc == 7 ? atoi(argv[6]) : 250;
  side = argc == 7 ? atoi(argv[4]) : 21;
  steps = argc == 7 ? atoi(argv[5]) : 200;
  if ((argc != 4 && argc != 7) || side < 6 || side > MOST_SIDE || steps < 1 || steps > MOST_STEPS ||
      turns < 1) {
    fprintf(stderr, "usage: cloth CLOTH MISS PICTURE [SIDE, 6 to %d, STEPS, to %d, and TURNS]\n", MOST_SIDE,
            MOST_STEPS);
    return 2;
  }
  masses = side * side;
  open_device();
  cloth = load(argv[1]);
  miss = load(argv[2]);
  make_memory();
  make_sequences();
  FILE* picture = begin_picture(argv[3]);
  if (!picture) return 1;
  int good = fit(picture, turns);
  return !end_picture(picture) || !good;
}
