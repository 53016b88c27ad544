/* A body is thrown at a place, by gradient: 100 steps of an elastic body forward, 100 back, gradients to its
 * first velocity and to its material, and a few steps downhill.
 *
 * Particles have a frame for each step, so that nothing is overwritten; the grid has one, which is filled
 * again for each step that is reversed. The gradient is compared with forward mode (the same steps by k.jvp)
 * and with central differences.
 *
 *   adc --derive=grad,jvp mpm_step.ir -o mpm_step.adcb && mpm mpm_step.adcb        (in f64: sed s/f32/f64/g
 * first) */

#include <adrt/adrt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS = 100, SIDE = 4, COUNT = SIDE * SIDE * SIDE, CELLS = 20, GRID = CELLS * CELLS * CELLS };

/* What there is three times: values, and with a suffix their adjoints and their tangents. */
struct Body {
  double x[STEPS + 1][COUNT][3], v[STEPS + 1][COUNT][3];
  double affine[STEPS + 1][COUNT][3][3], deformation[STEPS + 1][COUNT][3][3];
  double mass[GRID], momentum[GRID][3], velocity[GRID][3];
  double mu, lambda, loss;
};
static struct Body body, adjoint, tangent;
static double target[3] = {1.25, 1.0, 1.1};
/* Scalars are copied into a plan: all but the step are constants. */
static double dt = 1e-3, dx = 0.1, volume = 0.05 * 0.05 * 0.05, particle_mass = 0.05 * 0.05 * 0.05,
              gravity = -9.8;
static int32_t f;

static adrt_error error;
static adrt_bundle* bundle;
static adrt_module* module;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "mpm: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

/* The memory of a parameter by its name; derived kernels add ".adj" and ".tan" to that of the primal. */
static void* place_of(const char* name) {
  struct {
    const char* name;
    size_t offset;
  } in_body[] = {
      {"x", offsetof(struct Body, x)},           {"v", offsetof(struct Body, v)},
      {"affine", offsetof(struct Body, affine)}, {"deformation", offsetof(struct Body, deformation)},
      {"mass", offsetof(struct Body, mass)},     {"momentum", offsetof(struct Body, momentum)},
      {"mu", offsetof(struct Body, mu)},         {"lambda", offsetof(struct Body, lambda)},
      {"loss", offsetof(struct Body, loss)},     {"velocity", offsetof(struct Body, velocity)}};
  struct {
    const char* name;
    void* place;
  } fixed[] = {{"target", target},
               {"dt", &dt},
               {"dx", &dx},
               {"volume", &volume},
               {"gravity", &gravity},
               {"particle_mass", &particle_mass},
               {"f", &f}};
  const char* dot = strchr(name, '.');
  size_t length = dot ? (size_t)(dot - name) : strlen(name);
  struct Body* in = !dot ? &body : strcmp(dot, ".adj") == 0 ? &adjoint : &tangent;
  for (size_t n = 0; n < sizeof in_body / sizeof *in_body; ++n) {
    if (strlen(in_body[n].name) == length && memcmp(in_body[n].name, name, length) == 0)
      return (char*)in + in_body[n].offset;
  }
  for (size_t n = 0; n < sizeof fixed / sizeof *fixed; ++n) {
    if (strcmp(fixed[n].name, name) == 0) return fixed[n].place;
  }
  fprintf(stderr, "mpm: a parameter named '%s'\n", name);
  exit(1);
}

struct Launch {
  adrt_launch_plan* plan;
  adrt_arg step; /* the scalar `f`, where the kernel has it */
};

