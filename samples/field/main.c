/* A neural field: a network of 1,185 weights learns the distance to a shape, by Adam on a shader's reverse
 * mode.
 *
 *   field field.adcb field.svg [SIDE STEPS]: a grid of SIDE by SIDE points, STEPS steps */

#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "field.h"
#include "picture.h"

enum { WIDTH = 32, WEIGHTS = 3 * WIDTH + WIDTH * (WIDTH + 1) + WIDTH + 1, MOST_SIDE = 64 };

static float weights[WEIGHTS], weights_tan[WEIGHTS], weights_adj[WEIGHTS];
static float loss, loss_tan, loss_adj = 1;
static float points[MOST_SIDE * MOST_SIDE][2], wanted[MOST_SIDE * MOST_SIDE], found[MOST_SIDE * MOST_SIDE];
static float seen[SEEN * SEEN][2], seen_field[SEEN * SEEN], seen_shape[SEEN * SEEN];

static adrt_error error = {.struct_size = sizeof error};
static adrt_bundle* bundle;
static adrt_module* module;
static adrt_launch_plan *value, *forward, *reverse, *fine;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "field: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void load(const char* name) {
  static unsigned char bytes[1 << 20];
  FILE* file = fopen(name, "rb");
  size_t size = file ? fread(bytes, 1, sizeof bytes, file) : 0;
  if (file) fclose(file);
  adrt_host host = {.struct_size = sizeof host, .flags = ADRT_HOST_TRUST};
  adrt_device* device = NULL;
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), name);
  check(adrt_device_open_cpu(&host, 1, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");
}

static adrt_launch_plan* plan(const char* name, uint64_t hash, const adrt_arg* args, uint32_t count) {
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_find_kernel(bundle, name, hash, &kernel, &error), name);
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .arg_count = count, .module = module};
  adrt_launch_plan* made = NULL;
  check(adrt_plan(kernel, &desc, &made, &error), name);
  return made;
}

/* The arguments that the kernel and what is derived from it have in common, for `n` points. */
#define AT(n, where, distance, result)                                                                      \
  .points = (where)[0], .points_shape = {n}, .wanted = (distance), .wanted_shape = {n}, .weights = weights, \
  .weights_shape = {WEIGHTS}, .field = (result), .field_shape = {n}, .loss = &loss, .count = (uint32_t)(n), \
  .invocations_x = ((n) + 63) / 64 * 64

static adrt_launch_plan* value_plan(int n, float (*where)[2], const float* distance, float* result) {
  adc_field_args call = {AT(n, where, distance, result)};
  adrt_arg args[adc_field_param_count];
  adc_field_bind(&call, args);
  return plan(adc_field_name, adc_field_interface_hash, args, adc_field_param_count);
}

static void make_plans(int n) {
  value = value_plan(n, points, wanted, found);
  fine = value_plan(SEEN * SEEN, seen, seen_shape, seen_field);
  adc_field_jvp_args jvp = {AT(n, points, wanted, found), .weights_tan = weights_tan, .loss_tan = &loss_tan};
  adrt_arg jvp_args[adc_field_jvp_param_count];
  adc_field_jvp_bind(&jvp, jvp_args);
  forward = plan(adc_field_jvp_name, adc_field_jvp_interface_hash, jvp_args, adc_field_jvp_param_count);
  adc_field_grad_args grad = {AT(n, points, wanted, found), .weights_adj = weights_adj,
                              .loss_adj = &loss_adj};
  adrt_arg grad_args[adc_field_grad_param_count];
  adc_field_grad_bind(&grad, grad_args);
  reverse = plan(adc_field_grad_name, adc_field_grad_interface_hash, grad_args, adc_field_grad_param_count);
}

/* The distance to a curled d: to the nearest piece of its middle line, less half of its width. */
static double distance_to_shape(double x, double y) {
  double nearest = fabs(hypot(x + 0.05, y + 0.3) - 0.4);
  const double line[][2] = {{0.35, -0.3}, {0.38, 0.05},  {0.32, 0.36},
                            {0.17, 0.6},  {-0.06, 0.73}, {-0.32, 0.68}};
  for (int k = 0; k < 5; ++k) {
    double dx = line[k + 1][0] - line[k][0], dy = line[k + 1][1] - line[k][1];
    double along = ((x - line[k][0]) * dx + (y - line[k][1]) * dy) / (dx * dx + dy * dy);
    along = fmin(fmax(along, 0), 1);
    nearest = fmin(nearest, hypot(x - line[k][0] - along * dx, y - line[k][1] - along * dy));
  }
  return nearest - 0.09;
}

