// Structured control and iteration spaces: every iteration runs once, wherever a range is cut, with the right
// indices.

#include <catch2/catch.hpp>
#include <limits>
#include <numeric>

#include "codegen_support.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;
using ir::Op;

struct Compiled {
  explicit Compiled(const Kernels& kernels, codegen::CodeConfig config,
                    const driver::CompileOptions& options = {})
      : code(*test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(), config, options)),
        image(ImageOf(code)) {
    INFO(image.Error());
    REQUIRE(image.Ok());
  }
  adrt_cpu_entry Entry(size_t kernel = 0, size_t task = 0) const {
    return image.Entry(code.entries[kernel][task].symbol);
  }
  codegen::TargetCode code;
  LoadedImage image;
};

target::Target Best() {
  return RunnableTargets().back();
}

/// parallel %i, %j, %k in 1..%a, -2..%b, 0..%c { store %out[%i, %j + 2, %k], add (load %out[...]), i + 100 j
/// + 10000 k }
void AddGrid(Kernels& kernels) {
  ir::Function& kernel = kernels.Add("grid");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kI64, 3), "out");
  ir::Value high[3] = {kernels.Param(kernel, ir::kI32, "a"), kernels.Param(kernel, ir::kI64, "b"),
                       kernels.Param(kernel, ir::kI32, "c")};
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(1), high[0], b.I64(-2), high[1], b.I32(0), high[2]};
  ir::Inst loop = b.Parallel(bounds, 0);
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  std::vector<ir::Value> index = kernel[body].params;
  ir::Value place[] = {index[0], b.Make(Op::Add, {index[1], b.I64(2)}), index[2]};
  ir::Value sum = b.Make(Op::Add, {b.Cast(index[0], ir::kI64), b.Make(Op::Mul, {index[1], b.I64(100)})});
  sum = b.Make(Op::Add, {sum, b.Make(Op::Mul, {b.Cast(index[2], ir::kI64), b.I64(10000)})});
  sum = b.Make(Op::Add, {sum, b.Load(out, place)});
  b.Access(Op::Store, out, place, {&sum, 1});
  b.Yield({});
}

}  // namespace

TEST_CASE("a range of three axes covers each cell once, wherever it is cut") {
  Kernels kernels;
  AddGrid(kernels);
  for (uint32_t optimise : {0u, 2u}) {
    Compiled compiled(kernels, ConfigFor(Best(), optimise));
    for (uint64_t chunk : {1, 2, 5, 7, 13, 1000}) {
      constexpr int64_t kA = 4, kB = 5, kC = 7;  // i in 1..4, j in -2..3, k in 0..7
      std::vector<int64_t> out(kA * kB * kC, 0);
      Launch launch;
      launch.Buffer(out.data(), {kA, kB, kC}).Scalar(int32_t{4}).Scalar(int64_t{3}).Scalar(int32_t{7});
      uint64_t total = 3 * 5 * 7;
      for (uint64_t begin = 0; begin < total; begin += chunk)
        launch.Run(compiled.Entry(), begin, std::min(begin + chunk, total));
      for (int64_t i = 0; i < kA; ++i) {
        for (int64_t j = 0; j < kB; ++j) {
          for (int64_t k = 0; k < kC; ++k) {
            int64_t want = i == 0 ? 0 : i + 100 * (j - 2) + 10000 * k;
            REQUIRE(out[static_cast<size_t>((i * kB + j) * kC + k)] == want);
          }
        }
      }
    }
  }
}

TEST_CASE("an empty or negative axis runs nothing, even when asked to") {
  Kernels kernels;
  AddGrid(kernels);
  Compiled compiled(kernels, ConfigFor(Best()));
  int64_t cell = 5;
  Launch launch;
  launch.Buffer(&cell, {1, 1, 1}).Scalar(int32_t{-3}).Scalar(int64_t{-9}).Scalar(int32_t{0});
  launch.Run(compiled.Entry(), 0, 0);
  launch.Run(compiled.Entry(), 7, 3);
  CHECK(cell == 5);
}

namespace {

/// out[0] = number of iterations, out[1] = order-dependent mix of the indices, out[2] = last index
template <class T>
struct LoopCase {
  T low, high;
  int64_t step;
  bool reversed;
};

template <class T>
void CheckLoop(const LoopCase<T>& c, uint32_t optimise) {
  ir::Type type = sizeof(T) == 4 ? ir::kI32 : ir::kI64;
  Kernels kernels;
  ir::Function& kernel = kernels.Add("loop");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kI64, 1), "out");
  ir::Value low = kernels.Param(kernel, type, "lo");
  ir::Value high = kernels.Param(kernel, type, "hi");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value initial[] = {b.I64(0), b.I64(17), b.I64(-1)};
  ir::Inst loop = b.For(low, high, b.Int(type, c.step), initial,
                        c.reversed ? ir::Words{ir::Word::Reversed} : ir::Words());
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  std::vector<ir::Value> params = kernel[body].params;
  ir::Value index = b.Cast(params[0], ir::kI64);
  ir::Value mixed = b.Make(Op::Add, {b.Make(Op::Mul, {params[2], b.I64(31)}), index});
  ir::Value yielded[] = {b.Make(Op::Add, {params[1], b.I64(1)}), mixed, index};
  b.Yield(yielded);
  b.SetBlock(kernel.Body());
  for (int32_t n = 0; n < 3; ++n) {
    ir::Value place = b.I32(n), value = kernel.Result(loop, static_cast<uint32_t>(n));
    b.Access(Op::Store, out, {&place, 1}, {&value, 1});
  }
  Compiled compiled(kernels, ConfigFor(Best(), optimise));
  int64_t got[3] = {};
  Launch launch;
  launch.Buffer(got, {3}).Scalar(c.low).Scalar(c.high);
  launch.Run(compiled.Entry(), 0, 1);
  std::vector<int64_t> indices;
  for (__int128 at = c.low; at < c.high; at += c.step) indices.push_back(static_cast<int64_t>(at));
  if (c.reversed) std::reverse(indices.begin(), indices.end());
  uint64_t mix = 17;
  for (int64_t at : indices) mix = mix * 31 + static_cast<uint64_t>(at);
  INFO("for " << c.low << ".." << c.high << " step " << c.step << (c.reversed ? " reversed" : ""));
  CHECK(got[0] == static_cast<int64_t>(indices.size()));
  CHECK(got[1] == static_cast<int64_t>(mix));
  CHECK(got[2] == (indices.empty() ? -1 : indices.back()));
}

}  // namespace

