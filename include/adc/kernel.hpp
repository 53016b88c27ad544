#pragma once
// Kernels in C++: the names with which a function says what `adc kernel.cpp` compiles. Any C++20 compiler
// takes this header, and the kernel runs on the host, serially: in a debugger, in a unit test. docs/cpp.md
// says what of C++ a kernel may use.
//
//   ADC_KERNEL void relax(adc::diff<adc::buffer<float, 1>> x, adc::diff<adc::buffer<float, 0>> loss, int n) {
//     adc::parallel(x.extent(0), [&](int i) {
//       float v = x[i];
//       for (int t = 0; t < n; ++t) v = std::sin(v) + 0.1f;
//       adc::atomic_add(loss(), v);
//     });
//   }

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <type_traits>

#include "blocks.hpp"

#if defined(__ADC__)
#define ADC_KERNEL [[clang::annotate("adc.kernel")]]
#else
/// Before the declaration of a function: a kernel, of the function's name.
#define ADC_KERNEL
#endif

#define ADC_JOIN_NAMES(a, b) a##b
#define ADC_JOIN(a, b) ADC_JOIN_NAMES(a, b)
/// `ADC_DERIVATIVE(function, function_vjp)`, `ADC_DERIVATIVE(function, function_vjp, function_jvp)`: reverse
/// mode uses `function_vjp` in place of a derivative of `function`: it takes what `function` takes, then the
/// adjoint of the result, and returns a struct with the adjoint of each float parameter, in order (of one:
/// the adjoint itself). Forward mode uses `function_jvp`: it takes what `function` takes, then the tangent of
/// each float parameter, and returns the tangent of the result. Stands in a namespace, after all of them.
#define ADC_DERIVATIVE(function, ...)                                                                  \
  [[maybe_unused]] static constexpr ::adc::detail::derivative ADC_JOIN(adc_derivative_, __COUNTER__) { \
    function, __VA_ARGS__                                                                              \
  }

