// Memory: layouts, local arrays, module constants, atomics under two threads, sums over chunks, rows, the
// status block.

#include <catch2/catch.hpp>
#include <cmath>
#include <thread>

#include "codegen_support.h"
#include "ir/module.h"
#include "ir/number.h"
#include "support/number.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;
using ir::Op, ir::Scalar;

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

/// Opens `parallel %i in 0..%n` in a kernel and gives its index.
ir::Value OpenLoop(ir::Builder& b, ir::Function& kernel, ir::Value count) {
  ir::Value bounds[] = {b.I32(0), count};
  ir::Inst loop = b.Parallel(bounds, 0);
  b.SetBlock(kernel[loop].regions[0]);
  return kernel[kernel[loop].regions[0]].params[0];
}

}  // namespace

TEST_CASE("a field of nested levels lies where its layout says") {
  Kernels kernels;
  ir::Layout layout;
  layout.name = kernels.module.Intern("blocked");
  ir::LayoutField field;
  field.name = kernels.module.Intern("rho");
  field.type = ir::Type::Vec(Scalar::F32, 2);
  field.offset = 4;
  // dense[3, 4] { pad: u32  dense[2, 5] { rho: vec<f32, 2>  tail: u32 } }
  constexpr uint64_t kInner = 12, kOuter = 4 + 10 * kInner;
  field.axes = {{6, {{3, 4 * kOuter}, {2, 5 * kInner}}}, {20, {{4, kOuter}, {5, kInner}}}};
  layout.fields.push_back(field);
  layout.byte_size = 12 * kOuter;
  layout.alignment = 4;
  kernels.module.layouts.push_back(layout);
  ir::Function& kernel = kernels.Add("fill");
  ir::Value grid = kernels.Param(kernel, ir::Type::LayoutOf(0), "g");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Inst loop = b.ParallelOver(grid, 0);
  b.SetBlock(kernel[loop].regions[0]);
  std::vector<ir::Value> index = kernel[kernel[loop].regions[0]].params;
  ir::Value number = b.Make(Op::Add, {b.Make(Op::Mul, {index[0], b.I32(100)}), index[1]});
  ir::Value first = b.Cast(number, ir::kF32), second = b.Make(Op::Neg, {first});
  b.Access(Op::Store, grid, index, {&first, 1}, 0, 0);
  b.Access(Op::Store, grid, index, {&second, 1}, 0, 1);
  b.Yield({});
  for (bool check_bounds : {false, true}) {
    driver::CompileOptions options;
    options.check_bounds = check_bounds;
    Compiled compiled(kernels, ConfigFor(Best()), options);
    std::vector<unsigned char> memory(layout.byte_size, 0x5A);
    Launch launch;
    launch.Buffer(memory.data());
    for (uint64_t begin = 0; begin < 120; begin += 11)
      launch.Run(compiled.Entry(), begin, std::min<uint64_t>(begin + 11, 120));
    size_t touched = 0;
    for (uint64_t i = 0; i < 6; ++i) {
      for (uint64_t j = 0; j < 20; ++j) {
        uint64_t at = 4 + (i / 2) * 4 * kOuter + (i % 2) * 5 * kInner + (j / 5) * kOuter + (j % 5) * kInner;
        float values[2];
        std::memcpy(values, memory.data() + at, sizeof values);
        REQUIRE(values[0] == static_cast<float>(i * 100 + j));
        REQUIRE(values[1] == -values[0]);
        touched += 8;
      }
    }
    size_t untouched = 0;
    for (unsigned char byte : memory) untouched += byte == 0x5A;
    CHECK(untouched >= memory.size() - touched);
    CHECK(launch.status[0] == 0);
  }
}