static struct Launch plan(const char* name) {
  struct Launch launch = {0};
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error), name);
  adrt_kernel_report report = {0};
  report.struct_size = sizeof report;
  check(adrt_kernel_info(kernel, &report, &error), name);
  adrt_arg args[40];
  memset(args, 0, sizeof args);
  uint32_t count = 0;
  for (uint32_t n = 0; n < report.param_count; ++n) {
    adrt_param_report param = {0};
    param.struct_size = sizeof param;
    check(adrt_kernel_param(kernel, n, &param, &error), name);
    if (param.kind >= ADRT_PARAM_SCRATCH) continue; /* the launch makes it itself */
    adrt_arg* arg = &args[count++];
    arg->struct_size = sizeof *arg;
    arg->kind = param.kind;
    arg->name = param.name;
    arg->type = param.type;
    arg->rows = param.rows;
    arg->columns = param.columns;
    arg->rank = param.rank;
    arg->data = place_of(param.name);
    for (uint32_t axis = 0; axis < 3; ++axis) arg->extents[axis] = param.rank == 3 ? CELLS : 0;
    if (param.rank == 2) arg->extents[0] = STEPS + 1, arg->extents[1] = COUNT;
    if (strcmp(param.name, "f") == 0) launch.step = *arg;
  }
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = count;
  desc.module = module;
  check(adrt_plan(kernel, &desc, &launch.plan, &error), name);
  return launch;
}

static void run(struct Launch* launch, int32_t step) {
  f = step;
  if (launch->step.name) check(adrt_plan_update(launch->plan, &launch->step, 1, &error), "update");
  check(adrt_run(launch->plan, NULL, &error), "run");
}

/* What the gradient is taken to: the first velocity of all particles, and two moduli. */
enum { INPUTS = 5 };
static const char* const input_names[INPUTS] = {"velocity x", "velocity y", "velocity z", "mu", "lambda"};

static void begin(const double* inputs) {
  memset(&body, 0, sizeof body);
  double spacing = dx / 2;
  for (int n = 0; n < COUNT; ++n) {
    int at[3] = {n % SIDE, n / SIDE % SIDE, n / SIDE / SIDE};
    for (int axis = 0; axis < 3; ++axis) {
      body.x[0][n][axis] = 0.8 + spacing * at[axis];
      body.v[0][n][axis] = inputs[axis];
      body.deformation[0][n][axis][axis] = axis == 0 ? 1.3 : axis == 1 ? 0.8 : 1.0;
    }
    /* It begins stretched, and spins about the third axis. */
    body.v[0][n][0] += -4 * (body.x[0][n][1] - 0.875);
    body.v[0][n][1] += 4 * (body.x[0][n][0] - 0.875);
  }
  body.mu = inputs[3];
  body.lambda = inputs[4];
}

static struct Launch clear, p2g, grid, g2p, miss, p2g_grad, grid_grad, g2p_grad, miss_grad;
static struct Launch clear_jvp, p2g_jvp, grid_jvp, g2p_jvp, miss_jvp;

static double forward(const double* inputs) {
  begin(inputs);
  for (int32_t step = 0; step < STEPS; ++step) {
    run(&clear, step), run(&p2g, step), run(&grid, step), run(&g2p, step);
  }
  run(&miss, STEPS);
  return body.loss;
}

/* The same, and the gradient to all inputs. */
static double gradient(const double* inputs, double* result) {
  double loss = forward(inputs);
  memset(&adjoint, 0, sizeof adjoint);
  adjoint.loss = 1;
  run(&miss_grad, STEPS);
  for (int32_t step = STEPS; step-- > 0;) {
    run(&clear, step), run(&p2g, step), run(&grid, step);
    run(&g2p_grad, step), run(&grid_grad, step), run(&p2g_grad, step);
    /* What was cleared before the step takes no adjoint with it. */
    memset(adjoint.mass, 0, sizeof adjoint.mass);
    memset(adjoint.momentum, 0, sizeof adjoint.momentum);
  }
  for (int n = 0; n < INPUTS; ++n) result[n] = 0;
  for (int n = 0; n < COUNT; ++n)
    for (int axis = 0; axis < 3; ++axis) result[axis] += adjoint.v[0][n][axis];
  result[3] = adjoint.mu;
  result[4] = adjoint.lambda;
  return loss;
}

