// Unions of the same numbers under several names, as vector classes of engines have them, and references that
// a function chooses.

#include <algorithm>
#include <array>
#include <cmath>

#include "feature.h"

namespace unions {

union Vec3 {
  struct {
    double x, y, z;
  };
  double v[3];
};

// Parts of a vector, and rows of a matrix.
union Pair {
  struct {
    double x, y;
  };
  struct {
    double u, v;
  };
  double elements[2];
  double& operator[](int k) { return elements[k]; }
};
union Triple {
  struct {
    double x, y, z;
  };
  struct {
    Pair xy;
    double ignored0;
  };
  struct {
    double ignored1;
    Pair yz;
  };
  double elements[3];
  double& operator[](int k) { return elements[k]; }
  const double& operator[](int k) const { return elements[k]; }
};
union Square {
  double elements[3][3];
  Triple rows[3];
  Triple& operator[](int k) { return rows[k]; }
};
inline Triple operator*(const Triple& a, double k) {
  return {{a.x * k, a.y * k, a.z * k}};
}
inline double Dot(Triple a, Triple b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Names for each number, and an index that a function chooses by.
struct Named {
  union {
    double x, r, s;
  };
  union {
    double y, g, t;
  };
  union {
    double z, b, p;
  };
  constexpr Named() : x(0), y(0), z(0) {}
  constexpr Named(double a, double c, double d) : x(a), y(c), z(d) {}
  double& operator[](int k) {
    switch (k) {
      default:
      case 0:
        return x;
      case 1:
        return y;
      case 2:
        return z;
    }
  }
  constexpr const double& operator[](int k) const {
    if (k == 0) return x;
    if (k == 1) return y;
    return z;
  }
};
struct Frame3 {
  Named value[3];
  Named& operator[](int k) { return value[k]; }
  const Named& operator[](int k) const { return value[k]; }
};
struct Ray {
  Named origin, along;
  int kind;
};
constexpr Named kUp(0.5, 1.5, 2.5);
inline double& Larger(double& a, double& b) {
  if (a > b) return a;
  return b;
}

FEATURE(union_vector, {
  Vec3 a;
  a.x = x[i];
  a.y = x[i + 1] * x[0];
  a.z = x[2];
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += a.v[k] * a.v[(k + i) % 3];
  a.v[i % 3] *= sum;
  Vec3 b = a;
  b.v[0] += a.z;
  return b.x * b.y + std::sqrt(b.z * b.z + sum);
})
FEATURE(union_list, {
  Vec3 a = {{x[i], x[1], x[2]}}, zero = {};
  Vec3 b{.v = {x[i + 1], x[0], x[3]}};
  return a.v[1] * b.y + a.v[0] * b.z + zero.z + b.x;
})
FEATURE(union_parts, {
  Triple a = {{x[i], x[i + 1], x[0]}};
  a.yz.x *= a.xy.x;
  a.xy[i % 2] += x[3];
  a.yz.elements[1] += a.yz.v * a.y;
  Pair last = a.yz;
  last[0] *= 2;
  return Dot(a, a * last.x) + last.y;
})
FEATURE(union_matrix, {
  Square m;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) m.elements[r][c] = x[i + r] * x[c] + r;
  m[i % 3][1] *= 2;
  m.rows[1] = m.rows[n % 3] * m.elements[0][2];
  double sum = 0;
  for (int r = 0; r < 3; ++r) sum += Dot(m[r], m.rows[2]) * m.elements[r][r];
  return sum;
})
FEATURE(union_arrays, {
  Vec3 points[4];
  for (int k = 0; k < 4; ++k)
    for (int c = 0; c < 3; ++c) points[k].v[c] = x[i + k] * x[c];
  points[n % 4].y += x[3];
  std::array<Triple, 2> others{};
  others[i % 2].xy.y = points[1].z;
  double sum = others[0].y + others[1][1];
  for (const Vec3& p : points) sum += p.x * p.y + p.v[i % 3];
  return sum;
})
FEATURE(named_numbers, {
  Named a(x[i], x[i + 1], x[2]), b = a;
  b.g += a.s * kUp.t;
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    a[k] *= b[2 - k];
    sum += a[(k + n) % 3] * kUp[k];
  }
  a[i % 3] = sum;
  return a.r + a.g * a.b;
})
FEATURE(named_frames, {
  Frame3 m;
  for (int k = 0; k < 3; ++k) m[k] = Named(x[i + k], x[k], k);
  m[i % 3][n % 3] += x[4];
  const Frame3 copy = m;
  double sum = 0;
  for (int r = 0; r < 3; ++r)
    for (int c = 0; c < 3; ++c) sum += copy[r][c] * m[c][r] * (r + 1);
  const double* flat = &m[0].x;
  for (int k = 0; k < 9; ++k) sum += flat[k] * k;
  return sum;
})
FEATURE(addresses_of_numbers, {
  Ray ray{Named(x[i], x[1], x[2]), Named(x[i + 1], x[3], x[0]), 2};
  const double* flat = &ray.origin[0];
  double* along = &ray.along[1];
  *along *= x[4];
  double sum = along[-1] * along[1];
  for (int k = 0; k < 6; ++k) sum += flat[k] * (k + 1);
  Named* rays = &ray.origin;
  rays[1].r += x[5];
  Triple t = {{x[i], x[2], x[3]}};
  double* p = &t[i % 3];
  *p *= 2;
  return sum + Dot(t, t) * ray.along.x + rays[n % 2].g;
})
FEATURE(seen_as_others, {
  Square m = {};
  auto* rows = reinterpret_cast<Vec3*>(&m);
  for (int k = 0; k < 3; ++k) rows[k].v[k] = x[i + k];
  rows[1].z += x[0] * rows[i % 3].y;
  double line[6] = {x[i], x[1], x[2], x[3], x[i + 1], x[4]};
  const auto& part = *reinterpret_cast<const Triple*>(line + 2);
  return m[1][2] * part.xy.y + m[0][0] + reinterpret_cast<Vec3&>(m).x * part.z + m[2][2];
})
FEATURE(chosen_by_function, {
  double a = x[i], b = x[i + 1];
  Larger(a, b) *= 3.0;
  Larger(a, b) += Larger(b, a);
  return a * b + std::min(i > 2 ? x[i] : x[0], 0.9);
})

// clang-format off
#define ADC_UNIONS(X) \
  X(union_vector) X(union_list) X(union_parts) X(union_matrix) X(union_arrays) X(named_numbers) \
  X(named_frames) X(addresses_of_numbers) X(seen_as_others) X(chosen_by_function)
// clang-format on

}  // namespace unions