TEST_CASE("a local array starts from zero in every iteration") {
  Kernels kernels;
  kernels.module.constants.push_back(
      {kernels.module.Intern("w"), ir::Type::Array(ir::kF64, 3), {}, {}, {}, {}});
  for (double w : {0.25, 0.5, -4.0})
    kernels.module.constants[0].elements.push_back(ir::FloatToBits(Scalar::F64, w));
  ir::Function& kernel = kernels.Add("local");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kF64, 1), "out");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  ir::Value array = b.Alloca(ir::Type::Array(ir::kF64, 3));
  ir::Value weights = kernel.Global(0, ir::Type::Array(ir::kF64, 3));
  ir::Value slot = b.Make(Op::Mod, {index, b.I32(3)});
  ir::Value weight = b.Load(weights, {&slot, 1});
  b.Access(Op::AddTo, array, {&slot, 1}, {&weight, 1});
  b.Access(Op::AtomicAdd, array, {&slot, 1}, {&weight, 1});
  ir::Value sum = b.Float(ir::kF64, 0);
  for (int32_t n = 0; n < 3; ++n) {
    ir::Value at = b.I32(n);
    sum = b.Make(Op::Add, {sum, b.Load(array, {&at, 1})});
  }
  b.Access(Op::Store, out, {&index, 1}, {&sum, 1});
  b.Yield({});
  for (uint32_t optimise : {0u, 2u, 3u}) {
    Compiled compiled(kernels, ConfigFor(Best(), optimise));
    std::vector<double> got(7, 99);
    Launch launch;
    launch.Buffer(got.data(), {7}).Scalar(int32_t{7});
    launch.Run(compiled.Entry(), 0, 7);
    CHECK(got == std::vector<double>{0.5, 1.0, -8.0, 0.5, 1.0, -8.0, 0.5});
  }
}

