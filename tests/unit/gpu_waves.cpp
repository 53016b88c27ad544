// What all GPUs share, run on waves of threads: every iteration once, rows where the contract says, sums
// whole.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <iostream>
#include <numeric>

#include "../support/random_kernel.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "raise/private_sums.h"
#include "raise/spread.h"
#include "wave_launch.h"

namespace {

using namespace adc;
using namespace adc::test;

size_t KernelNamed(const LoweredModule& lowered, const std::string& name) {
  for (size_t n = 0; n < lowered.kernels.size(); ++n) {
    if (lowered.module->Text(lowered.kernels[n].kernel->name) == name) return n;
  }
  FAIL("no kernel " << name);
  return 0;
}

uint64_t Address(void* data) {
  return reinterpret_cast<uint64_t>(data);
}

uint64_t Bits(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, 4);
  return bits;
}

constexpr LowerConfig kLanesOfWaves = {true, {.lanes = 32}};

}  // namespace

TEST_CASE("threads cover a space of three axes, each cell once, however few they are") {
  auto lowered = LowerText(R"(
kernel @grid(%out: buffer<i64, 3>, %a: i32, %b: i64, %c: i32) {
  parallel %i, %j, %k in 1..%a, -2..%b, 0..%c {
    %jj = add %j, 2
    %i64 = cast %i to i64
    %k64 = cast %k to i64
    %v = add (add %i64, (mul %j, 100)), (mul %k64, 10000)
    %old = atomic add %out[%i, %jj, %k], %v
  }
}
)");
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    for (uint64_t threads : {1, 2, 31, 33, 64, 70, 105, 1000}) {
      std::vector<int64_t> out(4 * 5 * 7, 0);
      WaveLaunch launch(*lowered, 0);
      launch.cells = {Address(out.data()), 4, 5, 7, 4, 3, 7};
      code.Run(code.Entries()[0][0], launch.Words(0, 3 * 5 * 7, threads, 0, 0), threads);
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t j = 0; j < 5; ++j) {
          for (int64_t k = 0; k < 7; ++k) {
            int64_t want = i == 0 ? 0 : i + 100 * (j - 2) + 10000 * k;
            REQUIRE(out[static_cast<size_t>((i * 5 + j) * 7 + k)] == want);
          }
        }
      }
    }
  }
}

TEST_CASE("sums of every kind, type and place are whole, whoever runs together") {
  auto lowered = LowerText(R"(
kernel @sums(%x: buffer<f32, 1>, %f: buffer<f32, 1>, %d: buffer<f64, 1>, %n: buffer<i32, 1>,
             %small: buffer<u8, 1>, %wide: buffer<i64, 1>, %size: i32) {
  parallel %i, %b in 0..%size, 0..3 {
    %v = load %x[%i]
    atomic add %f[0], %v
    atomic sub %f[1], %v
    %g = gt %v, 50.0
    if %g { atomic max %f[2], %v }
    %never = gt %v, 1e9
    if %never { atomic min %f[3], %v }
    %v64 = cast %v to f64
    %place = add %b, 1
    atomic add %d[%place], %v64
    atomic sub %wide[%b], 7
    %i8 = cast %i to u8
    atomic add %small[0], %i8
    %odd = and %i, 1
    atomic add %n[%odd], 1
    atomic or %n[2], %i
  }
}
)");
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    for (uint64_t threads : {1, 32, 96, 100, 300}) {
      constexpr int32_t kSize = 96;
      for (Together together : {Together::Alone, Together::Four, Together::Wave}) {
        // Lanes diverge where threads are no whole groups of them, or iterations no multiple of the threads.
        uint64_t lanes = static_cast<uint64_t>(together);
        if (lanes != 1 && (threads % lanes != 0 || 3 * kSize % threads % lanes != 0)) continue;
        std::vector<float> x(kSize), f{0, 0, -1, 5};
        for (int32_t n = 0; n < kSize; ++n) x[static_cast<size_t>(n)] = static_cast<float>(n);
        std::vector<double> d(4, 0.0);
        std::vector<int32_t> count(3, 0);
        std::vector<uint8_t> small(4, 0);
        std::vector<int64_t> wide(3, 0);
        WaveLaunch launch(*lowered, 0);
        launch.cells = {Address(x.data()),
                        kSize,
                        Address(f.data()),
                        4,
                        Address(d.data()),
                        4,
                        Address(count.data()),
                        3,
                        Address(small.data()),
                        4,
                        Address(wide.data()),
                        3,
                        kSize};
        INFO("threads " << threads << " together " << lanes << " O" << optimise);
        code.Run(code.Entries()[0][0], launch.Words(0, 3 * kSize, threads, 0, 0), threads, together);
        constexpr int32_t kTotal = kSize * (kSize - 1) / 2;
        CHECK(f == std::vector<float>{3.0f * kTotal, -3.0f * kTotal, 95, 5});
        CHECK(d == std::vector<double>{0, kTotal, kTotal, kTotal});
        CHECK(wide == std::vector<int64_t>(3, -7 * kSize));
        CHECK(small == std::vector<uint8_t>{static_cast<uint8_t>(3 * kTotal), 0, 0, 0});
        CHECK(count == std::vector<int32_t>{3 * kSize / 2, 3 * kSize / 2, 127});
      }
    }
  }
}

