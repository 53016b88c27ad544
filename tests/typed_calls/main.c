/* Typed calls in C: relax and its gradient against the closed form and central differences, every kind of
 * parameter, and sizes against those of plans. */
#include <math.h>

#include "kernels.h"
#include "kernels_adcb.h"
#include "session.h"

enum { COUNT = 100, STEPS = 5 };

#define RUN(kernel, args) run_##kernel(args)
#define DEFINE_RUN(kernel)                                                                                 \
  static void run_##kernel(const adc_##kernel##_args* args) {                                              \
    adrt_arg table[adc_##kernel##_param_count];                                                            \
    adc_##kernel##_bind(args, table);                                                                      \
    uint64_t heap =                                                                                        \
        run(adc_##kernel##_name, adc_##kernel##_interface_hash, table, adc_##kernel##_param_count);        \
    expect(heap == adc_##kernel##_heap_bytes(args, WORKERS), "another heap than " #kernel "'s plan says"); \
  }
DEFINE_RUN(relax)
DEFINE_RUN(relax_grad)
DEFINE_RUN(int)
DEFINE_RUN(int_param_2)
DEFINE_RUN(broadcast_grad)
DEFINE_RUN(twice)
DEFINE_RUN(twice_grad)

static void check_relax(void) {
  static float x[COUNT], x_adjoint[COUNT];
  float loss = 0, seed = 2;
  for (int i = 0; i < COUNT; ++i) x[i] = 0.05f * (float)i - 2;
  const adc_relax_args forward = {.x = x, .x_shape = {COUNT}, .loss = &loss, .n = STEPS};
  RUN(relax, &forward);
  const adc_relax_grad_args gradient = {
      .x = x, .x_shape = {COUNT}, .loss = &loss, .n = STEPS, .x_adj = x_adjoint, .loss_adj = &seed};
  RUN(relax_grad, &gradient);
  double expected_loss = 0;
  for (int i = 0; i < COUNT; ++i) {
    double a = x[i], derivative = 2;
    for (int t = 0; t < STEPS; ++t) {
      derivative *= cos(a);
      a = sin(a) + 0.1;
    }
    expected_loss += a;
    expect(fabs(derivative - (double)x_adjoint[i]) < 1e-5, "the gradient of relax is not the closed form");
  }
  expect(fabs(expected_loss - (double)loss) < 1e-3, "relax sums something else");
  expect(adc_relax_grad_heap_bytes(&gradient, WORKERS) == WORKERS * 64, "a row is not 5 numbers in 64 bytes");
}

/* Every kind of parameter arrives where it belongs. */
static void check_parameters(void) {
  static float vectors[2][3][3];
  static adc_layout_grid grid;
  double numbers[2] = {0, 1.5}, out[9] = {0};
  vectors[1][2][2] = 2.5f;
  grid.cell[1][2].cell[2].rho = 8.5; /* rho[6, 2]: 4 cells of the first axis lie in each outer one */
  grid.cell_2[2].int_ = -9;
  const adc_int_args args = {.class_ = numbers,
                             .class_shape = {2},
                             .x = &vectors[0][0][0],
                             .x_shape_3 = {2, 3},
                             .x_shape = INT64_C(-3000000000),
                             .x_shape_2 = 65535,
                             ._Bool_ = 1,
                             .out = out,
                             .out_shape = {9},
                             .NULL_ = {{0, 0, 0}, {0, 0, 6.5f}},
                             .args_2 = 7.5f,
                             .g = &grid};
  RUN(int, &args);
  const double expected[9] = {1.5, 2.5, -3e9, 65535, 1, 6.5, 7.5, 8.5, -9};
  for (int n = 0; n < 9; ++n) expect(fabs(out[n] - expected[n]) < 1e-9, "a parameter is another one's");
  expect(grid.count == 7, "the layout is not the kernel's");
  float one = 0;
  const adc_int_param_2_args single = {.x = &one};
  RUN(int_param_2, &single);
  expect(one > 0.5f, "the single element was not stored");
}

static void check_sizes(void) {
  static float x[40 * 50], b[50], y[40 * 50], x_adjoint[40 * 50], b_adjoint[50], y_adjoint[40 * 50];
  static double wide[6 * 7], sums[6 * 7], wide_adjoint[6 * 7], sums_adjoint[6 * 7];
  for (int n = 0; n < 3; ++n) {
    const adc_broadcast_grad_args broadcast = {.x = x,
                                               .x_shape = {40, 50},
                                               .b = b,
                                               .b_shape = {50},
                                               .y = y,
                                               .y_shape = {40, 50},
                                               .n = 33 * n - 5,
                                               .x_adj = x_adjoint,
                                               .b_adj = b_adjoint,
                                               .y_adj = y_adjoint};
    RUN(broadcast_grad, &broadcast);
    const adc_twice_args twice = {.x = wide, .x_shape = {6, 7}, .y = sums, .y_shape = {6, 7}, .n = 9 * n};
    RUN(twice, &twice);
    expect(adc_twice_scratch_bytes(&twice) >= 8, "twice has no scratch");
    const adc_twice_grad_args twice_grad = {.x = wide,
                                            .x_shape = {6, 7},
                                            .y = sums,
                                            .y_shape = {6, 7},
                                            .n = 9 * n,
                                            .x_adj = wide_adjoint,
                                            .y_adj = sums_adjoint};
    RUN(twice_grad, &twice_grad);
  }
}

int main(void) {
  begin_session(kernels_adcb, kernels_adcb_size);
  check_relax();
  check_parameters();
  check_sizes();
  end_session();
  return 0;
}
