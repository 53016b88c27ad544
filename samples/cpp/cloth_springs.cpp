// cloth_springs.cpp: forces of a cloth, springs to the right and upper neighbours of a grid and across, with
// damping.

#include <adc/kernel.hpp>

using Vec3 = adc::vec<float, 3>;
using Field = adc::diff<adc::buffer<Vec3, 2>>;

struct Spring {
  float stiffness, damping;

  Vec3 Force(Vec3 apart, Vec3 relative, float rest) const {
    float now = length(apart);
    Vec3 along = apart / now;
    return along * (stiffness * (now - rest) + damping * dot(relative, along));
  }
};

ADC_KERNEL void cloth_springs(adc::readonly<Field> position, adc::readonly<Field> velocity, Field force,
                              Spring spring, adc::diff<float> stiffness, float rest, Vec3 gravity) {
  const int rows = position.extent(0), columns = position.extent(1);
  adc::parallel(rows, columns, [&](int r, int c) {
    Spring own = spring;
    own.stiffness += stiffness;
    Vec3 sum = gravity;
    for (int dr = -1; dr <= 1; ++dr) {
      for (int dc = -1; dc <= 1; ++dc) {
        const int r2 = r + dr, c2 = c + dc;
        const bool itself = dr == 0 && dc == 0;
        if (itself || r2 < 0 || r2 >= rows || c2 < 0 || c2 >= columns) continue;
        float far = dr != 0 && dc != 0 ? std::sqrt(2.0f) * rest : rest;
        sum += own.Force(position(r2, c2) - position(r, c), velocity(r2, c2) - velocity(r, c), far);
      }
    }
    force(r, c) = sum;
  });
}