namespace adc {

// ---- Vectors and matrices

/// N numbers, packed. `v[k]`; `.x .y .z .w` up to four. `vec<T, N>(other)` converts each number, and drops
/// those after the N-th.
template <class T, int N>
struct vec {
  T data[N] = {};
  constexpr vec() = default;
  explicit constexpr vec(T all) {
    for (int k = 0; k < N; ++k) data[k] = all;
  }
  template <class... Rest>
    requires(sizeof...(Rest) + 2 == N)
  constexpr vec(T first, T second, Rest... rest) : data{first, second, static_cast<T>(rest)...} {}
  template <class U, int M>
    requires(M >= N && !(M == N && std::is_same_v<T, U>))
  explicit constexpr vec(const vec<U, M>& other) {
    for (int k = 0; k < N; ++k) data[k] = static_cast<T>(other[k]);
  }
  constexpr T& operator[](int k) { return data[k]; }
  constexpr const T& operator[](int k) const { return data[k]; }
};

template <class T>
struct vec<T, 2> {
  T x = {}, y = {};
  constexpr vec() = default;
  explicit constexpr vec(T all) : x(all), y(all) {}
  constexpr vec(T x0, T y0) : x(x0), y(y0) {}
  template <class U, int M>
    requires(M >= 2 && !(M == 2 && std::is_same_v<T, U>))
  explicit constexpr vec(const vec<U, M>& other) : x(static_cast<T>(other[0])), y(static_cast<T>(other[1])) {}
  constexpr T& operator[](int k) { return k == 0 ? x : y; }
  constexpr const T& operator[](int k) const { return k == 0 ? x : y; }
};

template <class T>
struct vec<T, 3> {
  T x = {}, y = {}, z = {};
  constexpr vec() = default;
  explicit constexpr vec(T all) : x(all), y(all), z(all) {}
  constexpr vec(T x0, T y0, T z0) : x(x0), y(y0), z(z0) {}
  template <class U, int M>
    requires(M >= 3 && !(M == 3 && std::is_same_v<T, U>))
  explicit constexpr vec(const vec<U, M>& other)
      : x(static_cast<T>(other[0])), y(static_cast<T>(other[1])), z(static_cast<T>(other[2])) {}
  constexpr T& operator[](int k) { return k == 0 ? x : k == 1 ? y : z; }
  constexpr const T& operator[](int k) const { return k == 0 ? x : k == 1 ? y : z; }
};

template <class T>
struct vec<T, 4> {
  T x = {}, y = {}, z = {}, w = {};
  constexpr vec() = default;
  explicit constexpr vec(T all) : x(all), y(all), z(all), w(all) {}
  constexpr vec(T x0, T y0, T z0, T w0) : x(x0), y(y0), z(z0), w(w0) {}
  template <class U, int M>
    requires(M >= 4 && !(M == 4 && std::is_same_v<T, U>))
  explicit constexpr vec(const vec<U, M>& other)
      : x(static_cast<T>(other[0])),
        y(static_cast<T>(other[1])),
        z(static_cast<T>(other[2])),
        w(static_cast<T>(other[3])) {}
  constexpr T& operator[](int k) { return k == 0 ? x : k == 1 ? y : k == 2 ? z : w; }
  constexpr const T& operator[](int k) const { return k == 0 ? x : k == 1 ? y : k == 2 ? z : w; }
};

/// R rows of C numbers, packed row by row. `m[r]` is a row, `m(r, c)` and `m[r][c]` an element.
/// `mat<T, R, C>(other)` takes the first R rows and C columns and converts each number.
template <class T, int R, int C>
struct mat {
  vec<T, C> rows[R] = {};
  constexpr mat() = default;
  /// The elements, row by row.
  template <class... Rest>
    requires(sizeof...(Rest) + 2 == R * C && (std::is_convertible_v<Rest, T> && ...))
  constexpr mat(T first, T second, Rest... rest) {
    const T all[] = {first, second, static_cast<T>(rest)...};
    for (int r = 0; r < R; ++r)
      for (int c = 0; c < C; ++c) rows[r][c] = all[r * C + c];
  }
  /// The rows.
  template <class... Rest>
    requires(sizeof...(Rest) + 2 == R && (std::is_convertible_v<Rest, vec<T, C>> && ...))
  constexpr mat(vec<T, C> first, vec<T, C> second, Rest... rest) : rows{first, second, rest...} {}
  template <class U, int R2, int C2>
    requires(R2 >= R && C2 >= C && !(R2 == R && C2 == C && std::is_same_v<T, U>))
  explicit constexpr mat(const mat<U, R2, C2>& other) {
    for (int r = 0; r < R; ++r) rows[r] = vec<T, C>(other.rows[r]);
  }
  static constexpr mat identity() {
    mat m;
    for (int k = 0; k < R && k < C; ++k) m.rows[k][k] = T(1);
    return m;
  }
  constexpr vec<T, C>& operator[](int r) { return rows[r]; }
  constexpr const vec<T, C>& operator[](int r) const { return rows[r]; }
  constexpr T& operator()(int r, int c) { return rows[r][c]; }
  constexpr const T& operator()(int r, int c) const { return rows[r][c]; }
};

#define ADC_VECTOR_OPERATOR(op)                                                          \
  template <class T, int N>                                                              \
  constexpr vec<T, N> operator op(vec<T, N> a, vec<T, N> b) {                            \
    for (int k = 0; k < N; ++k) a[k] = static_cast<T>(a[k] op b[k]);                     \
    return a;                                                                            \
  }                                                                                      \
  template <class T, int N>                                                              \
  constexpr vec<T, N>& operator op##=(vec<T, N>& a, std::type_identity_t<vec<T, N>> b) { \
    return a = a op b;                                                                   \
  }
ADC_VECTOR_OPERATOR(+)
ADC_VECTOR_OPERATOR(-)
ADC_VECTOR_OPERATOR(*)
ADC_VECTOR_OPERATOR(/)
#undef ADC_VECTOR_OPERATOR

