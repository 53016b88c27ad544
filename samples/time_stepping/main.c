/* A thousand steps forward and a thousand back, in whatever memory there is.
 *
 * The kernel steps a chain of masses in place, x <- f(x), and saves what its gradient will read. The rollout
 * says in which order steps run, are copied, run again and are reversed; this program carries that out on the
 * CPU, once with all the memory that it takes to save every step, and then in less and less. Every schedule
 * reverses the same steps with the same numbers, so the gradients are equal to the last bit. One is compared
 * with central differences.
 *
 *   adc --save-overwritten chain.ir -o chain.adcb && time_stepping chain.adcb */

#include <adrt/adrt.h>
#include <adrt/adrt_rollout.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MASSES = 400, STEPS = 1000 };

/* What a step reads and writes lies together, so that a copy of the state is one memcpy. */
struct State {
  double x[MASSES], v[MASSES], force[MASSES];
};
static struct State state, adjoint;
static double stiffness, stiffness_adjoint, dt = 2e-4, wanted[MASSES], loss, loss_adjoint;

static adrt_error error;
static adrt_bundle* bundle;
static adrt_module* module;

static void check(adrt_status status, const char* what) {
  if (status == ADRT_OK) return;
  fprintf(stderr, "time_stepping: %s: %s: %s\n", what, adrt_status_text(status), error.text);
  exit(1);
}

static void* take(size_t bytes) {
  void* memory = calloc(bytes > 0 ? bytes : 1, 1);
  if (memory) return memory;
  fprintf(stderr, "time_stepping: no memory of %zu bytes\n", bytes);
  exit(1);
}

static adrt_arg buffer(const char* name, void* data, uint32_t rank, uint64_t extent) {
  adrt_arg arg = {0};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.type = ADRT_TYPE_F64;
  arg.name = name;
  arg.rank = rank;
  arg.data = data;
  if (rank > 0) arg.extents[0] = (int64_t)extent;
  return arg;
}

/* A plan of @step, @step.grad, @miss or @miss.grad. `values` are the elements that a step saves, at `saved`.
 */
static adrt_launch_plan* plan(const char* name, void* saved, uint64_t values, adrt_module* code) {
  adrt_arg args[16];
  uint32_t count = 0;
  int steps = strncmp(name, "step", 4) == 0, reverse = strstr(name, ".grad") != NULL;
  args[count++] = buffer("x", state.x, 1, MASSES);
  if (reverse) args[count++] = buffer("x.adj", adjoint.x, 1, MASSES);
  if (steps) {
    args[count++] = buffer("v", state.v, 1, MASSES);
    args[count++] = buffer("force", state.force, 1, MASSES);
    args[count++] = buffer("stiffness", &stiffness, 0, 0);
    args[count++] = buffer("saved.f64", saved, 1, values);
    args[count] = buffer("dt", &dt, 0, 0);
    args[count++].kind = ADRT_PARAM_SCALAR;
    if (reverse) {
      args[count++] = buffer("v.adj", adjoint.v, 1, MASSES);
      args[count++] = buffer("force.adj", adjoint.force, 1, MASSES);
      args[count++] = buffer("stiffness.adj", &stiffness_adjoint, 0, 0);
    }
  } else {
    args[count++] = buffer("wanted", wanted, 1, MASSES);
    args[count++] = buffer("loss", &loss, 0, 0);
    if (reverse) args[count++] = buffer("loss.adj", &loss_adjoint, 0, 0);
  }
  const adrt_kernel* kernel = NULL;
  check(adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error), name);
  adrt_plan_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.args = args;
  desc.arg_count = count;
  desc.module = code;
  adrt_launch_plan* made = NULL;
  check(adrt_plan(kernel, &desc, &made, &error), name);
  return made;
}

static void begin(double with_stiffness) {
  memset(&state, 0, sizeof state);
  memset(&adjoint, 0, sizeof adjoint);
  stiffness = with_stiffness;
  stiffness_adjoint = loss = 0;
  loss_adjoint = 1;
  for (int i = 0; i < MASSES; ++i) {
    wanted[i] = i;
    state.x[i] = i + 0.4 * sin(0.05 * i) * sin(0.3 * i);
  }
}

static void run(adrt_launch_plan* launch) {
  check(adrt_run(launch, NULL, &error), "run");
}

/* The loss alone, for central differences. */
static double loss_at(double with_stiffness, uint64_t values) {
  double* saved = take(values * sizeof(double));
  adrt_launch_plan *step = plan("step", saved, values, module), *miss = plan("miss", NULL, 0, module);
  begin(with_stiffness);
  for (int n = 0; n < STEPS; ++n) run(step);
  run(miss);
  adrt_plan_release(step);
  adrt_plan_release(miss);
  free(saved);
  return loss;
}

struct Result {
  struct State adjoint;
  double stiffness_adjoint;
};