namespace {

/// Runs a task on two threads, each half of the range, and again in small pieces.
void RunOnTwoThreads(const Launch& launch, adrt_cpu_entry entry, uint64_t total) {
  auto half = [&](uint64_t begin, uint64_t end, uint64_t row) {
    Launch own = launch;
    for (uint64_t at = begin; at < end; at += 97) own.Run(entry, at, std::min(at + 97, end), row);
  };
  std::thread other(half, total / 2, total, 1);
  half(0, total / 2, 0);
  other.join();
}

constexpr int32_t kUpdates = 3000, kCells = 3;

struct AtomicCase {
  Op op;
  Scalar scalar;
  bool uniform;  ///< every iteration updates one cell
  bool use_result;
};

/// Who runs the iterations: one call all of them, two threads, or two threads whose rows have copies of %x.
enum class Runs : uint8_t { Alone, Beside, InCopies };

/// parallel %i in 0..%n { atomic op %x[%i mod cells], cast(%i mod 7 + 1) }, in every type.
void CheckAtomic(const AtomicCase& c, const Compiled& compiled, Runs runs);

void CheckAtomic(const AtomicCase& c) {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("atomic");
  ir::Type element = ir::Type::Of(c.scalar);
  ir::Value x = kernels.Param(kernel, ir::Type::Buffer(element, 1), "x");
  ir::Value seen = kernels.Param(kernel, ir::Type::Buffer(element, 1), "seen");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  ir::Value cell = c.uniform ? b.I32(1) : b.Make(Op::Mod, {index, b.I32(kCells)});
  ir::Value number = b.Make(Op::Add, {b.Make(Op::Mod, {index, b.I32(7)}), b.I32(1)});
  ir::Value value = b.Cast(number, element);
  ir::Value old = b.Access(c.op, x, {&cell, 1}, {&value, 1});
  if (c.use_result) b.Access(Op::Store, seen, {&index, 1}, {&old, 1});
  b.Yield({});
  Compiled compiled(kernels, ConfigFor(Best()));
  for (Runs runs : {Runs::Alone, Runs::Beside, Runs::InCopies}) CheckAtomic(c, compiled, runs);
}

void CheckAtomic(const AtomicCase& c, const Compiled& compiled, Runs runs) {
  uint32_t bytes = ir::ByteSize(c.scalar);
  std::vector<unsigned char> memory(kCells * bytes), old_values(kUpdates * bytes);
  // An f16 sum of so many terms would stall: it starts high enough to be exact only with few iterations.
  int32_t used = c.scalar == Scalar::F16 || bytes == 1 ? 30 : kUpdates;
  uint64_t start = ir::IsFloat(c.scalar) ? ir::FloatToBits(c.scalar, 4.0) : ir::WrapInteger(c.scalar, 4);
  for (int32_t n = 0; n < kCells; ++n)
    std::memcpy(memory.data() + static_cast<uint32_t>(n) * bytes, &start, bytes);
  Launch launch;
  launch.Buffer(memory.data(), {kCells}).Buffer(old_values.data(), {kUpdates}).Scalar(used);
  auto total = static_cast<uint64_t>(used);
  alignas(64) unsigned char rows[2][64];
  std::memset(rows, 0x5A, sizeof rows);
  if (runs == Runs::InCopies) {
    launch.heap = rows[0];
    launch.adstack = {0, sizeof rows[0], 0, kCells};
  }
  runs == Runs::Alone ? launch.Run(compiled.Entry(), 0, total)
                      : RunOnTwoThreads(launch, compiled.Entry(), total);
  auto read = [&](int32_t n) {
    uint64_t bits = 0;
    std::memcpy(&bits, memory.data() + static_cast<uint32_t>(n) * bytes, bytes);
    return ir::IsFloat(c.scalar) ? ir::FloatFromBits(c.scalar, bits)
                                 : static_cast<double>(static_cast<int64_t>(ir::WrapInteger(c.scalar, bits)));
  };
  // Sums of the row's own numbers were made there where a copy can stand for the buffer.
  bool is_sum = c.op == Op::AtomicAdd || c.op == Op::AtomicSub || c.op == Op::AddTo;
  bool can_copy = is_sum && !c.uniform && !c.use_result && c.scalar != Scalar::F16;
  bool was_copied = rows[0][0] != 0x5A || rows[1][0] != 0x5A;
  CHECK(was_copied == (runs == Runs::InCopies && can_copy));
  for (int32_t n = 0; n < kCells; ++n) {
    double want = 4;
    for (int32_t i = 0; i < used; ++i) {
      if ((c.uniform ? 1 : i % kCells) != n) continue;
      double v = i % 7 + 1;
      if (c.op == Op::AtomicAdd || c.op == Op::AddTo) want += v;
      if (c.op == Op::AtomicSub) want -= v;
      if (c.op == Op::AtomicMin) want = std::min(want, v);
      if (c.op == Op::AtomicMax) want = std::max(want, v);
      auto bits = static_cast<int64_t>(want), other = static_cast<int64_t>(v);
      if (c.op == Op::AtomicAnd) want = static_cast<double>(bits & other);
      if (c.op == Op::AtomicOr) want = static_cast<double>(bits | other);
      if (c.op == Op::AtomicXor) want = static_cast<double>(bits ^ other);
    }
    if (!ir::IsFloat(c.scalar))
      want = static_cast<double>(
          static_cast<int64_t>(ir::WrapInteger(c.scalar, static_cast<uint64_t>(static_cast<int64_t>(want)))));
    INFO(ir::InfoOf(c.op).spelling << " " << ir::Spelling(c.scalar) << " uniform " << c.uniform << " result "
                                   << c.use_result << " runs " << static_cast<int>(runs) << " cell " << n);
    CHECK(read(n) == want);
  }
}

}  // namespace

TEST_CASE("atomics lose nothing on two threads, nor plain updates on one") {
  for (Scalar scalar : {Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8, Scalar::U16,
                        Scalar::U32, Scalar::U64, Scalar::F16, Scalar::F32, Scalar::F64}) {
    for (Op op : {Op::AtomicAdd, Op::AtomicSub, Op::AtomicMin, Op::AtomicMax, Op::AtomicAnd, Op::AtomicOr,
                  Op::AtomicXor, Op::AddTo}) {
      bool bitwise = op == Op::AtomicAnd || op == Op::AtomicOr || op == Op::AtomicXor;
      if (bitwise && ir::IsFloat(scalar)) continue;
      if (op == Op::AddTo && !ir::IsFloat(scalar)) continue;
      for (bool uniform : {false, true}) {
        CheckAtomic({op, scalar, uniform, false});
        if (op != Op::AddTo) CheckAtomic({op, scalar, uniform, true});
      }
    }
  }
}

