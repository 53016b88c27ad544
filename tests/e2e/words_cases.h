#pragma once
// Launches with more words than CUDA and HIP take as parameters (artifact/gpu_abi.h): kernels of any number
// of arguments, each of which must be read from where the launch put it.

#include <cmath>
#include <cstring>
#include <string>

#include "../support/on_device.h"
#include "../support/program.h"

namespace adc::test {

/// How many numbers @edgeN has, so that its launch has 511 words, one more, and as many as take a chunk of
/// the table and one word of the next.
inline constexpr int kEdges[] = {505, 506, 632, 633};

inline std::string EdgeKernel(int numbers) {
  std::string text = "kernel @edge" + std::to_string(numbers) + "(";
  for (int n = 0; n < numbers; ++n) text += "%p" + std::to_string(n) + ": i32, ";
  text += "%y: buffer<i32, 1>) {\n  parallel %i in 0..shape(%y, 0) {\n    %s0 = add %i, 0\n";
  for (int n = 0; n < numbers; ++n) {
    std::string number = std::to_string(n), next = std::to_string(n + 1);
    text += "    %s" + next + " = add (mul %s" + number + ", 3), %p" + number + "\n";
  }
  return text + "    store %y[%i], %s" + std::to_string(numbers) + "\n  }\n}\n";
}

/// 61 buffers of one axis, 40 of three and 20 layouts, with a tape whose length only the device knows. The
/// launch of its gradient has more than 600 words; those of its rows are among the last.
class ManyBuffers {
 public:
  static constexpr int64_t kCells = 40;
  static constexpr int kRank3 = 40, kRank1 = 60, kLayouts = 20, kAll = kRank3 + kRank1 + kLayouts;

  static std::string Text() {
    std::string text = "layout @row { dense[" + std::to_string(kCells) + "] { a: f32 diff } }\nkernel @many(";
    for (int n = 0; n < kAll; ++n) {
      const char* type = n < kRank3            ? ": buffer<f32, 3>"
                         : n < kRank3 + kRank1 ? ": buffer<f32, 1>"
                                               : ": @row";
      text += Name(n) + type + (n < kRank3 + kRank1 ? " diff, " : ", ");
    }
    text +=
        "%y: buffer<f32, 1> diff, %least: f32) {\n  parallel %i in 0..shape(%y, 0) {\n    %s0 = mul (load "
        "%b0[%i, 1, 1]), 0.0\n";
    for (int n = 0; n < kAll; ++n) {
      std::string number = std::to_string(n), next = std::to_string(n + 1);
      std::string where = n < kRank3 ? "[%i, 1, 1]" : n < kRank3 + kRank1 ? "[%i]" : "::a[%i]";
      text += "    %s" + next + " = add %s" + number + ", (mul (load " + Name(n) + where + "), " +
              std::to_string(WeightOf(n)) + ")\n";
    }
    return text + "    %r = while carry(%v = %s" + std::to_string(kAll) +
           ") { continue_if (gt %v, %least) } do { yield (mul %v, (sub 0.9, %v)) }\n    store %y[%i], %r\n  "
           "}\n}\n";
  }