template <class T, int N>
constexpr vec<T, N> operator-(vec<T, N> a) {
  for (int k = 0; k < N; ++k) a[k] = static_cast<T>(-a[k]);
  return a;
}
template <class T, int N>
constexpr vec<T, N> operator*(vec<T, N> a, std::type_identity_t<T> s) {
  for (int k = 0; k < N; ++k) a[k] = static_cast<T>(a[k] * s);
  return a;
}
template <class T, int N>
constexpr vec<T, N> operator*(std::type_identity_t<T> s, vec<T, N> a) {
  for (int k = 0; k < N; ++k) a[k] = static_cast<T>(s * a[k]);
  return a;
}
template <class T, int N>
constexpr vec<T, N> operator/(vec<T, N> a, std::type_identity_t<T> s) {
  for (int k = 0; k < N; ++k) a[k] = static_cast<T>(a[k] / s);
  return a;
}
template <class T, int N>
constexpr vec<T, N>& operator*=(vec<T, N>& a, std::type_identity_t<T> s) {
  return a = a * s;
}
template <class T, int N>
constexpr vec<T, N>& operator/=(vec<T, N>& a, std::type_identity_t<T> s) {
  return a = a / s;
}
template <class T, int N>
constexpr bool operator==(vec<T, N> a, vec<T, N> b) {
  bool same = true;
  for (int k = 0; k < N; ++k) same = same && a[k] == b[k];
  return same;
}

/// Number by number, as the functions of <cmath> and <algorithm> do.
template <std::floating_point T, int N>
vec<T, N> floor(vec<T, N> a) {
  for (int k = 0; k < N; ++k) a[k] = std::floor(a[k]);
  return a;
}
template <std::floating_point T, int N>
vec<T, N> ceil(vec<T, N> a) {
  for (int k = 0; k < N; ++k) a[k] = std::ceil(a[k]);
  return a;
}
template <class T, int N>
  requires std::is_signed_v<T>
vec<T, N> abs(vec<T, N> a) {
  for (int k = 0; k < N; ++k) a[k] = static_cast<T>(std::abs(a[k]));
  return a;
}
template <class T, int N>
constexpr vec<T, N> min(vec<T, N> a, std::type_identity_t<vec<T, N>> b) {
  for (int k = 0; k < N; ++k) a[k] = b[k] < a[k] ? b[k] : a[k];
  return a;
}
template <class T, int N>
constexpr vec<T, N> max(vec<T, N> a, std::type_identity_t<vec<T, N>> b) {
  for (int k = 0; k < N; ++k) a[k] = a[k] < b[k] ? b[k] : a[k];
  return a;
}