TEST_CASE("sums into cells that data choose are whole, whether lanes meet there or not") {
  auto lowered = LowerText(R"(
kernel @pick(%at: buffer<i32, 1>, %x: buffer<f32, 1>, %s: buffer<f32, 1>, %p: buffer<vec<f64, 3>, 1>, %size: i32) {
  parallel %i in 0..%size {
    %j = load %at[%i]
    %v = load %x[%i]
    atomic sub %s[%j], %v
    %v64 = cast %v to f64
    atomic add %p[%j], (vec.make %v64, 1.0, (mul %v64, 2.0))
    atomic add %s[(add 64, (and %i, 3))], 1.0
    atomic add %s[(add 68, (div %i, 4))], 1.0
  }
}
)");
  constexpr int32_t kSize = 128, kCells = 64;
  int32_t (*const cells[])(int32_t) = {
      [](int32_t) { return 5; }, [](int32_t i) { return i / 20; }, [](int32_t i) { return i % 2; },
      [](int32_t i) { return i * 37 % kCells; }, [](int32_t i) { return i % 32 < 7 ? 3 : i % 32; }};
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    for (auto cell : cells) {
      for (Together together : {Together::Alone, Together::Four, Together::Wave}) {
        std::vector<int32_t> at(kSize);
        std::vector<float> x(kSize), s(68 + kSize / 4, 0.0f), s_want(s.size(), 0.0f);
        std::vector<double> p(3 * kCells, 0.0), p_want(p);
        for (int32_t n = 0; n < kSize; ++n) {
          auto i = static_cast<size_t>(n), j = static_cast<size_t>(cell(n));
          at[i] = cell(n);
          x[i] = static_cast<float>(n);
          s_want[j] -= x[i];
          s_want[64 + i % 4] += 1;
          s_want[68 + i / 4] += 1;
          p_want[3 * j] += n;
          p_want[3 * j + 1] += 1;
          p_want[3 * j + 2] += 2 * n;
        }
        WaveLaunch launch(*lowered, 0);
        launch.cells = {Address(at.data()),
                        kSize,
                        Address(x.data()),
                        kSize,
                        Address(s.data()),
                        s.size(),
                        Address(p.data()),
                        kCells,
                        kSize};
        code.Run(code.Entries()[0][0], launch.Words(0, kSize, 64, 0, 0), 64, together);
        CHECK(s == s_want);
        CHECK(p == p_want);
      }
    }
  }
}

TEST_CASE("neighbouring components are paid together and arrive where they belong") {
  auto lowered = LowerText(R"(
kernel @vectors(%x: buffer<f32, 1>, %p: buffer<vec<f32, 3>, 1>, %q: buffer<vec<f32, 7>, 1>, %size: i32) {
  parallel %i, %b in 0..%size, 0..2 {
    %v = load %x[%i]
    %three = vec.make %v, 1.0, (mul %v, 2.0)
    atomic add %p[%b], %three
    %seven = vec.make 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, %v
    atomic sub %q[%b], %seven
  }
}
)");
  constexpr int32_t kSize = 64;
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    for (Together together : {Together::Alone, Together::Four, Together::Wave}) {
      std::vector<float> x(kSize), p(6, 0.0f), q(14, 0.0f);
      for (size_t n = 0; n < kSize; ++n) x[n] = static_cast<float>(n);
      WaveLaunch launch(*lowered, 0);
      launch.cells = {Address(x.data()), kSize, Address(p.data()), 2, Address(q.data()), 2, kSize};
      code.Run(code.Entries()[0][0], launch.Words(0, 2 * kSize, 64, 0, 0), 64, together);
      constexpr float kTotal = kSize * (kSize - 1) / 2;
      CHECK(p == std::vector<float>{kTotal, kSize, 2 * kTotal, kTotal, kSize, 2 * kTotal});
      std::vector<float> want;
      for (int b = 0; b < 2; ++b) {
        for (int n = 1; n <= 6; ++n) want.push_back(static_cast<float>(-n * kSize));
        want.push_back(-kTotal);
      }
      CHECK(q == want);
    }
  }
}

