// Buffers of structs (cpp/records.cpp): the function on the host and the compiled kernel read and write the
// same structs; the gradient is held against differences of the host's function and against forward mode.
// The bundle is the first argument.

#include <cmath>
#include <cstring>

#include "cpp/records.cpp"
#include "cpp_bundle.h"

using namespace adc::test;

namespace {

constexpr int kCount = 7, kN = 2;
int failures = 0;

double Random() {
  static uint64_t state = 7;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return static_cast<double>(state >> 40) / (1 << 23) - 1;
}

template <class Record, class Word>
Word* Words(std::vector<Record>& records) {
  return reinterpret_cast<Word*>(records.data());
}

template <class Record, class Real, class Call>
void OnHost(Call call, std::vector<Record>& p, std::vector<Record>& q, std::vector<Real>& x,
            std::vector<Real>& y) {
  using B = adc::buffer<Record, 1>;
  using R = adc::buffer<Real, 1>;
  call(B(p.data(), kCount), B(q.data(), kCount), R(x.data(), kCount), R(y.data(), kCount));
}

void Wrong(const char* name, const char* what, size_t at, double got, double wanted) {
  std::printf("%s: %s %zu is %.9g, should be %.9g\n", name, what, at, got, wanted);
  ++failures;
}

/// Values: all bytes of what was written, and y.
template <class Record, class Word, class Real, class Call>
void Values(Kernels& kernels, const char* name, Call call, std::vector<Record> p, uint32_t word,
            uint32_t real) {
  std::vector<Record> q(kCount), host_q(kCount);
  std::memset(static_cast<void*>(q.data()), 0, sizeof(Record) * kCount);
  std::memset(static_cast<void*>(host_q.data()), 0, sizeof(Record) * kCount);
  std::vector<Real> x, y(kCount), host_y(kCount);
  for (int n = 0; n < kCount; ++n) x.push_back(static_cast<Real>(Random()));
  OnHost(call, p, host_q, x, host_y);
  int64_t words = sizeof(Record) / sizeof(Word);
  int32_t n = kN;
  kernels.Run(name, {Memory("p", word, p.data(), {kCount, words}),
                     Memory("q", word, q.data(), {kCount, words}), Memory("x", real, x.data(), {kCount}),
                     Memory("y", real, y.data(), {kCount}), Scalar("n", ADRT_TYPE_I32, &n)});
  for (size_t k = 0; k < kCount; ++k) {
    if (std::memcmp(&y[k], &host_y[k], sizeof(Real)) != 0) Wrong(name, "y", k, y[k], host_y[k]);
    for (size_t w = 0; w < static_cast<size_t>(words); ++w) {
      size_t at = k * static_cast<size_t>(words) + w;
      Word got = Words<Record, Word>(q)[at], wanted = Words<Record, Word>(host_q)[at];
      if (std::memcmp(&got, &wanted, sizeof(Word)) != 0)
        Wrong(name, "word", at, static_cast<double>(got), static_cast<double>(wanted));
    }
  }
}

/// y weighted, and the floats of q: by p's floats and by x.
template <class Record, class Real, class Call>
void Gradient(Kernels& kernels, const char* name, Call call, const std::vector<Record>& p, uint32_t type,
              const std::vector<size_t>& floats, double step, double tolerance) {
  size_t words = sizeof(Record) / sizeof(Real);
  auto shape = static_cast<int64_t>(words);
  std::vector<Real> x, weight, y(kCount), x_tangent, x_adjoint(kCount), y_adjoint, y_tangent(kCount);
  for (int n = 0; n < kCount; ++n) {
    x.push_back(static_cast<Real>(Random()));
    weight.push_back(static_cast<Real>(Random()));
    x_tangent.push_back(static_cast<Real>(Random()));
  }
  std::vector<Real> q_weight(words * kCount), q_adjoint, p_adjoint(words * kCount), p_tangent(words * kCount),
      q_tangent(words * kCount);
  for (size_t k = 0; k < kCount; ++k) {
    for (size_t at : floats) {
      q_weight[k * words + at] = static_cast<Real>(Random());
      p_tangent[k * words + at] = static_cast<Real>(Random());
    }
  }
  std::vector<Record> q(kCount);
  std::memset(static_cast<void*>(q.data()), 0, sizeof(Record) * kCount);
  q_adjoint = q_weight;
  y_adjoint = weight;
  std::vector<Record> in = p;
  int32_t n = kN;
  auto arguments = [&](const char* suffix, Real* dp, Real* dq, Real* dx, Real* dy) {
    static std::string names[4];
    const char* base[] = {"p", "q", "x", "y"};
    for (int k = 0; k < 4; ++k) names[k] = std::string(base[k]) + suffix;
    return std::vector<adrt_arg>{Memory("p", type, in.data(), {kCount, shape}),
                                 Memory("q", type, q.data(), {kCount, shape}),
                                 Memory("x", type, x.data(), {kCount}),
                                 Memory("y", type, y.data(), {kCount}),
                                 Memory(names[0].c_str(), type, dp, {kCount, shape}),
                                 Memory(names[1].c_str(), type, dq, {kCount, shape}),
                                 Memory(names[2].c_str(), type, dx, {kCount}),
                                 Memory(names[3].c_str(), type, dy, {kCount}),
                                 Scalar("n", ADRT_TYPE_I32, &n)};
  };
  kernels.Run(std::string(name) + ".grad",
              arguments(".adj", p_adjoint.data(), q_adjoint.data(), x_adjoint.data(), y_adjoint.data()));
  auto value = [&](double t) {
    std::vector<Record> moved = p, out(kCount);
    std::memset(static_cast<void*>(out.data()), 0, sizeof(Record) * kCount);
    std::vector<Real> at = x, result(kCount);
    Real* numbers = Words<Record, Real>(moved);
    for (size_t k = 0; k < kCount; ++k) {
      at[k] = static_cast<Real>(at[k] + t * x_tangent[k]);
      for (size_t w : floats)
        numbers[k * words + w] = static_cast<Real>(numbers[k * words + w] + t * p_tangent[k * words + w]);
    }
    OnHost(call, moved, out, at, result);
    double sum = 0;
    for (size_t k = 0; k < kCount; ++k) {
      sum += static_cast<double>(weight[k]) * result[k];
      for (size_t w : floats)
        sum += static_cast<double>(q_weight[k * words + w]) * Words<Record, Real>(out)[k * words + w];
    }
    return sum;
  };
  double reverse = 0, forward = 0, difference = (value(step) - value(-step)) / (2 * step);
  for (size_t k = 0; k < kCount; ++k) {
    reverse += static_cast<double>(x_adjoint[k]) * x_tangent[k];
    for (size_t w : floats)
      reverse += static_cast<double>(p_adjoint[k * words + w]) * p_tangent[k * words + w];
  }
  std::memset(static_cast<void*>(q.data()), 0, sizeof(Record) * kCount);
  kernels.Run(std::string(name) + ".jvp",
              arguments(".tan", p_tangent.data(), q_tangent.data(), x_tangent.data(), y_tangent.data()));
  for (size_t k = 0; k < kCount; ++k) {
    forward += static_cast<double>(weight[k]) * y_tangent[k];
    for (size_t w : floats)
      forward += static_cast<double>(q_weight[k * words + w]) * q_tangent[k * words + w];
  }
  if (std::fabs(reverse - difference) > tolerance * (1 + std::fabs(difference)))
    Wrong(name, "gradient against differences", 0, reverse, difference);
  if (std::fabs(reverse - forward) > 1e-5 * (1 + std::fabs(forward)))
    Wrong(name, "gradient against forward mode", 0, reverse, forward);
  if (reverse == 0) Wrong(name, "gradient", 0, 0, 1);
}

float Float() {
  return static_cast<float>(Random());
}
records::V3 Vector() {
  return {Float(), Float(), Float()};
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  Kernels kernels(words[1]);
  std::vector<records::Particle> particles(kCount);
  std::vector<records::Joint> joints(kCount);
  std::vector<records::Sample> samples(kCount);
  std::vector<records::Sums> sums(kCount);
  for (int k = 0; k < kCount; ++k) {
    auto at = static_cast<size_t>(k);
    records::Particle& p = particles[at];
    p = {Vector(),
         Float(),
         k % 3 == 0 ? records::Kind::Fixed : records::Kind::Free,
         static_cast<uint32_t>(k) * 2654435761u,
         {{Vector(), Float()}, {Vector(), Float()}},
         (int64_t{1} << 40) * (k - 3) + k,
         {Float(), Float(), Float()}};
    joints[at] = {Random(),
                  k % 4 - 1,
                  {Random(), Random()},
                  static_cast<int16_t>(-k * 11),
                  static_cast<int16_t>(300 + k),
                  k % 2 == 0,
                  {1, static_cast<unsigned char>(250 + k), 9}};
    samples[at].tag = static_cast<uint16_t>(65530 + k);
    samples[at].time = Random() * 1e3;
    samples[at].value = Float();
    samples[at].cell = {k, -k};
    sums[at] = {Float(), Vector(), 3 - k};
  }
  auto particles_host = [](auto p, auto q, auto x, auto y) { records::particles(p, q, x, y, kN); };
  auto joints_host = [](auto p, auto q, auto x, auto y) { records::joints(p, q, x, y, kN); };
  auto samples_host = [](auto p, auto q, auto x, auto y) { records::samples(p, q, x, y, kN); };
  auto sums_host = [](auto p, auto q, auto x, auto y) { records::sums(p, q, x, y, kN); };
  Values<records::Particle, float, float>(kernels, "particles", particles_host, particles, ADRT_TYPE_F32,
                                          ADRT_TYPE_F32);
  Values<records::Joint, double, double>(kernels, "joints", joints_host, joints, ADRT_TYPE_F64,
                                         ADRT_TYPE_F64);
  Values<records::Sample, float, double>(kernels, "samples", samples_host, samples, ADRT_TYPE_F32,
                                         ADRT_TYPE_F64);
  Values<records::Sums, float, float>(kernels, "sums", sums_host, sums, ADRT_TYPE_F32, ADRT_TYPE_F32);
  Gradient<records::Particle, float>(kernels, "particles", particles_host, particles, ADRT_TYPE_F32,
                                     {0, 1, 2, 3, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18}, 1e-2, 5e-3);
  Gradient<records::Joint, double>(kernels, "joints", joints_host, joints, ADRT_TYPE_F64, {0, 2, 3}, 1e-5,
                                   1e-8);
  Gradient<records::Sums, float>(kernels, "sums", sums_host, sums, ADRT_TYPE_F32, {0, 1, 2, 3}, 1e-2, 5e-3);
  std::printf("4 kernels, %d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