template <class T, int N>
constexpr T dot(vec<T, N> a, std::type_identity_t<vec<T, N>> b) {
  T sum = static_cast<T>(a[0] * b[0]);
  for (int k = 1; k < N; ++k) sum = static_cast<T>(sum + a[k] * b[k]);
  return sum;
}
template <class T>
constexpr vec<T, 3> cross(vec<T, 3> a, std::type_identity_t<vec<T, 3>> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <std::floating_point T, int N>
T length(vec<T, N> a) {
  return std::sqrt(dot(a, a));
}
template <std::floating_point T, int N>
vec<T, N> normalize(vec<T, N> a) {
  return a / length(a);
}

template <class T, int R, int C>
constexpr mat<T, R, C> operator+(mat<T, R, C> a, mat<T, R, C> b) {
  for (int r = 0; r < R; ++r) a[r] += b[r];
  return a;
}
template <class T, int R, int C>
constexpr mat<T, R, C> operator-(mat<T, R, C> a, mat<T, R, C> b) {
  for (int r = 0; r < R; ++r) a[r] -= b[r];
  return a;
}
template <class T, int R, int C>
constexpr mat<T, R, C> operator-(mat<T, R, C> a) {
  for (int r = 0; r < R; ++r) a[r] = -a[r];
  return a;
}
template <class T, int R, int C>
constexpr mat<T, R, C> operator*(mat<T, R, C> a, std::type_identity_t<T> s) {
  for (int r = 0; r < R; ++r) a[r] *= s;
  return a;
}
template <class T, int R, int C>
constexpr mat<T, R, C> operator*(std::type_identity_t<T> s, mat<T, R, C> a) {
  for (int r = 0; r < R; ++r) a[r] = s * a[r];
  return a;
}
template <class T, int R, int C>
constexpr mat<T, R, C> operator/(mat<T, R, C> a, std::type_identity_t<T> s) {
  for (int r = 0; r < R; ++r) a[r] /= s;
  return a;
}
template <class T, int R, int K, int C>
constexpr mat<T, R, C> operator*(mat<T, R, K> a, mat<T, K, C> b) {
  mat<T, R, C> product;
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) {
      T sum = static_cast<T>(a[r][0] * b[0][c]);
      for (int k = 1; k < K; ++k) sum = static_cast<T>(sum + a[r][k] * b[k][c]);
      product[r][c] = sum;
    }
  return product;
}
template <class T, int R, int C>
constexpr vec<T, R> operator*(mat<T, R, C> a, vec<T, C> b) {
  vec<T, R> product;
  for (int r = 0; r < R; ++r) product[r] = dot(a[r], b);
  return product;
}
template <class T, int R, int C>
constexpr vec<T, C> operator*(vec<T, R> a, mat<T, R, C> b) {
  vec<T, C> product;
  for (int c = 0; c < C; ++c) {
    T sum = static_cast<T>(a[0] * b[0][c]);
    for (int r = 1; r < R; ++r) sum = static_cast<T>(sum + a[r] * b[r][c]);
    product[c] = sum;
  }
  return product;
}
template <class T, int R, int C>
constexpr mat<T, R, C>& operator+=(mat<T, R, C>& a, std::type_identity_t<mat<T, R, C>> b) {
  return a = a + b;
}
template <class T, int R, int C>
constexpr mat<T, R, C>& operator-=(mat<T, R, C>& a, std::type_identity_t<mat<T, R, C>> b) {
  return a = a - b;
}
template <class T, int R, int C>
constexpr mat<T, R, C>& operator*=(mat<T, R, C>& a, std::type_identity_t<T> s) {
  return a = a * s;
}
template <class T, int R, int C>
constexpr mat<T, R, C>& operator/=(mat<T, R, C>& a, std::type_identity_t<T> s) {
  return a = a / s;
}
template <class T, int R, int C>
constexpr mat<T, C, R> transpose(mat<T, R, C> a) {
  mat<T, C, R> turned;
  for (int r = 0; r < R; ++r)
    for (int c = 0; c < C; ++c) turned[c][r] = a[r][c];
  return turned;
}
template <class T, int R, int C>
constexpr mat<T, R, C> outer(vec<T, R> a, vec<T, C> b) {
  mat<T, R, C> product;
  for (int r = 0; r < R; ++r) product[r] = a[r] * b;
  return product;
}

namespace detail {

/// The matrix without a row and a column.
template <class T, int N>
constexpr mat<T, N - 1, N - 1> minor_of(mat<T, N, N> a, int row, int column) {
  mat<T, N - 1, N - 1> rest;
  for (int r = 0; r < N - 1; ++r)
    for (int c = 0; c < N - 1; ++c) rest[r][c] = a[r < row ? r : r + 1][c < column ? c : c + 1];
  return rest;
}

}  // namespace detail

/// Of square matrices up to 4 by 4.
template <std::floating_point T, int N>
  requires(N >= 2 && N <= 4)
constexpr T determinant(mat<T, N, N> a) {
  if constexpr (N == 2) {
    return a[0][0] * a[1][1] - a[0][1] * a[1][0];
  } else {
    T sum = T(0);
    for (int c = 0; c < N; ++c) {
      T term = a[0][c] * determinant(detail::minor_of(a, 0, c));
      sum = c % 2 == 0 ? sum + term : sum - term;
    }
    return sum;
  }
}
template <std::floating_point T, int N>
  requires(N >= 2 && N <= 4)
constexpr mat<T, N, N> inverse(mat<T, N, N> a) {
  T scale = T(1) / determinant(a);
  mat<T, N, N> result;
  if constexpr (N == 2) {
    result = mat<T, 2, 2>(a[1][1], -a[0][1], -a[1][0], a[0][0]) * scale;
  } else {
    for (int r = 0; r < N; ++r)
      for (int c = 0; c < N; ++c) {
        T cofactor = determinant(detail::minor_of(a, c, r)) * scale;
        result[r][c] = (r + c) % 2 == 0 ? cofactor : -cofactor;
      }
  }
  return result;
}