namespace {

const char* const kRecurrence = R"(
kernel @recur(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %c: f32 diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %s = mul %a, %a
      %b = sub 1.0, (mul %c, %s)
      yield %b
    }
    atomic add %loss[], %v
  }
}
)";

}  // namespace

TEST_CASE("rows lie in blocks of lanes, one after another") {
  auto lowered = LowerText(kRecurrence, kLanesOfWaves);
  size_t grad = KernelNamed(*lowered, "recur.grad");
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    constexpr size_t kSize = 150;
    constexpr uint64_t kSteps = 9;
    for (uint64_t threads : {uint64_t{40}, uint64_t{150}, uint64_t{200}}) {
      std::vector<float> x(kSize), adjoint(kSize, 0.0f);
      float loss_adjoint = 1, c_adjoint = 0;
      for (size_t n = 0; n < kSize; ++n) x[n] = 0.3f + 0.001f * static_cast<float>(n);
      WaveLaunch launch(*lowered, grad);
      float loss = 0;
      launch.cells = {Address(x.data()),       kSize, Address(&loss),         Bits(0.7f),         kSteps,
                      Address(adjoint.data()), kSize, Address(&loss_adjoint), Address(&c_adjoint)};
      std::vector<uint64_t> words = launch.Words(0, kSize, threads, threads, 16);
      code.Run(code.Entries()[grad][0], words, threads);
      REQUIRE(launch.status[0] == 0);
      double c_want = 0;
      for (size_t n = 0; n < kSize; ++n) {
        float v = x[n];
        double dv = 1, dc = 0;
        for (uint64_t step = 0; step < kSteps; ++step) {
          // The thread's last element is what its row still holds.
          if (n + threads >= kSize && n % threads < kSize) {
            uint64_t row = n % threads;
            float stored = 0;
            std::memcpy(&stored, launch.heap + row / 32 * launch.stride * 32 + step * 4 * 32 + row % 32 * 4,
                        4);
            REQUIRE(stored == v);
          }
          double a = v;
          dc = -a * a - 2 * 0.7 * a * dc;
          dv *= -2 * 0.7 * a;
          v = 1.0f - 0.7f * (v * v);
        }
        c_want += dc;
        CHECK(adjoint[n] == Approx(dv).epsilon(1e-4));
      }
      CHECK(c_adjoint == Approx(c_want).epsilon(1e-4));
    }
  }
}

TEST_CASE("a thread takes a row when it first needs one, and says when there is none") {
  auto lowered = LowerText(R"(
kernel @gated(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %g = gt %v0, 0.5
    if %g {
      %v = for %t in 0..%n carry(%a = %v0) {
        %b = sub 1.0, (mul %a, %a)
        yield %b
      }
      atomic add %loss[], %v
    }
  }
}
)",
                           kLanesOfWaves);
  size_t grad = KernelNamed(*lowered, "gated.grad");
  for (uint32_t optimise : {0u, 2u}) {
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(optimise));
    constexpr size_t kSize = 200;
    constexpr uint64_t kSteps = 5, kThreads = 64;
    for (Together together : {Together::Alone, Together::Wave}) {
      // Together: every element of a thread is let through, and the sizes leave no lane out.
      size_t size = together == Together::Wave ? 2 * kThreads : kSize;
      for (uint64_t rows : {uint64_t{64}, uint64_t{3}}) {
        std::vector<float> x(size), adjoint(size, 0.0f);
        float loss = 0, loss_adjoint = 1;
        for (size_t n = 0; n < size; ++n)
          x[n] = together == Together::Wave || n % 4 == 1 ? 0.6f + 0.001f * static_cast<float>(n) : 0.1f;
        WaveLaunch launch(*lowered, grad);
        launch.cells = {Address(x.data()),       size, Address(&loss),        kSteps,
                        Address(adjoint.data()), size, Address(&loss_adjoint)};
        std::vector<uint64_t> words = launch.Words(0, size, kThreads, rows, 8);
        code.Run(code.Entries()[grad][0], words, kThreads, together);
        uint32_t claims = together == Together::Wave ? kThreads : kThreads / 4;
        CHECK(launch.Counter(0) == claims);
        if (rows < claims) {
          CHECK(launch.status[0] == ADRT_GPU_ROWS_EXHAUSTED);
          CHECK(launch.status[2] == 0);
          CHECK(launch.status[4] > rows);
          continue;
        }
        REQUIRE(launch.status[0] == 0);
        for (size_t n = 0; n < size; ++n) {
          float v = x[n];
          double want = v > 0.5f ? 1 : 0;
          for (uint64_t step = 0; step < kSteps; ++step) {
            want *= -2.0 * static_cast<double>(v);
            v = 1.0f - v * v;
          }
          CHECK(adjoint[n] == Approx(want).epsilon(1e-4).margin(1e-6));
        }
      }
    }
  }
}

