/* An arm of seven joints follows a closed path: Gauss-Newton on the angles of all joints at all points of the
 * path.
 *
 * A Gauss-Newton step solves min |J d + r|^2 by conjugate gradients, which need no J but two products: J d is
 * the kernel's forward mode, and J^T r its reverse mode. At the start both are compared with central
 * differences.
 *
 *   arm track.adcb arm.svg [POINTS] */

#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture.h"
#include "track.h"

enum { MOST_ANGLES = MOST_POINTS * JOINTS, ROW = 3 + JOINTS, MOST_RESIDUALS = MOST_POINTS * ROW };

static int points = 120, angles, residuals;
static double axis[JOINTS][3], rod[JOINTS][3], path[MOST_POINTS][3], joint[MOST_POINTS][JOINTS][3];
static double angle[MOST_ANGLES], angle_tan[MOST_ANGLES], angle_adj[MOST_ANGLES];
static double residual[MOST_RESIDUALS], residual_tan[MOST_RESIDUALS], residual_adj[MOST_RESIDUALS];

static adrt_error error = {.struct_size = sizeof error};
static adrt_bundle* bundle;
static adrt_module* module;
static adrt_launch_plan *value, *forward, *reverse;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "arm: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static adrt_launch_plan* plan(const char* name, uint64_t hash, const adrt_arg* args, uint32_t count) {
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_find_kernel(bundle, name, hash, &kernel, &error), name);
  adrt_plan_desc desc = {.struct_size = sizeof desc, .args = args, .arg_count = count, .module = module};
  adrt_launch_plan* made = NULL;
  check(adrt_plan(kernel, &desc, &made, &error), name);
  return made;
}

/* The kernel, J d and J^T r, in the memory above. */
#define COMMON                                                                                      \
  .axis = axis[0], .axis_shape = {JOINTS}, .link = rod[0], .link_shape = {JOINTS}, .path = path[0], \
  .path_shape = {points}, .angle = angle, .angle_shape = {points, JOINTS}, .calm = 0.01,            \
  .residual = residual, .residual_shape = {points, ROW}, .joint = joint[0][0],                      \
  .joint_shape = {points, JOINTS}
static void make_plans(void) {
  adc_track_args call = {COMMON};
  adrt_arg args[adc_track_param_count];
  adc_track_bind(&call, args);
  value = plan(adc_track_name, adc_track_interface_hash, args, adc_track_param_count);
  adc_track_jvp_args jvp = {COMMON, .angle_tan = angle_tan, .residual_tan = residual_tan};
  adrt_arg jvp_args[adc_track_jvp_param_count];
  adc_track_jvp_bind(&jvp, jvp_args);
  forward = plan(adc_track_jvp_name, adc_track_jvp_interface_hash, jvp_args, adc_track_jvp_param_count);
  adc_track_grad_args grad = {COMMON, .angle_adj = angle_adj, .residual_adj = residual_adj};
  adrt_arg grad_args[adc_track_grad_param_count];
  adc_track_grad_bind(&grad, grad_args);
  reverse = plan(adc_track_grad_name, adc_track_grad_interface_hash, grad_args, adc_track_grad_param_count);
}