/* The derivative in the direction of one input, by forward mode. */
static double derivative(const double* inputs, int input) {
  begin(inputs);
  memset(&tangent, 0, sizeof tangent);
  for (int n = 0; n < COUNT && input < 3; ++n) tangent.v[0][n][input] = 1;
  if (input == 3) tangent.mu = 1;
  if (input == 4) tangent.lambda = 1;
  for (int32_t step = 0; step < STEPS; ++step) {
    run(&clear_jvp, step), run(&p2g_jvp, step), run(&grid_jvp, step), run(&g2p_jvp, step);
  }
  run(&miss_jvp, STEPS);
  return tangent.loss;
}

int main(int argc, char** argv) {
  error.struct_size = sizeof error;
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: mpm BUNDLE\n");
    return 2;
  }
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void* bytes = malloc(size);
  if (!bytes) return 1;
  size = fread(bytes, 1, size, file);
  fclose(file);
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), "open");
  free(bytes);
  adrt_device* device = NULL;
  check(adrt_device_open_cpu(&host, 0, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");

  struct {
    const char* name;
    struct Launch* launch;
  } launches[] = {{"clear_grid", &clear},    {"p2g", &p2g},
                  {"grid", &grid},           {"g2p", &g2p},
                  {"miss", &miss},           {"p2g.grad", &p2g_grad},
                  {"grid.grad", &grid_grad}, {"g2p.grad", &g2p_grad},
                  {"miss.grad", &miss_grad}, {"clear_grid.jvp", &clear_jvp},
                  {"p2g.jvp", &p2g_jvp},     {"grid.jvp", &grid_jvp},
                  {"g2p.jvp", &g2p_jvp},     {"miss.jvp", &miss_jvp}};
  for (size_t n = 0; n < sizeof launches / sizeof *launches; ++n)
    *launches[n].launch = plan(launches[n].name);

  double inputs[INPUTS] = {1.0, 0.3, 0.5, 40, 60}, reverse[INPUTS];
  double loss = gradient(inputs, reverse), worst = 0;
  printf("%d particles, %d steps; loss %.6f\n", COUNT, STEPS, loss);
  printf("%-12s %16s %16s %16s\n", "input", "reverse", "forward mode", "central");
  for (int n = 0; n < INPUTS; ++n) {
    double h = n < 3 ? 1e-5 : 1e-3, moved[INPUTS];
    memcpy(moved, inputs, sizeof moved);
    moved[n] = inputs[n] + h;
    double up = forward(moved);
    moved[n] = inputs[n] - h;
    double central = (up - forward(moved)) / (2 * h), tangent_of = derivative(inputs, n);
    double by_forward = fabs(reverse[n] - tangent_of) / fabs(reverse[n]);
    double by_central = fabs(reverse[n] - central) / fabs(reverse[n]);
    printf("%-12s %16.9g %16.9g %16.9g   %.1e %.1e\n", input_names[n], reverse[n], tangent_of, central,
           by_forward, by_central);
    worst = fmax(worst, fmax(by_forward * 1e4, by_central));
  }

  /* Downhill in the velocity, a step of Newton's along the gradient: the loss is nearly a square of it. */
  int turns = 0;
  for (; turns < 30 && hypot(hypot(reverse[0], reverse[1]), reverse[2]) > 1e-5; ++turns) {
    double time = STEPS * dt;
    for (int axis = 0; axis < 3; ++axis) inputs[axis] -= reverse[axis] / (2 * time * time);
    loss = gradient(inputs, reverse);
  }
  double middle[3] = {0, 0, 0};
  for (int n = 0; n < COUNT; ++n)
    for (int axis = 0; axis < 3; ++axis) middle[axis] += body.x[STEPS][n][axis] / COUNT;
  double miss_by = hypot(hypot(middle[0] - target[0], middle[1] - target[1]), middle[2] - target[2]);
  printf("after %d steps downhill: loss %.6f, the middle of the body misses its target by %.2e\n", turns,
         loss, miss_by);
  for (size_t n = 0; n < sizeof launches / sizeof *launches; ++n) adrt_plan_release(launches[n].launch->plan);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return worst < 1e-6 && miss_by < 0.01 ? 0 : 1;
}