  /// Runs kernel and gradient, and compares both with the closed form.
  static void Check(OnDevice& device, const std::string& path) {
    std::unique_ptr<Program> program = Program::OfFile(path, "many");
    interp::Arguments& arguments = program->arguments();
    for (int n = 0; n < kAll; ++n) Fill(*program, n);
    program->Zeros("y", {kCells});
    program->Number("least", kLeast);
    interp::Arguments with_adjoints = arguments;
    device.Run("many", arguments);
    for (int n = 0; n <= kAll; ++n) {  // of y, the last, ones
      interp::Argument& adjoint = with_adjoints.list.emplace_back(arguments[static_cast<size_t>(n)]);
      std::fill(adjoint.tensor.data.begin(), adjoint.tensor.data.end(), std::byte{});
    }
    for (int64_t i = 0; i < kCells; ++i) with_adjoints.list.back().tensor.Set(i, 1);
    device.Run("many.grad", with_adjoints);
    for (int64_t i = 0; i < kCells; ++i) {
      INFO("iteration " << i);
      double value = 0, slope = 1;
      for (int n = 0; n < kAll; ++n) value += WeightOf(n) * ValueOf(n, i);
      for (; value > kLeast; value *= 0.9 - value) slope *= 0.9 - 2 * value;
      REQUIRE(arguments[kAll].tensor.Get(i) == Approx(value).epsilon(1e-4));
      for (int n = 0; n < kAll; ++n) {
        INFO("buffer " << n);
        const interp::Tensor& adjoint = with_adjoints[static_cast<size_t>(kAll + 2 + n)].tensor;
        REQUIRE(Read(adjoint, n, i) == Approx(slope * WeightOf(n)).epsilon(1e-3));
      }
    }
  }

 private:
  static constexpr double kLeast = 0.01;

  static std::string Name(int n) { return "%b" + std::to_string(n); }
  static double WeightOf(int n) { return 0.0125 * (1 + n % 7); }
  static double ValueOf(int n, int64_t i) { return 0.03 + 0.001 * static_cast<double>((5 * n + 3 * i) % 17); }
  /// Extents of the second and third axis differ from buffer to buffer.
  static int64_t Position(int n, int64_t i) {
    int64_t rows = 2 + n % 3, columns = 2 + n % 4;
    return n < kRank3 ? (i * rows + 1) * columns + 1 : i;
  }
  static void Fill(Program& program, int n) {
    std::string name = "b" + std::to_string(n);
    interp::Tensor& tensor = program.arguments()[program.Index(name)].tensor;
    if (n >= kRank3 + kRank1) {
      tensor.data.resize(kCells * sizeof(float));
    } else {
      program.Zeros(name, n < kRank3 ? std::vector<int64_t>{kCells, 2 + n % 3, 2 + n % 4}
                                     : std::vector<int64_t>{kCells});
    }
    for (int64_t i = 0; i < kCells; ++i) {
      float value = static_cast<float>(ValueOf(n, i));
      std::memcpy(tensor.data.data() + Position(n, i) * int64_t{sizeof value}, &value, sizeof value);
    }
  }
  static double Read(const interp::Tensor& tensor, int n, int64_t i) {
    float value = 0;
    std::memcpy(&value, tensor.data.data() + Position(n, i) * int64_t{sizeof value}, sizeof value);
    return value;
  }
};

/// Runs @edgeN of `path`: every number weighs three times what the one after it does, modulo 2^32.
inline void CheckEdge(OnDevice& device, const std::string& path, int numbers) {
  std::string name = "edge" + std::to_string(numbers);
  std::unique_ptr<Program> program = Program::OfFile(path, name);
  constexpr int64_t kCells = 70;
  program->Zeros("y", {kCells});
  for (int n = 0; n < numbers; ++n) program->Number("p" + std::to_string(n), 7 * n + 3);
  device.Run(name, program->arguments());
  for (int64_t i = 0; i < kCells; ++i) {
    uint32_t sum = static_cast<uint32_t>(i);
    for (int n = 0; n < numbers; ++n) sum = 3 * sum + static_cast<uint32_t>(7 * n + 3);
    INFO(numbers << " numbers, iteration " << i);
    REQUIRE(program->Tensor("y").Get(i) == static_cast<int32_t>(sum));
  }
}

/// All kernels of this page, in one text.
inline std::string WordsText() {
  std::string text = ManyBuffers::Text();
  for (int numbers : kEdges) text += EdgeKernel(numbers);
  return text;
}

/// Runs all of them; `path` holds WordsText().
inline void CheckWords(OnDevice& device, const std::string& path) {
  for (int numbers : kEdges) CheckEdge(device, path, numbers);
  ManyBuffers::Check(device, path);
}

}  // namespace adc::test
