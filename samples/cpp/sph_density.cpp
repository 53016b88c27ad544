// sph_density.cpp: the density of a fluid at each particle, summed over the neighbours that a grid search has
// found, and a loss that asks for the density at rest.

#include <adc/kernel.hpp>
#include <numbers>

using Vec3 = adc::vec<float, 3>;

/// Poly6 kernel (Müller and others, 2003).
inline float Poly6(float distance_squared, float h) {
  float rest = h * h - distance_squared;
  if (rest <= 0) return 0;
  float h3 = h * h * h;
  return 315.0f / (64.0f * std::numbers::pi_v<float> * h3 * h3 * h3) * rest * rest * rest;
}

/// The neighbours of particle i are neighbour[start[i]] .. neighbour[start[i + 1]].
ADC_KERNEL void sph_density(adc::readonly<adc::buffer<int, 1>> start,
                            adc::readonly<adc::buffer<int, 1>> neighbour,
                            adc::readonly<adc::diff<adc::buffer<Vec3, 1>>> position,
                            adc::diff<adc::buffer<float, 1>> density, adc::diff<adc::buffer<float, 0>> loss,
                            adc::diff<float> mass, float h, float at_rest) {
  adc::parallel(position.extent(0), [&](int i) {
    const Vec3 here = position[i];
    float sum = 0;
    for (int k = start[i]; k < start[i + 1]; ++k) {
      Vec3 apart = here - position[neighbour[k]];
      sum += mass * Poly6(dot(apart, apart), h);
    }
    density[i] = sum;
    adc::atomic_add(loss(), (sum - at_rest) * (sum - at_rest));
  });
}
