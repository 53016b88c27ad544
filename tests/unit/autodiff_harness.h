#pragma once
// Checks a kernel's derivatives against two oracles: the interpreter's dual numbers and central differences.
//
// The test is the transpose identity. Let F map the contents of all `diff` parameters before a launch to
// those after it, J be its Jacobian. The gradient kernel, started with adjoints w, ends with J^T w; dual
// numbers started with tangents t end with J t. So (J^T w) . t = w . (J t) for random w and t, which covers
// every input, every output, the consumption of adjoints by stores and their accumulation by loads in one
// number.

#include <map>
#include <string>
#include <vector>

#include "autodiff/reverse.h"
#include "diag/diagnostics.h"
#include "interp/interpreter.h"
#include "ir/module.h"

namespace adc::testing {

/// What a parameter is given.
struct Input {
  std::vector<int64_t> extents;  ///< of a buffer
  std::vector<double> numbers;   ///< contents in C order, or the number itself; empty: random in [lo, hi)
  double lo = 0.2;
  double hi = 1.2;
};
inline Input Number(double v) {
  return {{}, {v}};
}
inline Input Zeros(std::vector<int64_t> extents) {
  return {std::move(extents), {}, 0.0, 0.0};
}
inline Input Random(std::vector<int64_t> extents, double lo = 0.2, double hi = 1.2) {
  return {std::move(extents), {}, lo, hi};
}
inline Input Given(std::vector<int64_t> extents, std::vector<double> numbers) {
  return {std::move(extents), std::move(numbers)};
}

/// The arguments of `kernel` with `inputs` by parameter name; of those that are missing, zeros and nothing.
interp::Arguments Bind(const ir::Module& module, const ir::Function& kernel,
                       const std::map<std::string, Input>& inputs);

/// A module with its sources and diagnostics.
struct Compiled {
  std::unique_ptr<diag::SourceManager> sources;
  std::unique_ptr<diag::Diagnostics> diagnostics;
  std::unique_ptr<ir::Module> module;
  ir::Function* primal = nullptr;
  ir::Function* derived = nullptr;
  std::string Errors() const;
};

/// Parses `text`, in which every `real` stands for `scalar`.
Compiled Parse(const std::string& text, const std::string& scalar = "f32");
/// Shaped for differentiation; `derived` is the gradient of the only (or the named) kernel, simplified, or
/// null.
Compiled Gradient(const std::string& text, const std::string& scalar = "f32", const std::string& kernel = "",
                  const autodiff::CheckpointConfig& checkpoints = {});
/// Gives a gradient the length of its segments, where it takes one. Whether it does.
bool SetSegment(const ir::Function& gradient, int32_t length, interp::Arguments& arguments);
/// The same with the forward derivative (of the gradient where `of_gradient`).
Compiled Tangent(const std::string& text, const std::string& scalar = "f32", const std::string& kernel = "",
                 bool of_gradient = false);

struct CheckOptions {
  double f32_tolerance = 2e-4;
  double f64_tolerance = 1e-10;
  bool f32 = true;
  bool differences = true;  ///< central differences in f64 (off at kinks)
  double difference_tolerance = 2e-6;
  bool forward = true;  ///< also the derived forward kernel
  bool second = false;  ///< also forward over reverse
  autodiff::CheckpointConfig checkpoints = {};
  int32_t segment = 0;  ///< what the gradient is given where it takes the length of its segments
};

/// Checks reverse and forward mode of the only kernel of `text` with `inputs` by parameter name.
void CheckDerivatives(const std::string& text, const std::map<std::string, Input>& inputs,
                      const CheckOptions& options = {});

/// The adjoint of `input` after the gradient with the adjoint of `output` filled with ones.
std::vector<double> AdjointOf(const std::string& text, const std::map<std::string, Input>& inputs,
                              const std::string& input, const std::string& output,
                              const std::string& scalar = "f64");

/// The errors of deriving the gradient; empty when it succeeds.
std::string RefusalOf(const std::string& text, const std::string& scalar = "f32");

/// Number of `op` in the gradient kernel.
uint32_t CountOps(const Compiled& compiled, ir::Op op);

}  // namespace adc::testing