static double dot(const double* a, const double* b, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

static double loss(void) {
  check(adrt_run(value, NULL, &error), "run");
  return dot(residual, residual, residuals);
}

/* residual_tan = J d */
static void times_j(const double* d) {
  memcpy(angle_tan, d, sizeof angle_tan);
  check(adrt_run(forward, NULL, &error), "forward mode");
}

/* angle_adj = J^T r */
static void times_j_transposed(const double* r) {
  memcpy(residual_adj, r, sizeof residual_adj);
  memset(angle_adj, 0, sizeof angle_adj);
  check(adrt_run(reverse, NULL, &error), "reverse mode");
}

/* step = argmin |J step + residual|^2 + damping |step|^2 */
static void solve(double damping, double* step) {
  static double rest[MOST_RESIDUALS], p[MOST_ANGLES], g[MOST_ANGLES];
  for (int i = 0; i < residuals; ++i) rest[i] = -residual[i];
  memset(step, 0, sizeof angle);
  times_j_transposed(rest);
  memcpy(p, angle_adj, sizeof p);
  double square = dot(p, p, angles), enough = 1e-12 * square;
  for (int n = 0; n < 200 && square > enough; ++n) {
    times_j(p);
    double length = square / (dot(residual_tan, residual_tan, residuals) + damping * dot(p, p, angles));
    for (int i = 0; i < angles; ++i) step[i] += length * p[i];
    for (int i = 0; i < residuals; ++i) rest[i] -= length * residual_tan[i];
    times_j_transposed(rest);
    for (int i = 0; i < angles; ++i) g[i] = angle_adj[i] - damping * step[i];
    double next = dot(g, g, angles), beta = next / square;
    for (int i = 0; i < angles; ++i) p[i] = g[i] + beta * p[i];
    square = next;
  }
}

static void begin(void) {
  const double lengths[JOINTS] = {0.34, 0.2, 0.2, 0.2, 0.2, 0.126, 0.1},
               pose[JOINTS] = {0.2, 0.5, 0, 1.2, 0, 0.8, 0};
  for (int j = 0; j < JOINTS; ++j) {
    axis[j][j % 2 == 0 ? 2 : 1] = 1; /* in turns about the upright and a level axis of the link before */
    rod[j][2] = lengths[j];
  }
  for (int t = 0; t < points; ++t) {
    double a = 2 * acos(-1) * t / points, radius = 0.22 + 0.09 * cos(5 * a);
    path[t][0] = 0.55 + 0.04 * sin(5 * a);
    path[t][1] = radius * cos(a);
    path[t][2] = 0.62 + radius * sin(a);
    memcpy(angle + t * JOINTS, pose, sizeof pose);
  }
}

/* Whether reverse mode, forward mode and central differences agree on d loss along a direction that is
 * uneven. */
static int modes_agree(void) {
  static double direction[MOST_ANGLES];
  for (int i = 0; i < angles; ++i) direction[i] = 1 + 0.5 * sin(3 * i);
  loss();
  times_j_transposed(residual);
  double by_reverse = 2 * dot(angle_adj, direction, angles);
  times_j(direction);
  double by_forward = 2 * dot(residual, residual_tan, residuals), h = 1e-5, side[2];
  for (int s = 0; s < 2; ++s) {
    for (int i = 0; i < angles; ++i) angle[i] += (s == 0 ? h : -2 * h) * direction[i];
    side[s] = loss();
  }
  for (int i = 0; i < angles; ++i) angle[i] += h * direction[i];
  double central = (side[0] - side[1]) / (2 * h);
  printf("d loss: reverse mode %.9f, forward mode %.9f, central differences %.9f\n", by_reverse, by_forward,
         central);
  return fabs(by_reverse - by_forward) < 1e-12 * fabs(by_forward) &&
         fabs(by_reverse - central) < 1e-7 * fabs(central);
}

/* Steps until they gain no more; a step that makes it worse is taken back, and the next one is shorter. */
static double descend(double now) {
  static double step[MOST_ANGLES];
  double damping = 1e-3;
  for (int n = 1; n <= 20; ++n) {
    solve(damping, step);
    for (int i = 0; i < angles; ++i) angle[i] += step[i];
    double next = loss(), gain = now - next;
    if (gain < 0) {
      for (int i = 0; i < angles; ++i) angle[i] -= step[i];
      next = loss();
    }
    damping *= gain < 0 ? 10 : 0.3;
    now = next;
    printf("step %2d: loss %.3e%s\n", n, now, gain < 0 ? ", taken back" : "");
    if (gain >= 0 && gain < 0.01 * now) break;
  }
  return now;
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

int main(int argc, char** argv) {
  if (argc == 4) points = atoi(argv[3]);
  if (argc < 3 || argc > 4 || points < FEWEST_POINTS || points > MOST_POINTS) {
    fprintf(stderr, "usage: arm BUNDLE PICTURE [POINTS, %d to %d]\n", FEWEST_POINTS, MOST_POINTS);
    return 2;
  }
  angles = points * JOINTS;
  residuals = points * ROW;
  load(argv[1]);
  begin();
  make_plans();
  printf("%d joints at %d points of the path: %d angles\n", JOINTS, points, angles);
  if (!modes_agree()) return 1;
  double before = loss();
  printf("start:   loss %.3e\n", before);
  double after = descend(before), farthest = 0;
  for (int t = 0; t < points; ++t)
    farthest = fmax(farthest, sqrt(dot(residual + t * ROW, residual + t * ROW, 3)));
  printf("the tip is at most %.2f mm beside the path\n", 1000 * farthest);
  return !write_picture(argv[2], points, path, joint) || !(after < before / 1000);
}