TEST_CASE("exchange and compare-exchange hand on every value exactly once") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("pass");
  ir::Value cell = kernels.Param(kernel, ir::Type::Buffer(ir::kI64, 0), "cell");
  ir::Value taken = kernels.Param(kernel, ir::Type::Buffer(ir::kI64, 1), "taken");
  ir::Value lock = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 0), "lock");
  ir::Value wins = kernels.Param(kernel, ir::Type::Buffer(ir::kI32, 0), "wins");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  ir::Value mine = b.Cast(index, ir::kI64);
  ir::Value old = b.Access(Op::AtomicExchange, cell, {}, {&mine, 1});
  b.Access(Op::Store, taken, {&index, 1}, {&old, 1});
  // The first to find 0.0 makes it 1.0: one win. Bits are compared, so that -0.0 is another value.
  ir::Value pair[] = {b.Float(ir::kF32, 0.0), b.Float(ir::kF32, 1.0)};
  ir::Value before = b.Access(Op::AtomicCompareExchange, lock, {}, pair);
  ir::Inst branch = b.If(b.Make(Op::Eq, {before, b.Float(ir::kF32, 0.0)}), {});
  ir::Block outer = b.block();
  b.SetBlock(kernel[branch].regions[0]);
  ir::Value one = b.I32(1);
  b.Access(Op::AtomicAdd, wins, {}, {&one, 1});
  b.Yield({});
  b.SetBlock(kernel[branch].regions[1]);
  b.Yield({});
  b.SetBlock(outer);
  b.Yield({});
  Compiled compiled(kernels, ConfigFor(Best()));
  constexpr int32_t kCount = 20000;
  int64_t last = -1;
  std::vector<int64_t> values(kCount, -2);
  float locked = 0.0f;
  int32_t won = 0;
  Launch launch;
  launch.Buffer(&last).Buffer(values.data(), {kCount}).Buffer(&locked).Buffer(&won).Scalar(kCount);
  RunOnTwoThreads(launch, compiled.Entry(), kCount);
  values.push_back(last);
  Launch signed_zero;
  std::vector<int64_t> one_value(1);
  locked = locked == 1.0f ? -0.0f : locked;
  signed_zero.Buffer(&last).Buffer(one_value.data(), {1}).Buffer(&locked).Buffer(&won).Scalar(int32_t{1});
  signed_zero.Run(compiled.Entry(), 0, 1);
  std::sort(values.begin(), values.end());
  for (int64_t n = 0; n <= kCount; ++n) REQUIRE(values[static_cast<size_t>(n)] == n - 1);
  CHECK(won == 2);  // the second launch finds -0.0, which `eq` calls 0.0, and leaves it
  CHECK(locked == 0.0f);
  CHECK(std::signbit(locked));
}

TEST_CASE("a sum of every iteration touches its cell once per call, and not at all where nobody adds") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("sum");
  ir::Value total = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "total");
  ir::Value limit = kernels.Param(kernel, ir::kI32, "limit");
  ir::Value place = kernels.Param(kernel, ir::kI32, "place");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  ir::Block outer = b.block();
  ir::Inst branch = b.If(b.Make(Op::Lt, {index, limit}), {});
  b.SetBlock(kernel[branch].regions[0]);
  ir::Value value = b.Cast(index, ir::kF32);
  b.Access(Op::AddTo, total, {&place, 1}, {&value, 1});
  b.Yield({});
  b.SetBlock(kernel[branch].regions[1]);
  b.Yield({});
  b.SetBlock(outer);
  b.Yield({});
  codegen::CodeConfig config = ConfigFor(*target::FindTarget("cpu"));
  config.want_llvm_text = true;
  Compiled compiled(kernels, config);
  size_t atomics = 0;
  for (size_t at = compiled.code.llvm_text.find("atomicrmw fadd"); at != std::string::npos;
       at = compiled.code.llvm_text.find("atomicrmw fadd", at + 1))
    ++atomics;
  CHECK(atomics == 1);
  CHECK(compiled.code.llvm_text.find("sum_update") != std::string::npos);
  float cells[2] = {-0.0f, 10.0f};
  Launch launch;
  launch.Buffer(cells, {2}).Scalar(int32_t{5}).Scalar(int32_t{1}).Scalar(int32_t{100});
  launch.Run(compiled.Entry(), 0, 100);
  CHECK(cells[1] == 20.0f);
  // Nobody adds: a place far outside is not touched.
  Launch nothing;
  nothing.Buffer(cells, {2}).Scalar(int32_t{0}).Scalar(int32_t{1 << 30}).Scalar(int32_t{100});
  nothing.Run(compiled.Entry(), 0, 100);
  CHECK(std::signbit(cells[0]));
}

