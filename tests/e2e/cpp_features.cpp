// Every kernel of the files of cpp/ that are included here: the function on the host against the kernel that
// adc made of it, its gradient against central differences of the host's function and against forward mode.
// The bundle is the first argument.

#include <cstdio>
#include <cstring>

#include "cpp/features.cpp"
#include "cpp_bundle.h"

// Odd corners, of which compilers warn.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wimplicit-fallthrough"
#pragma GCC diagnostic ignored "-Wfloat-equal"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wpedantic"
#if defined(__clang__)
#pragma GCC diagnostic ignored "-Wdeprecated-enum-float-conversion"
#pragma GCC diagnostic ignored "-Wliteral-conversion"
#pragma GCC diagnostic ignored "-Wbool-operation"
#pragma GCC diagnostic ignored "-Wgnu-anonymous-struct"
#pragma GCC diagnostic ignored "-Wnested-anon-types"
#endif
#include "cpp/blocks.cpp"
#include "cpp/complex.cpp"
#include "cpp/corners.cpp"
#include "cpp/engine.cpp"
#include "cpp/foreign.cpp"
#include "cpp/pointers.cpp"
#include "cpp/types.cpp"
#include "cpp/unions.cpp"
#pragma GCC diagnostic pop

using namespace adc::test;

namespace {

constexpr int kInputs = 16, kOutputs = 8, kN = 5;

int failures = 0;

void Fail(const char* name, const char* what, int at, double got, double wanted) {
  std::printf("%s: %s[%d] is %.17g, should be %.17g\n", name, what, at, got, wanted);
  ++failures;
}

/// Buffers of doubles by name, and n.
void Run(Kernels& kernels, const std::string& name,
         std::vector<std::pair<std::string, std::vector<double>*>> buffers) {
  int32_t n = kN;
  std::vector<adrt_arg> args;
  for (auto& [buffer, data] : buffers)
    args.push_back(Memory(buffer.c_str(), ADRT_TYPE_F64, data->data(), {static_cast<int64_t>(data->size())}));
  args.push_back(Scalar("n", ADRT_TYPE_I32, &n));
  kernels.Run(name, args);
}

using Host = void (*)(In, Out, int);

std::vector<double> Inputs() {
  std::vector<double> x;
  for (int k = 0; k < kInputs; ++k) x.push_back(0.21 + 1.7 * ((k * 7 + 3) % 16) / 16.0 + 0.013 * k);
  return x;
}

std::vector<double> OnHost(Host host, std::vector<double> x) {
  std::vector<double> y(kOutputs, 0.0);
  host(adc::diff<adc::buffer<double, 1>>(adc::buffer<double, 1>(x.data(), kInputs)),
       adc::buffer<double, 1>(y.data(), kOutputs), kN);
  return y;
}

bool Near(double a, double b, double relative, double absolute) {
  return std::fabs(a - b) <= absolute + relative * std::max(std::fabs(a), std::fabs(b));
}

void Feature(Kernels& kernels, const char* name, Host host, bool exact) {
  std::vector<double> x = Inputs(), y(kOutputs, 0.0), wanted = OnHost(host, x);
  Run(kernels, name, {{"x", &x}, {"y", &y}});
  for (int k = 0; k < kOutputs; ++k) {
    if (exact ? std::memcmp(&y[k], &wanted[k], sizeof y[k]) != 0 : !Near(y[k], wanted[k], 1e-12, 1e-13))
      Fail(name, "y", k, y[k], wanted[k]);
  }
  // Weights of the outputs, as seeds.
  std::vector<double> weight, x_adj(kInputs, 0.0), after = y;
  for (int k = 0; k < kOutputs; ++k) weight.push_back(0.5 + 0.37 * ((k * 5 + 1) % 8));
  std::vector<double> y_adj = weight;
  Run(kernels, std::string(name) + ".grad", {{"x", &x}, {"y", &after}, {"x.adj", &x_adj}, {"y.adj", &y_adj}});
  constexpr double kStep = 1e-6;
  double along = 0;
  std::vector<double> x_tan;
  for (int k = 0; k < kInputs; ++k) {
    std::vector<double> up = x, down = x;
    up[k] += kStep;
    down[k] -= kStep;
    std::vector<double> above = OnHost(host, up), below = OnHost(host, down);
    double difference = 0;
    for (int j = 0; j < kOutputs; ++j) difference += weight[j] * (above[j] - below[j]) / (2 * kStep);
    bool stopped = std::strcmp(name, "stopped") == 0;  // differences do not stop
    if (!stopped && !Near(x_adj[k], difference, 1e-5, 1e-6)) Fail(name, "x.adj", k, x_adj[k], difference);
    x_tan.push_back(std::cos(3.0 * k));
    along += x_adj[k] * x_tan[k];
  }
  if (along == 0) Fail(name, "derivative", 0, along, 1);
  std::vector<double> y_again(kOutputs, 0.0), y_tan(kOutputs, 0.0);
  Run(kernels, std::string(name) + ".jvp",
      {{"x", &x}, {"y", &y_again}, {"x.tan", &x_tan}, {"y.tan", &y_tan}});
  double forward = 0;
  for (int j = 0; j < kOutputs; ++j) forward += weight[j] * y_tan[j];
  if (!Near(along, forward, 1e-11, 1e-12)) Fail(name, "reverse against forward", 0, along, forward);
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  Kernels kernels(words[1]);
  int features = 0;
#define ADC_EXACT(name) Feature(kernels, #name, &name, true), ++features;
#define ADC_CLOSE(name) Feature(kernels, #name, &name, false), ++features;
#define ENGINE_EXACT(name) Feature(kernels, #name, &engine::name, true), ++features;
#define ENGINE_CLOSE(name) Feature(kernels, #name, &engine::name, false), ++features;
  ADC_EXACT_FEATURES(ADC_EXACT)
  ADC_CLOSE_FEATURES(ADC_CLOSE)
  ADC_EXACT_ENGINE(ENGINE_EXACT)
  ADC_CLOSE_ENGINE(ENGINE_CLOSE)
#define TYPES_EXACT(name) Feature(kernels, #name, &types::name, true), ++features;
#define TYPES_CLOSE(name) Feature(kernels, #name, &types::name, false), ++features;
  ADC_EXACT_TYPES(TYPES_EXACT)
  ADC_CLOSE_TYPES(TYPES_CLOSE)
#define CORNERS_CLOSE(name) Feature(kernels, #name, &corners::name, false), ++features;
  ADC_CORNERS(CORNERS_CLOSE)
#define POINTERS_CLOSE(name) Feature(kernels, #name, &pointers::name, false), ++features;
  ADC_POINTERS(POINTERS_CLOSE)
#define UNIONS_CLOSE(name) Feature(kernels, #name, &unions::name, false), ++features;
  ADC_UNIONS(UNIONS_CLOSE)
#define COMPLEX_CLOSE(name) Feature(kernels, #name, &complexes::name, false), ++features;
  ADC_COMPLEXES(COMPLEX_CLOSE)
#define FOREIGN_CLOSE(name) Feature(kernels, #name, &foreign::name, false), ++features;
  ADC_FOREIGN(FOREIGN_CLOSE)
#define BLOCKS_EXACT(name) Feature(kernels, #name, &blocks::name, true), ++features;
  ADC_BLOCKS(BLOCKS_EXACT)
  std::printf("%d features, %d failures\n", features, failures);
  return failures == 0 ? 0 : 1;
}