static void fill_grid(int side, float (*where)[2], float* distance) {
  for (int i = 0; i < side * side; ++i) {
    int column = i % side, row = i / side;
    where[i][0] = 2 * (float)column / (float)(side - 1) - 1;
    where[i][1] = 1 - 2 * (float)row / (float)(side - 1);
    distance[i] = (float)distance_to_shape(where[i][0], where[i][1]);
  }
}

/* A number from -1 to 1, the same ones on each machine. */
static float uneven(void) {
  static uint32_t state = 1;
  state = state * 1664525u + 1013904223u;
  return (float)(state >> 8) / (float)(1 << 23) - 1;
}

static void begin(void) {
  for (int i = 0; i < WEIGHTS; ++i) weights[i] = uneven() * (i < 3 * WIDTH ? 5.0f : 0.4f);
}

static double run(adrt_launch_plan* launch) {
  loss = 0;
  check(adrt_run(launch, NULL, &error), "run");
  return loss;
}

static void differentiate(void) {
  memset(weights_adj, 0, sizeof weights_adj);
  loss_adj = 1;
  run(reverse);
}

/* Whether reverse mode, forward mode and central differences agree on d loss along an uneven direction. */
static int modes_agree(void) {
  static float start[WEIGHTS];
  memcpy(start, weights, sizeof start);
  for (int i = 0; i < WEIGHTS; ++i) weights_tan[i] = uneven();
  differentiate();
  double by_reverse = 0, side[2], h = 1e-3;
  for (int i = 0; i < WEIGHTS; ++i) by_reverse += (double)weights_adj[i] * weights_tan[i];
  loss_tan = 0;
  run(forward);
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < WEIGHTS; ++i) weights[i] = start[i] + (float)(s == 0 ? h : -h) * weights_tan[i];
    side[s] = run(value);
  }
  memcpy(weights, start, sizeof start);
  double central = (side[0] - side[1]) / (2 * h);
  printf("d loss: reverse mode %.3f, forward mode %.3f, central differences %.3f\n", by_reverse,
         (double)loss_tan, central);
  return fabs(by_reverse - loss_tan) < 1e-5 * fabs(by_reverse) &&
         fabs(by_reverse - central) < 1e-2 * fabs(central);
}

/* Step `n` of Adam, whose rate goes down to 0. */
static void step(int n, int steps) {
  static float mean[WEIGHTS], square[WEIGHTS];
  differentiate();
  float rate = 0.02f * (1 - (float)(n - 1) / (float)steps);
  for (int i = 0; i < WEIGHTS; ++i) {
    mean[i] = 0.9f * mean[i] + 0.1f * weights_adj[i];
    square[i] = 0.99f * square[i] + 0.01f * weights_adj[i] * weights_adj[i];
    float m = mean[i] / (1 - powf(0.9f, (float)n)), s = square[i] / (1 - powf(0.99f, (float)n));
    weights[i] -= rate * m / (sqrtf(s) + 1e-8f);
  }
}

int main(int argc, char** argv) {
  int side = argc == 5 ? atoi(argv[3]) : 48, steps = argc == 5 ? atoi(argv[4]) : 400;
  if ((argc != 3 && argc != 5) || side < 8 || side > MOST_SIDE || steps < 100) {
    fprintf(stderr, "usage: field BUNDLE PICTURE [SIDE, 8 to %d, and STEPS, from 100]\n", MOST_SIDE);
    return 2;
  }
  load(argv[1]);
  fill_grid(side, points, wanted);
  fill_grid(SEEN, seen, seen_shape);
  begin();
  make_plans(side * side);
  printf("%d points, %d weights\n", side * side, WEIGHTS);
  if (!modes_agree()) return 1;
  double first = run(value), last = first;
  const int shown[PANELS] = {0, steps / 20, steps};
  FILE* picture = begin_picture(argv[2]);
  if (!picture) return 1;
  for (int n = 0, panel = 0; n <= steps; ++n) {
    if (n > 0) step(n, steps);
    if (n != shown[panel]) continue;
    last = run(value);
    printf("after %3d steps: distances are wrong by %.2f\n", n, sqrt(last));
    run(fine);
    put_panel(picture, panel++, n, seen_field, seen_shape);
  }
  return !end_picture(picture) || !(last < first / 100);
}