// ---- Buffers

/// Dense memory in C order, of `Rank` axes; its extents are known at run time. A view: copies share the
/// memory. The elements are numbers, `vec`, `mat`, or structs of them (docs/cpp.md).
template <class T, int Rank>
class buffer {
 public:
  using element = T;
  static constexpr int rank = Rank;

  constexpr buffer() = default;
  template <std::integral... Extents>
    requires(sizeof...(Extents) == Rank)
  constexpr explicit buffer(T* data, Extents... extents)
      : data_(data), extents_{static_cast<int>(extents)..., 0} {}
  template <class U>
    requires(std::is_same_v<const U, T> && !std::is_same_v<U, T>)
  constexpr buffer(const buffer<U, Rank>& other) : data_(other.data()) {
    for (int k = 0; k < Rank; ++k) extents_[k] = other.extent(k);
  }

  constexpr int extent(int axis) const { return extents_[axis]; }
  constexpr T* data() const { return data_; }

  template <std::integral Index>
    requires(Rank == 1)
  constexpr T& operator[](Index i) const {
    return data_[static_cast<std::ptrdiff_t>(i)];
  }
  template <std::integral... Indices>
    requires(sizeof...(Indices) == Rank)
  constexpr T& operator()(Indices... indices) const {
    std::ptrdiff_t at = 0;
    [[maybe_unused]] int axis = 0;
    ((at = at * extents_[axis++] + static_cast<std::ptrdiff_t>(indices)), ...);
    return data_[at];
  }

 private:
  T* data_ = nullptr;
  int extents_[Rank + 1] = {};
};

namespace detail {

template <class B>
concept is_buffer = requires { typename B::element; };

template <class B>
struct read_only {
  using type = B;
};
template <is_buffer B>
struct read_only<B> {
  using type = buffer<const typename B::element, B::rank>;
};

/// A parameter with an attribute: a buffer with all of its members, or a value that converts to the number.
template <class T>
class marked {
 public:
  constexpr marked() = default;
  constexpr marked(T value) : value_(value) {}
  constexpr operator T() const { return value_; }

 private:
  T value_ = {};
};
template <is_buffer B>
class marked<B> : public B {
 public:
  constexpr marked() = default;
  constexpr marked(const B& other) : B(other) {}
  using B::B;
};

template <class F, class Reverse, class Forward = std::nullptr_t>
struct derivative {
  F of;
  Reverse reverse;
  Forward forward = {};
};
template <class F, class Reverse>
derivative(F, Reverse) -> derivative<F, Reverse>;
template <class F, class Reverse, class Forward>
derivative(F, Reverse, Forward) -> derivative<F, Reverse, Forward>;

}  // namespace detail

/// Of a buffer of floats, or of a float, vector or matrix: it has an adjoint.
template <class T>
class diff : public detail::marked<T> {
 public:
  using detail::marked<T>::marked;
};
/// The kernel does not write the buffer.
template <class B>
class readonly : public detail::marked<typename detail::read_only<B>::type> {
 public:
  using detail::marked<typename detail::read_only<B>::type>::marked;
  constexpr readonly(const B& other)
    requires(!std::is_same_v<B, typename detail::read_only<B>::type>)
      : detail::marked<typename detail::read_only<B>::type>(typename detail::read_only<B>::type(other)) {}
};
/// A promise: each element is written once, and not read before that (docs/ir.md).
template <class B>
class writeonce : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};
/// A promise: no element is written after it was read, and no two iterations of a parallel loop meet in one
/// that either writes (docs/ir.md).
template <class B>
class settled : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};
/// A promise: no two iterations of a parallel loop meet in an element that either writes (docs/ir.md).
template <class B>
class disjoint : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};
/// As disjoint, and each launch is checked for it before it runs (docs/ir.md).
template <class B>
class checked : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};
/// The kernel saves what its gradient will read of the buffer (docs/time-stepping.md).
template <class B>
class save : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};
/// The buffer may share memory with others so marked.
template <class B>
class alias : public detail::marked<B> {
 public:
  using detail::marked<B>::marked;
};