TEST_CASE("an index out of range is left out and reported when asked for") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("shifted");
  ir::Value x = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 2), "x");
  ir::Value y = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 2), "y");
  ir::Value shift = kernels.Param(kernel, ir::kI32, "shift");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), count, b.I32(0), b.I32(3)};
  ir::Inst loop = b.Parallel(bounds, 0);
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  std::vector<ir::Value> index = kernel[body].params;
  ir::Value from[] = {index[0], b.Make(Op::Add, {index[1], shift})};
  ir::Value value = b.Make(Op::Add, {b.Load(x, from), b.Float(ir::kF32, 1)});
  b.Access(Op::Store, y, index, {&value, 1});
  b.Yield({});
  driver::CompileOptions options;
  options.check_bounds = true;
  Compiled compiled(kernels, ConfigFor(Best()), options);
  std::vector<float> input = {1, 2, 3, 4, 5, 6}, output(6, 0);
  Launch launch;
  launch.Buffer(input.data(), {2, 3}).Buffer(output.data(), {2, 3}).Scalar(int32_t{1}).Scalar(int32_t{2});
  launch.Run(compiled.Entry(), 0, 6);
  CHECK(output == std::vector<float>{3, 4, 1, 6, 7, 1});
  CHECK(launch.status[ADRT_CPU_STATUS_CODE] == ADRT_CPU_INDEX_OUT_OF_BOUNDS);
  CHECK(launch.status[ADRT_CPU_STATUS_TASK] == 0);
  CHECK(launch.status[ADRT_CPU_STATUS_INDEX] == 0);
  CHECK(launch.status[ADRT_CPU_STATUS_ITERATION] == 2);
  Launch store;
  store.Buffer(input.data(), {2, 3}).Buffer(output.data(), {1, 3}).Scalar(int32_t{0}).Scalar(int32_t{2});
  store.Run(compiled.Entry(), 0, 6);
  CHECK(store.status[ADRT_CPU_STATUS_CODE] == ADRT_CPU_INDEX_OUT_OF_BOUNDS);
  CHECK(store.status[ADRT_CPU_STATUS_INDEX] == 1);
  CHECK(store.status[ADRT_CPU_STATUS_ITERATION] == 3);
}

TEST_CASE("assertions report in debug builds and vanish in others") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("check");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  for (int32_t limit : {100, 5}) {
    ir::Value holds = b.Make(Op::Lt, {index, b.I32(limit)});
    ir::Inst assertion = b.Create(Op::Assert, {&holds, 1}, {});
    kernel[assertion].symbol = kernels.module.Intern("small");
  }
  b.Yield({});
  for (bool assertions : {false, true}) {
    driver::CompileOptions options;
    options.keep_asserts = assertions;
    Compiled compiled(kernels, ConfigFor(Best()), options);
    Launch launch;
    launch.Scalar(int32_t{10});
    launch.Run(compiled.Entry(), 0, 10);
    CHECK(launch.status[ADRT_CPU_STATUS_CODE] == (assertions ? uint32_t{ADRT_CPU_ASSERTION} : 0u));
    if (!assertions) continue;
    CHECK(launch.status[ADRT_CPU_STATUS_INDEX] == 1);
    CHECK(launch.status[ADRT_CPU_STATUS_ITERATION] == 5);
  }
}