TEST_CASE("a row that is too short is reported, and nothing is written beside it") {
  auto lowered = LowerText(kRecurrence, kLanesOfWaves);
  size_t grad = KernelNamed(*lowered, "recur.grad");
  WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig());
  std::vector<float> x(40, 0.5f), adjoint(40, 0.0f);
  float loss = 0, loss_adjoint = 1, c_adjoint = 0;
  WaveLaunch launch(*lowered, grad);
  launch.cells = {Address(x.data()),       40, Address(&loss),         Bits(0.7f),         11,
                  Address(adjoint.data()), 40, Address(&loss_adjoint), Address(&c_adjoint)};
  std::vector<uint64_t> words = launch.Words(0, 40, 40, 40, 10);
  code.Run(code.Entries()[grad][0], words, 40);
  CHECK(launch.status[0] == 1);
  CHECK(launch.status[4] == 11);
  CHECK(
      std::all_of(launch.memory.begin(), launch.memory.end(), [](unsigned char byte) { return byte == 0; }));
}

TEST_CASE("random kernels and their gradients compute on waves what the interpreter computes") {
  for (uint64_t seed = 0; seed < 40; ++seed) {
    RandomKernelConfig random;
    random.scalar = seed % 3 == 0 ? "f32" : "f64";
    random.vectors = seed % 2 == 0;
    random.tasks = 1 + static_cast<uint32_t>(seed % 3);
    std::string text = RandomKernel(seed, random);
    INFO("seed " << seed << "\n" << text);
    // The oracle runs the same module before its adstacks become memory.
    auto lowered = LowerText(text, kLanesOfWaves);
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig(static_cast<uint32_t>(seed % 4)));
    for (size_t number = 0; number < lowered->kernels.size(); ++number) {
      const LoweredKernel& one = lowered->kernels[number];
      if (one.kernel->role == ir::KernelRole::Size) continue;
      interp::Arguments want = RandomArguments(*lowered->module, *one.kernel, seed, kExtent);
      interp::Arguments got = RandomArguments(*lowered->module, *one.kernel, seed, kExtent);
      std::vector<interp::RowTask> rows;
      for (const adstack::TaskPlan& task : one.plan.tasks) {
        interp::RowTask row;
        uint64_t stacks = 0;
        for (const auto& stack : task.stacks) {
          row.stack_offset.push_back(static_cast<int64_t>(stacks) * 128 * 8);
          row.stack_capacity.push_back(128);
          stacks += stack.storage == artifact::Storage::kRow;
        }
        row.group_bytes.resize(task.groups.size(), static_cast<int64_t>(stacks) * 128 * 8);
        rows.push_back(row);
      }
      interp::RunOptions options;
      options.rows = rows;
      interp::RunResult result = interp::Run(*lowered->module, *one.kernel, want, options);
      INFO(result.error.text);
      REQUIRE(result.Ok());
      WaveLaunch launch(*lowered, number);
      launch.Arguments(*one.kernel, got);
      for (size_t task = 0; task < one.plan.tasks.size(); ++task) {
        bool parallel = one.plan.tasks[task].kind == artifact::TaskKind::kParallel;
        uint64_t total = parallel ? kExtent : 1, threads = parallel ? 13 + seed : 1;
        code.Run(code.Entries()[number][task], launch.Words(task, total, threads, threads, 128), threads);
      }
      CHECK(launch.status[0] == result.status.code);
      CHECK(LargestDifference(want, got) < (random.scalar == "f32" ? 2e-5 : 1e-12));
    }
  }
}

