// Buffers of structs in C++20: spans of the structs that headers declare, which an engine compares with its
// own.
#include <cstddef>
#include <vector>

#include "structs.h"

namespace {

/// An engine's own, which lies in memory as the kernel's does.
struct Particle {
  int32_t id;
  bool is_fixed;
  float position[3], frame[2][3], weights[2];
  uint16_t low, high;
};
static_assert(sizeof(Particle) == sizeof(adc_weigh_p_element));
static_assert(offsetof(Particle, position) == offsetof(adc_weigh_p_element, position));
static_assert(offsetof(Particle, high) == offsetof(adc_weigh_p_element, high));

void CheckParticles() {
  std::vector<adc_weigh_p_element> particles, adjoints(ELEMENTS);
  for (int n = 0; n < ELEMENTS; ++n) particles.push_back(particle(n));
  std::vector<float> weights(ELEMENTS), seeds(ELEMENTS, 1.0f);
  const adc::calls::weigh_grad::call gradient(
      {.p = particles, .out = weights, .p_adj = adjoints, .out_adj = seeds});
  run(adc_weigh_grad_name, adc_weigh_grad_interface_hash, gradient.table, adc_weigh_grad_param_count);
  for (size_t n = 0; n < ELEMENTS; ++n) check_particle_adjoint(&particles[n], &adjoints[n]);
  const adc::calls::weigh::call forward({.p = particles, .out = weights});
  run(adc_weigh_name, adc_weigh_interface_hash, forward.table, adc_weigh_param_count);
  for (size_t n = 0; n < ELEMENTS; ++n)
    expect(weights[n] == weight(&particles[n]), "a particle has another weight");
}

void CheckTwoAxes() {
  std::vector<adc_count_cells_cells_element> cells;
  for (int n = 0; n < 6; ++n) cells.push_back(counted(n));
  std::vector<adc_count_cells_moved_element> moved(ELEMENTS);
  const adc::calls::count_cells::call call({.cells = cells, .cells_shape = {3, 2}, .moved = moved});
  run(adc_count_cells_name, adc_count_cells_interface_hash, call.table, adc_count_cells_param_count);
  for (int n = 0; n < 6; ++n) check_counted(&cells[static_cast<size_t>(n)], n, n / 2, n % 2);
  expect(moved[4].id == 4, "a particle is not moved");
}

void CheckCells() {
  std::vector<adc_cells_cells_element> cells;
  for (int n = 0; n < ELEMENTS; ++n) cells.push_back(cell(n));
  std::vector<float> sums(ELEMENTS);
  const adc::calls::cells::call call({.cells = cells, .cells_i32 = cells, .sums = sums, .invocations_x = 8});
  run(adc_cells_name, adc_cells_interface_hash, call.table, adc_cells_param_count);
  for (size_t n = 0; n < ELEMENTS; ++n) expect(sums[n] == sum_of(&cells[n]), "a cell has another sum");
}

void RefuseShortSpan() {
  std::vector<adc_weigh_p_element> particles(4), adjoints(3);
  std::vector<float> weights(4), seeds(4);
  const adc::calls::weigh_grad::call call(
      {.p = particles, .out = weights, .p_adj = adjoints, .out_adj = seeds});
  adrt_launch_plan* plan = nullptr;
  adrt_status status = make_plan(adc_weigh_grad_name, adc_weigh_grad_interface_hash, call.table,
                                 adc_weigh_grad_param_count, &plan);
  expect(status == ADRT_ERROR_ARGUMENT, "a span of structs that is too short is taken");
}

}  // namespace

int main() {
  begin_session(particles_adcb, particles_adcb_size);
  CheckParticles();
  CheckTwoAxes();
  RefuseShortSpan();
  end_session();
  begin_session(cells_adcb, cells_adcb_size);
  CheckCells();
  end_session();
  return 0;
}
