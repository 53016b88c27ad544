// Pointers and array parameters, as numeric C code and engines' vector classes have them.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <iterator>
#include <numeric>
#include <span>
#include <utility>

#include "feature.h"

namespace pointers {

struct P3 {
  double x, y, z;
  double& operator[](int k) { return (&x)[k]; }
  const double& operator[](int k) const { return (&x)[k]; }
};
struct Node {
  double mass;
  P3 at;
  int kind;
};
struct Span {
  const double* data;
  int count;
  const double* begin() const { return data; }
  const double* end() const { return data + count; }
};

inline double Dot(int n, const double* a, const double* b) {
  double sum = 0;
  for (int k = 0; k < n; ++k) sum += a[k] * b[k];
  return sum;
}
inline void Axpy(int n, double k, const double* a, double* y) {
  for (int j = 0; j < n; ++j) y[j] += k * a[j];
}
inline double Squares(const double v[4]) {
  return Dot(4, v, v);
}
inline double Trace(const double m[3][3]) {
  return m[0][0] + m[1][1] + m[2][2];
}
inline double Total(Span s) {
  double sum = 0;
  for (const double* p = s.begin(); p != s.end(); ++p) sum += *p * (1.0 + (p - s.data));
  return sum;
}
inline const double* Largest(const double* first, const double* last) {
  const double* best = first;
  while (++first != last) {
    if (*first > *best) best = first;
  }
  return best;
}
inline double Divide(double a, double b, double* rest = nullptr) {
  double whole = std::floor(a / b);
  if (rest != nullptr) *rest = a - whole * b;
  return rest ? whole : a / b;
}
inline void Skip(const double*& p, int n) {
  p += n;
}
inline double Energy(const Node* nodes, int n) {
  double sum = 0;
  for (const Node* p = nodes; p < nodes + n; ++p) sum += p->mass * p->at[p->kind] * (*p).at.y;
  return sum;
}

FEATURE(array_parameters, {
  double a[4];
  for (int k = 0; k < 4; ++k) a[k] = x[i + k];
  double m[3][3] = {{x[i], 1, 2}, {3, x[i + 1] * x[i], 4}, {5, 6, x[i + 2]}};
  return Squares(a) + Trace(m);
})
FEATURE(offsets_into_arrays, {
  double a[4], b[4];
  for (int k = 0; k < 4; ++k) {
    a[k] = x[i + k];
    b[k] = x[i + k] * k;
  }
  Axpy(4, 0.5, a, b);
  Axpy(2, x[0], &a[1], b + 2);
  return Dot(4, a, b) + Dot(2, a + 2, b) + Dot(n - 3, &b[1], 1 + a);
})
FEATURE(walks, {
  double a[6];
  double* p = a;
  for (int k = 0; k < 6; ++k) *p++ = x[i + k] * x[k];
  double sum = 0;
  for (const double* q = a; q != a + 6; q += 2) sum += *q * q[1];
  while (p > a + 1) sum += *--p * sum;
  p -= -2;
  return sum + *(p - 1) + (p - a) * p[0];
})
FEATURE(rows, {
  double m[3][4] = {};
  for (int r = 0; r < 3; ++r) {
    double* row = m[r];
    for (int c = 0; c < 4; ++c) row[c] = x[i + c] * x[r] + c;
  }
  const double(*second)[4] = m + 1;
  const double* all = &m[0][0];
  double sum = Dot(4, m[n % 3], second[1]) + Dot(3, *second, m[0] + 1);
  for (int k = 0; k < 12; ++k) sum += all[k] * k;
  return sum;
})
FEATURE(members_by_address, {
  P3 v{x[i], x[i + 1], x[0]};
  double sum = 0;
  for (int k = 0; k < 3; ++k) {
    v[k] *= 1.0 + k * x[1];
    sum += v[k] * v[(k + n) % 3];
  }
  v[i % 3] += sum;
  return sum + v.x * v.y * v.z;
})
FEATURE(members_of_some, {
  Node node{x[i], {x[1], x[i + 1], x[2]}, 1};
  double* p = &node.at.y;
  p[1] *= p[0];
  *(p - 1) += 2.0 * *p;
  P3* whole = &node.at;
  whole->y = whole->x * node.mass;
  return whole->z * p[0] + (*whole)[i % 3];
})
FEATURE(structs_by_pointer, {
  Node nodes[3];
  for (int k = 0; k < 3; ++k) nodes[k] = {x[i + k], {x[k], x[k + 1], x[i]}, (i + k) % 3};
  Node* last = &nodes[2];
  last->mass *= x[i];
  last[-1].at.y += x[3];
  return Energy(nodes, 3) + Energy(nodes + 1, n - 3) * (last - nodes);
})
FEATURE(elements_beyond_their_struct, {
  P3 points[4];
  double* flat = &points[0].x;
  for (int k = 0; k < 12; ++k) flat[k] = x[(i + k) % 16] + k;
  const auto* again = reinterpret_cast<const double*>(points);
  double sum = again[7] * points[2].y;
  for (int k = 0; k < 12; ++k) sum += again[k] * flat[11 - k];
  return sum + *(&points[1].z + 1);
})
FEATURE(in_structs, {
  double a[5];
  for (int k = 0; k < 5; ++k) a[k] = x[i + k];
  Span s{a + 1, n - 2};
  Span copy = s;
  ++copy.data;
  --copy.count;
  double sum = 0;
  for (const double& v : copy) sum += v * (&v - a);
  for (double v : std::span<const double, 3>(a + 1, 3)) sum *= v;
  return Total(s) + Total(copy) * Total({a, 5}) + sum;
})
FEATURE(in_loops, {
  struct Body {
    double at[2], mass;
  };
  struct World {
    Body sun, moon;
    double sum;
  } w{{{x[i], x[1]}, x[2]}, {{x[3], x[i + 1]}, 2.0}, 0.0};
  struct Sink {
    double* to;
  } sink{&w.sum};
  Body* moon = &w.moon;
  auto add = [](double v, double* to) {
    for (int k = 0; k < 3; ++k) *to += v * (k + 1) * *to + v;
  };
  int left = n;
  while (left-- > 0) {
    moon->at[left % 2] *= 1.0 + 0.1 * w.sun.mass;
    *sink.to += moon->at[0] * w.sun.at[1];
    add(0.1 * x[left], &moon->mass);
  }
  return w.sum * moon->mass;
})
FEATURE(given_back, {
  double a[6];
  for (int k = 0; k < 6; ++k) a[k] = x[(i * 3 + k * 5) % 16];
  const double* best = Largest(a, a + 6);
  return *best * (best - a) + a[(best - a + 1) % 6];
})
FEATURE(null_by_default, {
  double rest = x[0];
  double whole = Divide(3.0 * x[i], 0.7, &rest);
  return whole * x[1] + rest * rest + Divide(x[i], x[2]);
})
FEATURE(by_reference, {
  double a[6];
  for (int k = 0; k < 6; ++k) a[k] = x[i + k] * k;
  const double* p = a;
  Skip(p, 2);
  auto next = [&] { return *p++; };
  double first = next();
  double second = next();
  auto fixed = [p](int k) { return p[k]; };
  return first * second + fixed(1) * fixed(-3);
})
FEATURE(swapped, {
  double a[3] = {x[i], x[1], x[2]}, b[3] = {x[i + 1], x[3], x[i]};
  double *from = a, *to = b;
  for (int k = 0; k < 3; ++k) to[k] += from[k] * from[0];
  std::swap(from, to);
  for (int k = 0; k < 3; ++k) to[k] += from[k] * from[1];
  from = &a[1];
  return to[0] * a[1] + b[2] * from[1];
})
FEATURE(turned_after_return, {
  double a[2] = {x[i], x[1]}, b[2] = {x[2], x[i + 1]};
  const double* p = a;
  if (p[0] > 1.0) return p[1];
  p = b;
  return p[0] * p[1] * a[0];
})
FEATURE(chosen_index, {
  double a[4] = {x[i], x[1], x[2] * x[i], x[3]};
  const double* p = x[i] > 1.0 ? a + 1 : &a[2];
  if (i > 4) p = a;
  const double* rows[2] = {a, a + 2};
  return p[0] * p[1] + rows[1][1] * rows[0][0];
})
FEATURE(of_buffers, {
  const double* p = &x[i];
  const double* end = x.data() + 16;
  double sum = 0;
  for (; p < end; p += 3) sum += *p * *p;
  double* out = &y[i];
  *out = sum * x[0];
  return out[0] + Dot(4, &x[i], x.data() + 2) + *Largest(&x[i], end);
})
FEATURE(of_this, {
  struct Sum {
    double v;
    Sum& Add(const Sum& other) {
      if (this != &other) v += other.v * v;
      return *this;
    }
    Sum* Next() { return this; }
  };
  Sum a{x[i]}, b{x[i + 1]};
  a.Add(a).Add(b);
  b.Next()->Add(a);
  return a.v * b.v;
})
FEATURE(of_library, {
  std::array<double, 5> a;
  for (int k = 0; k < 5; ++k) a[k] = x[i + k] * x[k];
  double b[5] = {};
  std::copy(a.begin(), a.end(), b);
  std::transform(b, b + 5, a.data(), b, [](double p, double q) { return p * q + 1.0; });
  return std::accumulate(a.begin(), a.end(), x[0]) +
         std::inner_product(std::begin(b), std::end(b), &a[0], 0.0) + *std::max_element(a.begin(), a.end());
})
FEATURE(of_memory, {
  double a[6], b[4];
  for (int k = 0; k < 6; ++k) a[k] = x[i + k] * x[k];
  std::memcpy(b, a + 1, sizeof b);
  std::memmove(a + 1, a, static_cast<unsigned>(n) * sizeof(double));
  std::memset(&b[2], 0, sizeof(double));
  std::copy(a + 2, a + 5, a);
  return Dot(4, b, a) + a[4] * a[5];
})
FEATURE(of_vectors, {
  V3 v(x[i], x[i + 1], x[0]);
  double* p = &v.y;
  p[1] *= *p;
  p[-1] += x[1];
  double sum = 0;
  for (int k = 0; k < 3; ++k) sum += (&v[0])[k] * (1 + k);
  M3 m = outer(v, V3(1, 2, x[2]));
  const double* q = &m(0, 0);
  for (int k = 0; k < 9; ++k) sum += q[k] * k;
  return sum;
})

// clang-format off
#define ADC_POINTERS(X) \
  X(array_parameters) X(offsets_into_arrays) X(walks) X(rows) X(members_by_address) X(members_of_some) \
  X(structs_by_pointer) X(elements_beyond_their_struct) X(in_structs) X(in_loops) X(given_back) X(null_by_default) \
  X(by_reference) X(swapped) X(chosen_index) X(of_buffers) X(of_this) X(of_library) X(of_memory) \
  X(of_vectors) X(turned_after_return)
// clang-format on

}  // namespace pointers