TEST_CASE("rows lie where the adstack cells say") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("rows");
  ir::Value x = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "x");
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value index = OpenLoop(b, kernel, count);
  auto row_value = [&](Op op, uint32_t number) {
    ir::Type type = ir::kI64;
    ir::Inst inst = b.Create(op, {}, {&type, 1});
    kernel[inst].attr = number;
    return kernel.Result(inst);
  };
  ir::Value row = row_value(Op::RowClaim, 1);
  ir::Value capacity = row_value(Op::RowCapacity, 2);
  ir::Value slot = b.Cast(index, ir::kI64);
  ir::Block outer = b.block();
  ir::Inst fits = b.If(b.Make(Op::Lt, {slot, capacity}), {});
  b.SetBlock(kernel[fits].regions[0]);
  ir::Value stored[] = {row, slot, b.Load(x, {&index, 1})};
  kernel[b.Create(Op::RowStore, stored, {})].attr = 2;
  ir::Value place[] = {row, index};
  ir::Type f32 = ir::kF32;
  ir::Inst load = b.Create(Op::RowLoad, place, {&f32, 1});
  kernel[load].attr = 2;
  ir::Value back = kernel.Result(load);
  ir::Value doubled = b.Make(Op::Add, {back, back});
  b.Access(Op::Store, x, {&index, 1}, {&doubled, 1});
  b.Yield({});
  b.SetBlock(kernel[fits].regions[1]);
  ir::Value needed = b.Make(Op::Add, {slot, b.I64(1)});
  ir::Inst raise = b.Create(Op::StatusRaise, {&needed, 1}, {});
  kernel[raise].attr = 0;
  kernel[raise].component = 2;
  b.Yield({});
  b.SetBlock(outer);
  b.Yield({});
  codegen::TaskRows rows{.groups = 2, .row_position = {0, 1, 2}};
  codegen::KernelToEmit what{&kernel, {rows}};
  auto code = test::EmitRaised(codegen::EmitCpu, kernels.module, {what}, ConfigFor(Best()));
  REQUIRE(code.Ok());
  LoadedImage image(ImageOf(*code));
  REQUIRE(image.Ok());
  alignas(64) unsigned char heap[1024] = {};
  std::vector<float> values = {1, 2, 3, 4, 5};
  Launch launch;
  launch.Buffer(values.data(), {5}).Scalar(int32_t{5});
  launch.heap = heap;
  // The row of all groups is that of the first.
  launch.adstack = {256, 128, 0, 0, 0, 1, 4, 1, 16, 4};
  launch.Run(image.Entry(code->entries[0][0].symbol), 0, 5, 3);
  CHECK(values == std::vector<float>{2, 4, 6, 8, 5});
  float tape[4];
  std::memcpy(tape, heap + 256 + 3 * 128 + 16, sizeof tape);
  CHECK(tape[0] == 1);
  CHECK(tape[3] == 4);
  CHECK(launch.status[ADRT_CPU_STATUS_CODE] == ADRT_CPU_ADSTACK_OVERFLOW);
  CHECK(launch.status[ADRT_CPU_STATUS_INDEX] == 2);
  CHECK(launch.status[ADRT_CPU_STATUS_NEEDED] == 5);
  CHECK(launch.status[ADRT_CPU_STATUS_ITERATION] == 4);
}

TEST_CASE("parameters by value come from their cells") {
  Kernels kernels;
  ir::Function& kernel = kernels.Add("values");
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(ir::kF64, 1), "out");
  ir::Value flag = kernels.Param(kernel, ir::kI1, "flag");
  ir::Value small = kernels.Param(kernel, ir::Type::Of(Scalar::I8), "small");
  ir::Value half = kernels.Param(kernel, ir::Type::Of(Scalar::F16), "half");
  ir::Value matrix = kernels.Param(kernel, ir::Type::Mat(Scalar::F32, 2, 3), "m");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value position = b.I32(0);
  auto put = [&](int32_t n, ir::Value value) {
    ir::Value at = b.I32(n), wide = b.Cast(value, ir::kF64);
    b.Access(Op::Store, out, {&at, 1}, {&wide, 1});
  };
  put(0, b.Make(Op::Select, {flag, b.Float(ir::kF64, 3), b.Float(ir::kF64, 4)}));
  put(1, small);
  put(2, half);
  ir::Value corner[] = {matrix, b.I32(1), b.I32(2)};
  ir::Type f32 = ir::kF32;
  put(3, kernel.Result(b.Create(Op::MatGet, corner, {&f32, 1})));
  ir::Value first[] = {matrix, position, position};
  put(4, kernel.Result(b.Create(Op::MatGet, first, {&f32, 1})));
  for (const target::Target& target : RunnableTargets()) {
    Compiled compiled(kernels, ConfigFor(target));
    std::vector<double> got(5, 0);
    Launch launch;
    launch.Buffer(got.data(), {5}).Scalar(uint8_t{1}).Scalar(int8_t{-7}).Scalar(adc::HalfFromFloat(0.5f));
    for (int n = 0; n < 6; ++n) launch.Scalar(static_cast<float>(n) + 0.25f);
    launch.Run(compiled.Entry(), 0, 1);
    CHECK(got == std::vector<double>{3, -7, 0.5, 5.25, 0.25});
  }
}

