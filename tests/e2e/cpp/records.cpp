// Buffers of structs: of several types of number, nested, with arrays, padding and bases. cpp_records.cpp
// hands the host's structs to the compiled kernels as they lie in memory.

#include <adc/kernel.hpp>
#include <cstdint>

namespace records {

using V3 = adc::vec<float, 3>;
template <class T>
using In = adc::readonly<adc::diff<adc::buffer<T, 1>>>;
template <class T>
using Out = adc::diff<adc::buffer<T, 1>>;

enum class Kind : int { Free, Fixed = 5 };
struct Spin {
  V3 axis;
  float rate;
};
/// What an engine's particle is.
struct Particle {
  V3 position;
  float mass;
  Kind kind;
  std::uint32_t flags;
  Spin spin[2];
  std::int64_t id;
  float weights[3];

  bool Fixed() const { return kind == Kind::Fixed; }
};
ADC_KERNEL void particles(In<Particle> p, Out<Particle> q, In<float> x, Out<float> y, int n) {
  adc::parallel(x.extent(0), [&](int i) {
    Particle own = p[i];
    float v = own.Fixed() ? 0.5f : dot(own.position, own.position) * own.mass;
    for (int k = 0; k < 2; ++k) v += own.spin[k].rate * own.spin[k].axis[i % 3];
    v *= own.weights[(own.flags + static_cast<unsigned>(n)) % 3u];
    y[i] = v * x[i] + static_cast<float>(own.id % 1000) + p[(i + 1) % x.extent(0)].position.y;
    own.weights[2] += x[i];
    own.kind = own.flags & 1u ? Kind::Fixed : own.kind;
    own.flags *= 2654435761u;
    own.id = own.id * 4000000007LL - i;
    q[i] = own;
    q[i].position.y = 2.0f * v;
    q[i].spin[i & 1].axis = V3(x[i]) + own.position;
  });
}

/// In doubles, with integers that have a word to themselves and others that have not.
struct Joint {
  double angle;
  std::int32_t parent;  // and four bytes of padding
  double limits[2];
  std::int16_t low, high;
  bool locked;
  unsigned char tag[3];
};
ADC_KERNEL void joints(In<Joint> p, Out<Joint> q, In<double> x, Out<double> y, int n) {
  adc::parallel(x.extent(0), [&](int i) {
    const Joint& j = p[i];
    double v = j.angle * j.limits[0] - j.limits[1];
    if (!j.locked && j.parent >= 0) v = v * p[j.parent].limits[i & 1];
    y[i] = v * x[i] + (j.low * 0.5 + j.high + j.tag[1] + n) * 0.01;
    q[i].angle = j.angle * x[i];
    q[i].parent = j.parent * n - 7;
    q[i].limits[i & 1] = v;
  });
}

/// Floats of both widths, without an adjoint, with a base and with padding at the end.
struct Tagged {
  std::uint16_t tag;
};
struct alignas(16) Sample : Tagged {
  double time;
  float value;
  adc::vec<int, 2> cell;
};
ADC_KERNEL void samples(adc::buffer<const Sample, 1> p, adc::buffer<Sample, 1> q, In<double> x, Out<double> y,
                        int n) {
  adc::parallel(x.extent(0), [&](int i) {
    const Sample s = p[i];
    y[i] = s.time * x[i] + (s.value * static_cast<float>(s.cell[1]) + s.tag + n) * 0.01;
    q[i].time = s.time * 2.0 + s.cell.x;
    q[i].value = s.value + 0.25f;
    q[i].cell = s.cell + adc::vec<int, 2>(1, n);
  });
}

/// Sums over iterations, of floats beside an integer.
struct Sums {
  float total;
  V3 moment;
  int hits;
};
ADC_KERNEL void sums(In<Sums> p, Out<Sums> q, In<float> x, Out<float> y, int n) {
  adc::parallel(x.extent(0), [&](int i) {
    adc::atomic_add(q[i % 2].total, x[i] * x[i] * p[i].total);
    adc::atomic_add(q[i % 2].moment, V3(x[i], 1.0f, 2.0f * x[i]));
    adc::atomic_add(q[n].moment.z, 3.0f * x[i] * p[i].moment.x);
    y[i] = x[i] * static_cast<float>(p[i].hits);
  });
}

}  // namespace records
