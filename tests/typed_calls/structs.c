/* Buffers of structs in C: a kernel in C++ and a shader take structs that their headers declare. */
#include "structs.h"

#define RUN(kernel, args) run_##kernel(args)
#define DEFINE_RUN(kernel)                                                                                 \
  static void run_##kernel(const adc_##kernel##_args* args) {                                              \
    adrt_arg table[adc_##kernel##_param_count];                                                            \
    adc_##kernel##_bind(args, table);                                                                      \
    uint64_t heap =                                                                                        \
        run(adc_##kernel##_name, adc_##kernel##_interface_hash, table, adc_##kernel##_param_count);        \
    expect(heap == adc_##kernel##_heap_bytes(args, WORKERS), "another heap than " #kernel "'s plan says"); \
  }
DEFINE_RUN(weigh)
DEFINE_RUN(weigh_grad)
DEFINE_RUN(count_cells)
DEFINE_RUN(cells)
DEFINE_RUN(cells_grad)

static void check_particles(void) {
  static adc_weigh_p_element particles[ELEMENTS], adjoints[ELEMENTS];
  float weights[ELEMENTS] = {0}, seeds[ELEMENTS];
  for (int n = 0; n < ELEMENTS; ++n) {
    particles[n] = particle(n);
    seeds[n] = 1;
  }
  RUN(weigh,
      (&(adc_weigh_args){.p = particles, .p_shape = {ELEMENTS}, .out = weights, .out_shape = {ELEMENTS}}));
  RUN(weigh_grad, (&(adc_weigh_grad_args){.p = particles,
                                          .p_shape = {ELEMENTS},
                                          .out = weights,
                                          .out_shape = {ELEMENTS},
                                          .p_adj = adjoints,
                                          .out_adj = seeds}));
  for (int n = 0; n < ELEMENTS; ++n) {
    expect(weights[n] == weight(&particles[n]), "a particle has another weight");
    check_particle_adjoint(&particles[n], &adjoints[n]);
  }
}

static void check_written(void) {
  adc_count_cells_cells_element cells[2][3];
  /* One struct in C++ is one in C, under the names of all parameters. */
  adc_weigh_p_element moved[ELEMENTS];
  for (int n = 0; n < 6; ++n) cells[n / 3][n % 3] = counted(n);
  for (int n = 0; n < ELEMENTS; ++n) moved[n] = particle(ELEMENTS - n);
  RUN(count_cells,
      (&(adc_count_cells_args){
          .cells = &cells[0][0], .cells_shape = {2, 3}, .moved = moved, .moved_shape = {ELEMENTS}}));
  for (int n = 0; n < 6; ++n) check_counted(&cells[n / 3][n % 3], n, n / 3, n % 3);
  for (int n = 0; n < ELEMENTS; ++n) {
    const adc_weigh_p_element before = particle(ELEMENTS - n);
    expect(moved[n].position[2] == before.position[2] + 1 && moved[n].position[1] == before.position[1] &&
               moved[n].id == n && moved[n].low == before.low,
           "a particle is not moved");
  }
}

static void check_cells(void) {
  static adc_cells_cells_element cells[ELEMENTS], adjoints[ELEMENTS];
  float sums[ELEMENTS] = {0}, seeds[ELEMENTS];
  for (int n = 0; n < ELEMENTS; ++n) {
    cells[n] = cell(n);
    seeds[n] = 1;
  }
  /* Floats and integers of the buffer are two parameters of one memory. */
  RUN(cells, (&(adc_cells_args){.cells = cells,
                                .cells_shape = {ELEMENTS},
                                .cells_i32 = cells,
                                .cells_i32_shape = {ELEMENTS},
                                .sums = sums,
                                .sums_shape = {ELEMENTS},
                                .invocations_x = 8}));
  RUN(cells_grad, (&(adc_cells_grad_args){.cells = cells,
                                          .cells_shape = {ELEMENTS},
                                          .cells_i32 = cells,
                                          .cells_i32_shape = {ELEMENTS},
                                          .sums = sums,
                                          .sums_shape = {ELEMENTS},
                                          .invocations_x = 8,
                                          .cells_adj = adjoints,
                                          .sums_adj = seeds}));
  for (int n = 0; n < ELEMENTS; ++n) {
    expect(sums[n] == sum_of(&cells[n]), "a cell has another sum");
    check_cell_adjoint(&cells[n], &adjoints[n]);
  }
}

int main(void) {
  begin_session(particles_adcb, particles_adcb_size);
  check_particles();
  check_written();
  end_session();
  begin_session(cells_adcb, cells_adcb_size);
  check_cells();
  end_session();
  return 0;
}