static void reverse(uint64_t budget, uint64_t values, struct Result* result) {
  adrt_rollout_desc desc = {0};
  desc.struct_size = sizeof desc;
  desc.steps = STEPS;
  desc.state_bytes = sizeof state;
  desc.saved_bytes = values * sizeof(double);
  desc.budget_bytes = budget;
  adrt_rollout* rollout = NULL;
  check(adrt_rollout_create(NULL, &desc, &rollout, &error), "rollout");
  adrt_rollout_report report = {0};
  report.struct_size = sizeof report;
  check(adrt_rollout_info(rollout, &report, &error), "rollout_info");
  unsigned char* arena = take(report.peak_bytes);

  adrt_launch_plan *step = plan("step", arena, values, module),
                   *step_grad = plan("step.grad", arena, values, module);
  adrt_launch_plan *miss = plan("miss", NULL, 0, module), *miss_grad = plan("miss.grad", NULL, 0, module);
  begin(40);
  clock_t started = clock();
  adrt_rollout_action action = {0};
  action.struct_size = sizeof action;
  do {
    check(adrt_rollout_next(rollout, &action, &error), "rollout_next");
    adrt_arg saved = buffer("saved.f64", arena + action.offset, 1, values);
    switch (action.kind) {
      case ADRT_ROLLOUT_STORE:
        memcpy(arena + action.offset, &state, sizeof state);
        break;
      case ADRT_ROLLOUT_LOAD:
        memcpy(&state, arena + action.offset, sizeof state);
        break;
      case ADRT_ROLLOUT_FORWARD:
        check(adrt_plan_update(step, &saved, 1, &error), "update");
        run(step);
        break;
      case ADRT_ROLLOUT_SEED:
        run(miss);
        run(miss_grad);
        break;
      case ADRT_ROLLOUT_REVERSE:
        check(adrt_plan_update(step_grad, &saved, 1, &error), "update");
        run(step_grad);
        break;
    }
  } while (action.kind != ADRT_ROLLOUT_DONE);
  double seconds = (double)(clock() - started) / CLOCKS_PER_SEC;
  const char* names[] = {"", "every step saved", "equal segments", "binomial"};
  printf(
      "%-17s %10llu bytes, %5llu steps forward, %4llu copies, segments of %4llu, %6.3f s, d loss / d "
      "stiffness %.17g\n",
      names[report.schedule], (unsigned long long)report.peak_bytes, (unsigned long long)report.forward_steps,
      (unsigned long long)report.copies, (unsigned long long)report.segment, seconds, stiffness_adjoint);
  result->adjoint = adjoint;
  result->stiffness_adjoint = stiffness_adjoint;
  for (adrt_launch_plan** one = (adrt_launch_plan*[]){step, step_grad, miss, miss_grad, NULL}; *one; ++one)
    adrt_plan_release(*one);
  adrt_rollout_release(rollout);
  free(arena);
}

int main(int argc, char** argv) {
  error.struct_size = sizeof error;
  FILE* file = argc == 2 ? fopen(argv[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: time_stepping BUNDLE\n");
    return 2;
  }
  fseek(file, 0, SEEK_END);
  size_t size = (size_t)ftell(file);
  rewind(file);
  void* bytes = take(size);
  size = fread(bytes, 1, size, file);
  fclose(file);
  adrt_host host = {0};
  host.struct_size = sizeof host;
  host.flags = ADRT_HOST_TRUST;
  check(adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &bundle, &error), "open");
  free(bytes);
  /* One worker: sums of the stiffness's adjoint are taken in one order. */
  adrt_device* device = NULL;
  check(adrt_device_open_cpu(&host, 1, &device, &error), "device");
  check(adrt_module_load(device, bundle, &module, &error), "load");

  /* What one step saves, asked of a plan that nothing will run. */
  adrt_launch_plan* sizes = plan("step", NULL, 0, NULL);
  adrt_plan_report report = {0};
  report.struct_size = sizeof report;
  check(adrt_plan_info(sizes, &report, &error), "plan_info");
  adrt_plan_release(sizes);
  uint64_t values = report.saved_bytes / sizeof(double);
  printf("%d masses, %d steps: a state of %zu bytes, and %llu bytes saved by each step\n", MASSES, STEPS,
         sizeof state, (unsigned long long)report.saved_bytes);

  struct Result whole, other;
  int wrong = 0;
  reverse(0, values, &whole);
  for (uint64_t budget = 4000000; budget >= 25000; budget /= 4) {
    reverse(budget, values, &other);
    if (memcmp(&whole, &other, sizeof whole) == 0) continue;
    fprintf(stderr, "time_stepping: this schedule has another gradient\n");
    wrong = 1;
  }
  double h = 1e-3, central = (loss_at(40 + h, values) - loss_at(40 - h, values)) / (2 * h);
  double distance = fabs(central - whole.stiffness_adjoint) / fabs(central);
  printf("central differences %.10g, relative distance %.1e\n", central, distance);
  adrt_module_release(module);
  adrt_device_release(device);
  adrt_bundle_release(bundle);
  return wrong || !(distance < 1e-7);
}