TEST_CASE("sums that the block's memory cannot hold are paid wave by wave") {
  std::string text =
      "kernel @many(%x: buffer<f64, 1>, %y: buffer<f64, 1>) {\n"
      "  parallel %i in 0..shape(%x, 0) block 128 {\n    %v = load %x[%i]\n";
  constexpr size_t kSums = 300;
  for (size_t n = 0; n < kSums; ++n) text += "    atomic add %y[" + std::to_string(n) + "], %v\n";
  auto lowered = LowerText(text + "  }\n}\n");
  WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig());
  CHECK(code.Entries()[0][0].shared_bytes == 0);
  std::vector<double> x(200, 2.0), y(kSums, 1.0);
  WaveLaunch launch(*lowered, 0);
  launch.cells = {Address(x.data()), x.size(), Address(y.data()), y.size()};
  code.Run(code.Entries()[0][0], launch.Words(0, x.size(), 180, 0, 0), 180);
  CHECK(y == std::vector<double>(kSums, 401.0));
}

TEST_CASE("a block's waves share the turns of 32 iterations, a block those of one, or a thread has its own") {
  // Steps around the loop that is shared, which sum into cells of their turns too, a loop beside it, a store
  // in between.
  const char* text = R"(
kernel @pull(%p: buffer<vec<f64, 2>, 1> diff, %m: buffer<f64, 1> diff, %f: buffer<f64, 1> diff, %a: buffer<vec<f64, 2>, 1> diff, %b: buffer<f64, 1> diff) {
  %n = shape %p, 0
  parallel %i in 0..%n {
    %x = load %p[%i]
    %ux, %uy = for %t in 0..3 carry(%ux = 0.0, %uy = 0.0) {
      %ax, %ay = for %j in 0..%n carry(%ax = 0.0, %ay = 0.0) {
        %d = %p[%j] - %x
        %w = %m[%j] / (%d.x * %d.x + %d.y * %d.y + 0.25)
        yield %ax + %w * %d.x, %ay + %w * %d.y
      }
      yield %ux + %ax * f64(%t), %uy + %ay * %f[%t % %n]
    }
    store %a[%i], vec<f64, 2>(%ux, %uy)
    %s = for %j in 0..%n carry(%s = 1.0) {
      yield %s + %m[%j] * %x.x
    }
    store %b[%i], %s
  }
}
)";
  for (int64_t extent : {1, 45, 64}) {
    auto lowered = LowerText(text, kLanesOfWaves), oracle = LowerText(text, kLanesOfWaves);
    size_t grad = KernelNamed(*lowered, "pull.grad");
    ir::Function& kernel = *lowered->kernels[grad].kernel;
    raise::RaiseConfig config{.device = true, .team_bytes = 1024, .may_team = true};
    raise::MarkPrivateSums(*lowered->module, kernel, config);
    raise::SpreadLoops(*lowered->module, kernel, config);
    WaveCode code(*lowered->module, lowered->ToEmit(), WaveConfig());
    const codegen::EntryCode& entry = code.Entries()[grad][0];
    REQUIRE(entry.team_lanes == 32);
    interp::Arguments want = RandomArguments(*oracle->module, *oracle->kernels[grad].kernel, 7, extent);
    REQUIRE(interp::Run(*oracle->module, *oracle->kernels[grad].kernel, want, {}).Ok());
    auto iterations = static_cast<uint64_t>(extent);
    for (uint64_t threads :
         {iterations * entry.block_size, (iterations + 31) / 32 * entry.block_size, uint64_t{7}}) {
      interp::Arguments got = RandomArguments(*lowered->module, kernel, 7, extent);
      WaveLaunch launch(*lowered, grad);
      launch.Arguments(kernel, got);
      INFO(extent << " iterations, " << threads << " threads");
      code.Run(entry, launch.Words(0, iterations, threads, 0, 0), threads);
      CHECK(LargestDifference(want, got) < 1e-11);
    }
  }
}