TEST_CASE("parameters that say alias may share memory, others need not be read again") {
  // for %t in 0..%n { store %y[%t + 1], (add (load %x[%t]), 1.0) }: a chain when x and y are one buffer.
  for (bool alias : {false, true}) {
    Kernels kernels;
    ir::Function& kernel = kernels.Add("chain");
    ir::ParamInfo info;
    info.alias = alias;
    ir::Value x = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "x", info);
    ir::Value y = kernels.Param(kernel, ir::Type::Buffer(ir::kF32, 1), "y", info);
    ir::Value count = kernels.Param(kernel, ir::kI32, "n");
    ir::Builder b(kernels.module, kernel, kernel.Body());
    ir::Inst loop = b.For(b.I32(0), count, b.I32(1), {});
    ir::Block body = kernel[loop].regions[0];
    b.SetBlock(body);
    ir::Value index = kernel[body].params[0];
    ir::Value next = b.Make(Op::Add, {index, b.I32(1)});
    ir::Value value = b.Make(Op::Add, {b.Load(x, {&index, 1}), b.Float(ir::kF32, 1)});
    b.Access(Op::Store, y, {&next, 1}, {&value, 1});
    b.Yield({});
    codegen::CodeConfig config = ConfigFor(Best());
    config.want_llvm_text = true;
    Compiled compiled(kernels, config);
    std::vector<float> one(41, 0), two(41, 0);
    Launch launch;
    launch.Buffer(one.data(), {41}).Buffer(alias ? one.data() : two.data(), {41}).Scalar(int32_t{40});
    launch.Run(compiled.Entry(), 0, 1);
    if (alias) {
      for (size_t n = 0; n < 41; ++n) CHECK(one[n] == static_cast<float>(n));
    } else {
      for (size_t n = 1; n < 41; ++n) CHECK(two[n] == 1.0f);
      // Nothing stands in the way of vectors, and nothing is checked at run time for it.
      CHECK(compiled.code.llvm_text.find("vector.body") != std::string::npos);
      CHECK(compiled.code.llvm_text.find("vector.memcheck") == std::string::npos);
    }
  }
}

TEST_CASE("tasks hand on values through scratch memory") {
  // %s = scratch; serial: sum of x into %s; parallel: y[i] = x[i] / sum
  Kernels kernels;
  ir::Function& kernel = kernels.Add("normalise");
  ir::Value x = kernels.Param(kernel, ir::Type::Buffer(ir::kF64, 1), "x");
  ir::Value y = kernels.Param(kernel, ir::Type::Buffer(ir::kF64, 1), "y");
  ir::ParamInfo info;
  info.role = ir::ParamRole::Scratch;
  ir::Value scratch = kernels.Param(kernel, ir::Type::Buffer(ir::kF64, 0), "s", info);
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value initial = b.Float(ir::kF64, 0);
  ir::Inst loop = b.For(b.I32(0), b.Shape(x, 0), b.I32(1), {&initial, 1});
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  ir::Value index = kernel[body].params[0], carried = kernel[body].params[1];
  ir::Value sum = b.Make(Op::Add, {carried, b.Load(x, {&index, 1})});
  b.Yield({&sum, 1});
  b.SetBlock(kernel.Body());
  ir::Value total = kernel.Result(loop);
  b.Access(Op::Store, scratch, {}, {&total, 1});
  ir::Value divisor = b.Load(scratch, {});
  ir::Value count = b.Shape(x, 0);
  ir::Value at = OpenLoop(b, kernel, count);
  ir::Value share = b.Make(Op::Div, {b.Load(x, {&at, 1}), divisor});
  b.Access(Op::Store, y, {&at, 1}, {&share, 1});
  b.Yield({});
  Compiled compiled(kernels, ConfigFor(Best()));
  REQUIRE(compiled.code.entries[0].size() == 2);
  std::vector<double> input = {1, 2, 3, 4}, output(4, 0);
  double cell = 0;
  Launch launch;
  launch.Buffer(input.data(), {4}).Buffer(output.data(), {4}).Buffer(&cell);
  launch.Run(compiled.Entry(0, 0), 0, 1);
  CHECK(cell == 10);
  launch.Run(compiled.Entry(0, 1), 0, 4);
  CHECK(output == std::vector<double>{0.1, 0.2, 0.3, 0.4});
}