TEST_CASE("for loops run the iterations that their bounds say, up to the ends of their type") {
  constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min(),
                    kMax32 = std::numeric_limits<int32_t>::max();
  constexpr int64_t kMin64 = std::numeric_limits<int64_t>::min(),
                    kMax64 = std::numeric_limits<int64_t>::max();
  for (bool reversed : {false, true}) {
    for (uint32_t optimise : {0u, 2u}) {
      for (int64_t step : {1, 2, 3, 7}) {
        CheckLoop<int32_t>({0, 10, step, reversed}, optimise);
        CheckLoop<int32_t>({-5, 6, step, reversed}, optimise);
        CheckLoop<int32_t>({3, 3, step, reversed}, optimise);
        CheckLoop<int32_t>({9, -9, step, reversed}, optimise);
        CheckLoop<int32_t>({kMax32 - 4, kMax32, step, reversed}, optimise);
        CheckLoop<int32_t>({kMin32, kMin32 + 5, step, reversed}, optimise);
        CheckLoop<int64_t>({-3, 8, step, reversed}, optimise);
        CheckLoop<int64_t>({kMax64 - 4, kMax64, step, reversed}, optimise);
        CheckLoop<int64_t>({kMin64, kMin64 + 5, step, reversed}, optimise);
        CheckLoop<int64_t>({5, 5, step, reversed}, optimise);
      }
    }
  }
  CheckLoop<int32_t>({kMin32, kMax32, kMax32, false}, 2);
  CheckLoop<int32_t>({kMin32, kMax32, kMax32, true}, 2);
  CheckLoop<int64_t>({kMin64, kMax64, kMax64, false}, 2);
  CheckLoop<int64_t>({kMin64, kMax64, kMax64, true}, 2);
}

TEST_CASE("while, if and their carried values") {
  // Collatz: steps and peak, with a branch inside the loop.
  Kernels kernels;
  ir::Function& kernel = kernels.Add("collatz");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kI64, 1), "steps");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), count};
  ir::Inst parallel = b.Parallel(bounds, 0);
  b.SetBlock(kernel[parallel].regions[0]);
  ir::Value index = kernel[kernel[parallel].regions[0]].params[0];
  ir::Value start = b.Make(Op::Add, {b.Cast(index, ir::kI64), b.I64(1)});
  ir::Value initial[] = {start, b.I64(0)};
  ir::Inst loop = b.While({}, initial);
  ir::Block test = kernel[loop].regions[0], body = kernel[loop].regions[1];
  std::vector<ir::Value> carried = kernel[test].params;
  ir::Block outer = b.block();
  b.SetBlock(test);
  ir::Value more = b.Make(Op::Gt, {carried[0], b.I64(1)});
  ir::Value odd_bit = b.Make(Op::And, {carried[0], b.I64(1)});
  b.Terminate(Op::ContinueIf, {&more, 1});
  b.SetBlock(body);
  ir::Type result = ir::kI64;
  ir::Inst branch = b.If(b.Make(Op::Eq, {odd_bit, b.I64(1)}), {&result, 1});
  b.SetBlock(kernel[branch].regions[0]);
  ir::Value tripled = b.Make(Op::Add, {b.Make(Op::Mul, {carried[0], b.I64(3)}), b.I64(1)});
  b.Yield({&tripled, 1});
  b.SetBlock(kernel[branch].regions[1]);
  ir::Value halved = b.Make(Op::Div, {carried[0], b.I64(2)});
  b.Yield({&halved, 1});
  b.SetBlock(body);
  ir::Value yielded[] = {kernel.Result(branch), b.Make(Op::Add, {carried[1], b.I64(1)})};
  b.Yield(yielded);
  b.SetBlock(outer);
  ir::Value steps = kernel.Result(loop, 1);
  b.Access(Op::Store, out, {&index, 1}, {&steps, 1});
  b.Yield({});
  for (uint32_t optimise : {0u, 1u, 2u, 3u}) {
    Compiled compiled(kernels, ConfigFor(Best(), optimise));
    std::vector<int64_t> got(50, -1);
    Launch launch;
    launch.Buffer(got.data(), {50}).Scalar(int32_t{50});
    launch.Run(compiled.Entry(), 0, 50);
    for (int64_t n = 0; n < 50; ++n) {
      int64_t value = n + 1, want = 0;
      for (; value > 1; ++want) value = value % 2 != 0 ? 3 * value + 1 : value / 2;
      REQUIRE(got[static_cast<size_t>(n)] == want);
    }
  }
}
