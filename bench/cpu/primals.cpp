#include "cpu/primals.h"

#include <cmath>
#include <vector>

namespace adc::bench {

double GmmPrimal(const Gmm& gmm) {
  int64_t d = gmm.dimensions, k = gmm.mixtures, row = d * (d + 1) / 2;
  for (int64_t c = 0; c < k; ++c) {
    double sum = 0;
    for (int64_t i = 0; i < d; ++i) {
      gmm.diagonals[c * d + i] = std::exp(gmm.icf[c * row + i]);
      sum += gmm.icf[c * row + i];
    }
    gmm.sums[c] = sum;
  }
  auto count = static_cast<size_t>(d);
  std::vector<double> own_terms(static_cast<size_t>(k)), own_centred(count), own_q(count);
  double *terms = own_terms.data(), *centred = own_centred.data(), *q = own_q.data();
  double loss = 0;
  for (int64_t n = 0; n < gmm.points; ++n) {
    double most = -1e30;
    for (int64_t c = 0; c < k; ++c) {
      for (int64_t i = 0; i < d; ++i) {
        centred[i] = gmm.x[n * d + i] - gmm.means[c * d + i];
        q[i] = gmm.diagonals[c * d + i] * centred[i];
      }
      const double* next = gmm.icf + c * row + d;
      for (int64_t j = 0; j < d; ++j) {
        for (int64_t i = j + 1; i < d; ++i) q[i] += *next++ * centred[j];
      }
      double square = 0;
      for (int64_t i = 0; i < d; ++i) square += q[i] * q[i];
      terms[c] = gmm.alphas[c] + gmm.sums[c] - 0.5 * square;
      if (terms[c] > most) most = terms[c];
    }
    double sum = 0;
    for (int64_t c = 0; c < k; ++c) sum += std::exp(terms[c] - most);
    loss += std::log(sum) + most;
  }
  return loss;
}

void NbodyPrimal(int bodies, const double* x, const double* mass, double* a) {
  for (int i = 0; i < bodies; ++i) {
    double sum[3] = {};
    for (int j = 0; j < bodies; ++j) {
      double dx = x[3 * j] - x[3 * i], dy = x[3 * j + 1] - x[3 * i + 1], dz = x[3 * j + 2] - x[3 * i + 2];
      double square = dx * dx + dy * dy + dz * dz + 0.01;
      double weight = mass[j] / (square * std::sqrt(square));
      sum[0] += dx * weight;
      sum[1] += dy * weight;
      sum[2] += dz * weight;
    }
    for (int axis = 0; axis < 3; ++axis) a[3 * i + axis] = sum[axis];
  }
}

void HashGridPrimal(int points, int levels, uint32_t entries, const double* at, const double* table,
                    double* features) {
  for (int n = 0; n < points; ++n) {
    double scale = 16;
    for (int level = 0; level < levels; ++level, scale *= 1.5) {
      double x = at[3 * n] * scale, y = at[3 * n + 1] * scale, z = at[3 * n + 2] * scale;
      double fx = std::floor(x), fy = std::floor(y), fz = std::floor(z);
      double t[3] = {x - fx, y - fy, z - fz};
      auto ix = static_cast<uint32_t>(fx), iy = static_cast<uint32_t>(fy), iz = static_cast<uint32_t>(fz);
      double sum[2] = {};
      for (uint32_t corner = 0; corner < 8; ++corner) {
        uint32_t bx = corner & 1, by = corner >> 1 & 1, bz = corner >> 2;
        uint32_t hash = (ix + bx) ^ (iy + by) * 2654435761u ^ (iz + bz) * 805459861u;
        const double* entry = table + 2 * (static_cast<size_t>(level) * entries + (hash & (entries - 1)));
        double w = (bx ? t[0] : 1 - t[0]) * (by ? t[1] : 1 - t[1]) * (bz ? t[2] : 1 - t[2]);
        sum[0] += entry[0] * w;
        sum[1] += entry[1] * w;
      }
      features[2 * (n * levels + level)] = sum[0];
      features[2 * (n * levels + level) + 1] = sum[1];
    }
  }
}

void RayMarchPrimal(int rays, int steps, int64_t size, const double* grid, const double* origin,
                    const double* direction, double* light) {
  for (int ray = 0; ray < rays; ++ray) {
    double sum = 0, clear = 1;
    for (int step = 0; step < steps; ++step) {
      double at[3], f[3], cell[2] = {};
      int64_t i[3];
      for (int axis = 0; axis < 3; ++axis) {
        at[axis] = origin[3 * ray + axis] + direction[3 * ray + axis] * step;
        f[axis] = std::floor(at[axis]);
        i[axis] = static_cast<int64_t>(f[axis]);
        f[axis] = at[axis] - f[axis];
      }
      for (int corner = 0; corner < 8; ++corner) {
        int bx = corner & 1, by = corner >> 1 & 1, bz = corner >> 2;
        double w = (bx ? f[0] : 1 - f[0]) * (by ? f[1] : 1 - f[1]) * (bz ? f[2] : 1 - f[2]);
        const double* from = grid + 2 * (((i[0] + bx) * size + i[1] + by) * size + i[2] + bz);
        cell[0] += w * from[0];
        cell[1] += w * from[1];
      }
      double passes = std::exp(-cell[0]);
      sum += clear * (1 - passes) * cell[1];
      clear *= passes;
    }
    light[ray] = sum;
  }
}

void SpringsPrimal(int springs, const double* x, const int32_t* one, const int32_t* other, const double* rest,
                   double stiffness, double* force) {
  for (int s = 0; s < springs; ++s) {
    int i = one[s], j = other[s];
    double d[3], square = 1e-12;
    for (int axis = 0; axis < 3; ++axis) {
      d[axis] = x[3 * j + axis] - x[3 * i + axis];
      square += d[axis] * d[axis];
    }
    double length = std::sqrt(square), scale = stiffness * (length - rest[s]) / length;
    for (int axis = 0; axis < 3; ++axis) {
      force[3 * i + axis] += d[axis] * scale;
      force[3 * j + axis] -= d[axis] * scale;
    }
  }
}

void WavePrimal(int64_t size, const double* now, const double* before, double c, double* next) {
  for (int64_t i = 1; i < size - 1; ++i) {
    for (int64_t j = 1; j < size - 1; ++j) {
      const double* at = now + i * size + j;
      double around = at[-size] + at[size] + at[-1] + at[1];
      next[i * size + j] = 2 * *at - before[i * size + j] + c * (around - 4 * *at);
    }
  }
}

const char* PrimalsCompiler() {
  return __VERSION__;
}

}  // namespace adc::bench