TEST_CASE("sums that many iterations share are gathered per worker, whatever fights for a slot") {
  // parallel %i, %b in 0..%n, 0..%m { for %t in 0..%k { atomic add %x[%b, %t], v; atomic sub %y[%t], v } }
  for (Scalar scalar : {Scalar::F32, Scalar::F64, Scalar::I32, Scalar::U64, Scalar::I16}) {
    Kernels kernels;
    ir::Function& kernel = kernels.Add("gather");
    ir::Type element = ir::Type::Of(scalar);
    ir::Value x = kernels.Param(kernel, ir::Type::Buffer(element, 2), "x");
    ir::Value y = kernels.Param(kernel, ir::Type::Buffer(element, 1), "y");
    ir::Value count = kernels.Param(kernel, ir::kI32, "n");
    ir::Value width = kernels.Param(kernel, ir::kI32, "m");
    ir::Value length = kernels.Param(kernel, ir::kI32, "k");
    ir::Builder b(kernels.module, kernel, kernel.Body());
    ir::Value bounds[] = {b.I32(0), count, b.I32(0), width};
    ir::Inst loop = b.Parallel(bounds, 0);
    ir::Block body = kernel[loop].regions[0];
    b.SetBlock(body);
    std::vector<ir::Value> index = kernel[body].params;
    ir::Inst inner = b.For(b.I32(0), length, b.I32(1), {});
    ir::Block inner_body = kernel[inner].regions[0];
    b.SetBlock(inner_body);
    ir::Value step = kernel[inner_body].params[0];
    ir::Value number = b.Make(Op::Mod, {b.Make(Op::Add, {index[0], step}), b.I32(3)});
    ir::Value value = b.Cast(number, element);
    ir::Value place[] = {index[1], step};
    b.Access(Op::AtomicAdd, x, place, {&value, 1});
    b.Access(Op::AtomicSub, y, {&step, 1}, {&value, 1});
    b.Yield({});
    b.SetBlock(body);
    b.Yield({});
    codegen::CodeConfig config = ConfigFor(Best());
    config.want_llvm_text = true;
    Compiled compiled(kernels, config);
    CHECK(compiled.code.llvm_text.find("adc.flush.all") != std::string::npos);
    // Few cells, more cells than a table has slots, and none.
    for (int32_t k : {2, 300, 0}) {
      constexpr int32_t kN = 40, kM = 3;
      auto cells = static_cast<size_t>(std::max(k, 1));
      uint32_t bytes = ir::ByteSize(scalar);
      std::vector<unsigned char> sums(kM * cells * bytes), negated(cells * bytes);
      Launch launch;
      launch.Buffer(sums.data(), {kM, k}).Buffer(negated.data(), {k}).Scalar(kN).Scalar(kM).Scalar(k);
      RunOnTwoThreads(launch, compiled.Entry(), kN * kM);
      auto read = [&](const std::vector<unsigned char>& memory, size_t n) {
        uint64_t bits = 0;
        std::memcpy(&bits, memory.data() + n * bytes, bytes);
        if (ir::IsFloat(scalar)) return ir::FloatFromBits(scalar, bits);
        return static_cast<double>(static_cast<int64_t>(ir::WrapInteger(scalar, bits)));
      };
      bool right = true;
      for (int32_t t = 0; t < k; ++t) {
        double want = 0;
        for (int32_t i = 0; i < kN; ++i) want += (i + t) % 3;
        for (int32_t m = 0; m < kM; ++m) right = right && read(sums, static_cast<size_t>(m * k + t)) == want;
        right = right && read(negated, static_cast<size_t>(t)) == -kM * want;
      }
      INFO(ir::Spelling(scalar) << " " << k);
      CHECK(right);
    }
  }
}
