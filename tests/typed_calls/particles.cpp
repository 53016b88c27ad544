// Buffers of structs whose members every kind of which comes back: padding, numbers of several sizes, bases,
// arrays of structs, matrices.
#include <adc/kernel.hpp>
#include <array>

struct Spin {
  double rate;
  short kind;
};

struct Body {
  int id;
  bool is_fixed;
};

struct Particle : Body {
  adc::vec<float, 3> position;
  adc::mat<float, 2, 3> frame;
  std::array<float, 2> weights;
  unsigned short low, high;
};

struct Cell {
  double mass;
  int flags;
  Spin spins[2];
};

/// A word of f32: what is not one is bits.
ADC_KERNEL void weigh(adc::readonly<adc::diff<adc::buffer<Particle, 1>>> p,
                      adc::diff<adc::buffer<float, 1>> out) {
  adc::parallel(p.extent(0), [&](int i) {
    const Particle& one = p[i];
    float sum = one.position.x * one.position.y + one.position.z * one.frame(1, 2) +
                one.frame(0, 1) * one.frame(0, 1);
    sum += one.weights[1] * static_cast<float>(one.id + one.low - one.high);
    out[i] = one.is_fixed ? 0.0f : sum;
  });
}

/// Two axes, and elements that are written.
ADC_KERNEL void count_cells(adc::buffer<Cell, 2> cells, adc::buffer<Particle, 1> moved) {
  adc::parallel(cells.extent(0), cells.extent(1), [&](int i, int j) {
    Cell& cell = cells(i, j);
    cell.mass = cell.mass + cell.spins[1].rate * cell.spins[1].kind;
    cell.flags = cell.flags + i - j;
  });
  adc::parallel(moved.extent(0), [&](int i) {
    moved[i].position.z = moved[i].position.z + 1;
    moved[i].id = i;
  });
}