// ---- Control

/// f(i) for all i in [0, n), at once and in any order. At the top level of a kernel.
template <std::integral N, class F>
void parallel(N n, F&& f) {
  for (N i = 0; i < n; ++i) f(i);
}
/// f(i, j, ...) for all indices below the extents.
template <std::integral N, std::integral M, class F>
void parallel(N n, M m, F&& f) {
  for (N i = 0; i < n; ++i) parallel(m, [&](M j) { f(i, j); });
}
template <std::integral N, std::integral M, std::integral K, class F>
void parallel(N n, M m, K k, F&& f) {
  for (N i = 0; i < n; ++i) parallel(m, k, [&](M j, K l) { f(i, j, l); });
}
template <std::integral N, std::integral M, std::integral K, std::integral L, class F>
void parallel(N n, M m, K k, L l, F&& f) {
  for (N i = 0; i < n; ++i) parallel(m, k, l, [&](M a, K b, L c) { f(i, a, b, c); });
}

/// f(i), f(i, j), ... for all indices in order, the last one fastest: loops in the form of adc::parallel, for
/// iterations that depend on those before. One thread runs them.
template <std::integral N, class F>
void serial(N n, F&& f) {
  for (N i = 0; i < n; ++i) f(i);
}
template <std::integral N, std::integral M, class F>
void serial(N n, M m, F&& f) {
  for (N i = 0; i < n; ++i)
    for (M j = 0; j < m; ++j) f(i, j);
}
template <std::integral N, std::integral M, std::integral K, class F>
void serial(N n, M m, K k, F&& f) {
  for (N i = 0; i < n; ++i)
    for (M j = 0; j < m; ++j)
      for (K l = 0; l < k; ++l) f(i, j, l);
}

/// As a loop's first statement: its gradient tapes the state at every n-th iteration and runs forward once
/// more; 0: the loader chooses n.
constexpr void checkpoint([[maybe_unused]] int n = 0) {}

/// The value, without its derivative.
template <class T>
constexpr T stop_gradient(T value) {
  return value;
}

// ---- Atomics: each returns the value that the cell had.

template <class T>
T atomic_add(T& cell, std::type_identity_t<T> value) {
  T old = cell;
  cell = static_cast<T>(cell + value);
  return old;
}
template <class T>
T atomic_sub(T& cell, std::type_identity_t<T> value) {
  T old = cell;
  cell = static_cast<T>(cell - value);
  return old;
}
template <class T>
T atomic_min(T& cell, std::type_identity_t<T> value) {
  T old = cell;
  cell = cell < value ? cell : value;
  return old;
}
template <class T>
T atomic_max(T& cell, std::type_identity_t<T> value) {
  T old = cell;
  cell = cell > value ? cell : value;
  return old;
}
template <class T>
T atomic_exchange(T& cell, std::type_identity_t<T> value) {
  T old = cell;
  cell = value;
  return old;
}

// ---- Printing

namespace detail {

inline void print_one(bool value) {
  std::fputs(value ? "true" : "false", stdout);
}
template <std::integral T>
void print_one(T value) {
  if constexpr (std::is_signed_v<T>)
    std::printf("%lld", static_cast<long long>(value));
  else
    std::printf("%llu", static_cast<unsigned long long>(value));
}
template <std::floating_point T>
void print_one(T value) {
  std::printf("%.9g", static_cast<double>(value));
}
template <class T, int N>
void print_one(vec<T, N> value) {
  for (int k = 0; k < N; ++k) std::fputs(k == 0 ? "[" : ", ", stdout), print_one(value[k]);
  std::fputs("]", stdout);
}

}  // namespace detail

/// `print("v = {}", v)`: a `{}` per value.
template <class... Values>
void print(const char* text, Values... values) {
  [[maybe_unused]] auto next = [&text](auto value) {
    while (*text != '\0' && !(text[0] == '{' && text[1] == '}')) std::fputc(*text++, stdout);
    detail::print_one(value);
    if (*text != '\0') text += 2;
  };
  (next(values), ...);
  std::fputs(text, stdout);
  std::fputc('\n', stdout);
}

}  // namespace adc
