// Memory and control on a Vulkan device against the interpreter: atomics of every kind and type, layouts,
// loops of every shape, sums, checks and what they report.

#include "../support/random_arguments.h"
#include "ir/module.h"
#include "spirv_kernel.h"

namespace {

using namespace adc;
using namespace adc::test;

constexpr int64_t kExtent = 100;

/// Fills buffers and layouts with small whole numbers that differ from element to element; numbers are 7.
interp::Arguments FilledArguments(const ir::Module& module, const ir::Function& kernel,
                                  const std::vector<int64_t>& extents) {
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    if (type.IsLayout()) {
      for (std::byte& byte : arguments[n].tensor.data) byte = std::byte{0};
      continue;
    }
    if (!type.IsBuffer()) {
      arguments[n] = interp::NumberArgument(type, type.IsBool() ? 1 : 7);
      continue;
    }
    std::vector<int64_t> shape(extents.begin(), extents.begin() + type.count);
    arguments[n].tensor = interp::Tensor::Zeros(type.Element(), shape);
    for (int64_t k = 0; k < arguments[n].tensor.ScalarCount(); ++k) {
      int64_t number = (k * 37 + static_cast<int64_t>(n) * 11) % 23;
      arguments[n].tensor.Set(k, static_cast<double>(type.scalar == ir::Scalar::I1 ? number % 2 : number));
    }
  }
  return arguments;
}

struct CheckConfig {
  std::vector<int64_t> extents = {kExtent, 5, 3};
  std::vector<uint64_t> iterations = {kExtent};
  bool check_bounds = false;
  bool exact = true;
};

/// The kernel @k of `text`, by every target, way of addressing and number of threads.
void CheckKernel(const std::string& text, const CheckConfig& config = {}) {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  INFO(text);
  auto lowered = LowerText(text, {.derive = false, .plan = {}});
  auto original = LowerText(text, {.derive = false, .plan = {}});
  const ir::Function& kernel = *lowered->module->Find("k");
  interp::Arguments want = FilledArguments(*original->module, *original->module->Find("k"), config.extents);
  interp::RunOptions options;
  if (config.check_bounds) options.out_of_range = interp::OutOfRange::Skip;
  interp::RunResult result = interp::Run(*original->module, *original->module->Find("k"), want, options);
  INFO(result.error.text);
  REQUIRE(result.Ok());
  const LoweredKernel* planned = nullptr;
  size_t number = 0;
  for (size_t n = 0; n < lowered->kernels.size(); ++n) {
    if (lowered->kernels[n].kernel == &kernel) planned = &lowered->kernels[n], number = n;
  }
  REQUIRE(planned != nullptr);
  // The versions differ in how floats are added to alone.
  bool adds = text.find("atomic add") != std::string::npos && text.find("f32") != std::string::npos;
  for (const char* target : {"vulkan:1.2", "vulkan:1.3"}) {
    if (!adds && std::string(target) == "vulkan:1.3") continue;
    codegen::CodeConfig code_config = SpirvConfig(target);
    driver::CompileOptions compile_options;
    compile_options.check_bounds = config.check_bounds;
    SpirvModule module = SpirvFor(*lowered, code_config, compile_options);
    if (!runner->Has(module.code.features)) continue;
    runner->LoadModule(module.words);
    for (bool near : {true, false}) {
      uint64_t threads = near ? 7 : 160;
      interp::Arguments got = FilledArguments(*lowered->module, kernel, config.extents);
      RunStatus status = RunKernel(*runner, *planned, module.code.entries[number], got, near,
                                   {.iterations = config.iterations, .threads = threads});
      INFO(target << (near ? " near" : " far"));
      CHECK(status.code == result.status.code);
      got.list.resize(want.list.size());
      if (config.exact) {
        for (size_t n = 0; n < want.list.size(); ++n) {
          INFO("argument " << n << ", largest difference " << LargestDifference(want, got));
          CHECK((got[n].tensor.data == want[n].tensor.data));
        }
      } else {
        CHECK(LargestDifference(want, got) < 1e-4);
      }
    }
  }
}

const char* const kTypes[] = {"i8",  "i16", "i32", "i64", "u8",  "u16",
                              "u32", "u64", "f16", "f32", "f64", "i1"};

/// Floats have no bitwise updates, and i1 is no number.
bool Takes(const std::string& type, const std::string& op) {
  bool bits = op == "and" || op == "or" || op == "xor";
  return type != "i1" && (type[0] != 'f' || !bits);
}

}  // namespace

TEST_CASE("atomic updates of every kind and type give what the interpreter gives") {
  for (const std::string type : kTypes) {
    for (const std::string op : {"add", "sub", "min", "max", "and", "or", "xor"}) {
      if (!Takes(type, op)) continue;
      // 23 numbers meet in 5 cells; sums of f16 stay exact.
      CheckKernel("kernel @k(%x: buffer<" + type + ", 1>, %r: buffer<" + type + ", 1>) {\n" +
                  "  parallel %i in 0..shape(%x, 0) {\n    %j = mod %i, 5\n" +
                  "    %v = load %x[%i]\n    atomic " + op + " %r[%j], %v\n  }\n}\n");
    }
  }
}

TEST_CASE("atomic updates give back what was there") {
  for (const std::string type : kTypes) {
    for (const std::string op : {"add", "sub", "min", "max", "and", "or", "xor", "exchange"}) {
      if (!Takes(type, op)) continue;
      CheckKernel("kernel @k(%x: buffer<" + type + ", 1>, %r: buffer<" + type + ", 1>, %o: buffer<" + type +
                  ", 1>) {\n" + "  parallel %i in 0..shape(%x, 0) {\n" +
                  "    %v = load %x[%i]\n    %old = atomic " + op +
                  " %r[%i], %v\n    store %o[%i], %old\n  }\n}\n");
    }
    if (!Takes(type, "exchange")) continue;
    CheckKernel("kernel @k(%x: buffer<" + type + ", 1>, %r: buffer<" + type + ", 1>, %o: buffer<" + type +
                ", 1>) {\n  parallel %i in 0..shape(%x, 0) {\n    %v = load %x[%i]\n    %w = load %r[0]\n" +
                "    %seen = load %o[%i]\n" + "    %old = atomic compare_exchange %o[%i], %seen, %v\n" +
                "    %not = atomic compare_exchange %x[%i], %w, %old\n  }\n}\n");
  }
}

TEST_CASE("sums over all iterations come to what the interpreter gives") {
  for (const std::string type : kTypes) {
    for (const std::string op : {"add", "sub", "min", "max", "and", "or", "xor"}) {
      if (!Takes(type, op)) continue;
      CheckConfig config;
      config.exact = type != "f16";
      // Of f16 less than 2048 is summed, so that it stays exact.
      CheckKernel("kernel @k(%x: buffer<" + type + ", 1>, %s: buffer<" + type + ", 0>, %r: buffer<" + type +
                      ", 1>) {\n  parallel %i in 0..shape(%x, 0) {\n    %v = load %x[%i]\n    atomic " + op +
                      " %s[], %v\n    if (lt (mod %i, 7), 3) {\n      atomic " + op +
                      " %r[3], %v\n    }\n    if (lt %i, 0) {\n      atomic " + op +
                      " %r[4], %v\n    }\n  }\n}\n",
                  config);
    }
  }
}

TEST_CASE("sums inside of loops and branches are carried out of them") {
  CheckConfig config;
  config.exact = false;
  CheckKernel(R"(
kernel @k(%x: buffer<f32, 1>, %s: buffer<f32, 0>, %c: buffer<i32, 0>) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    for %t in 0..(mod %i, 4) {
      atomic add %s[], %v
      if (eq %t, 2) {
        atomic add %c[], 1
      } else {
        atomic sub %c[], %t
      }
    }
    %w = while carry(%k = 0) {
      atomic add %c[], %k
      continue_if (lt %k, (mod %i, 3))
    } do {
      atomic add %s[], 0.5
      yield (add %k, 1)
    }
    atomic add %c[], %w
  }
})",
              config);
}

TEST_CASE("sums that some iterations share are gathered") {
  for (const std::string type : {"i32", "u32", "f32", "f64", "i64", "i16"}) {
    CheckKernel(
        "kernel @k(%x: buffer<" + type + ", 1>, %r: buffer<" + type + ", 1>, %o: buffer<" + type +
            ", 1>, %q: buffer<" + type + ", 1>, %c: buffer<i32, 1>) {\n" +
            "  parallel %i, %b in 0..20, 0..5 {\n    %v = load %x[%i]\n    atomic add %r[%b], %v\n" +
            "    if (lt (mod %i, 3), 2) {\n      atomic sub %o[%i], %v\n    }\n" +
            "    for %t in 0..%b {\n      %cell = load %c[(add %t, %i)]\n" +
            "      if (lt %cell, 12) {\n        atomic add %q[(add %cell, %i)], %v\n      }\n    }\n" +
            "  }\n}\n",
        {.iterations = {100}});
  }
}

TEST_CASE("loops of every shape run the iterations that the interpreter runs") {
  for (const char* type : {"i32", "i64"}) {
    std::string t = std::string(":") + type;
    for (const std::string& range :
         {"0" + t + "..9", std::string("%i..20"), "-5" + t + "..%i", "9" + t + "..0", "3" + t + "..3"}) {
      for (const char* step : {"", " step 2", " step 3", " step 7"}) {
        for (const char* way : {"", " reversed"}) {
          std::string index = std::string(type) == "i64" ? "(cast %p to i64)" : "%p";
          CheckKernel(std::string("kernel @k(%r: buffer<") + type + ", 1>) {\n  parallel %p in 0..100 {\n" +
                      "    %i = mod " + index + ", 17\n    %s = for %t in " + range + step + way +
                      " carry(%a = 1" + t + ") {\n      %b = add (mul %a, 3), %t\n      yield %b\n    }\n" +
                      "    store %r[%p], %s\n  }\n}\n");
        }
      }
    }
  }
}

TEST_CASE("loops end at the ends of their types") {
  CheckKernel(R"(
kernel @k(%r: buffer<i32, 1>, %w: buffer<i64, 1>) {
  parallel %p in 0..100 {
    %big = sub 2147483647, (mod %p, 3)
    %a = for %t1 in (sub %big, 2)..2147483647 carry(%n1 = 0) { yield (add %n1, 1) }
    %b = for %t2 in (sub %big, 7)..2147483647 step 5 carry(%n2 = %a) { yield (add %n2, %t2) }
    %low = add -2147483648, 4
    %c = for %t3 in -2147483648..%low reversed carry(%n3 = %b) { yield (add %n3, %t3) }
    store %r[%p], %c
    %wide = sub 9223372036854775807, (cast (mod %p, 3) to i64)
    %d = for %t4 in (sub %wide, 11)..9223372036854775807 step 4 carry(%n4 = 0:i64) { yield (add %n4, %t4) }
    %e = for %t5 in (sub %wide, 11)..9223372036854775807 step 4 reversed carry(%n5 = %d) {
      yield (sub %n5, %t5)
    }
    store %w[%p], %e
  }
})");
}

TEST_CASE("while loops with and without a bound, with control flow in their tests") {
  CheckKernel(R"(
kernel @k(%x: buffer<i32, 1>, %r: buffer<i32, 1>, %n: i32) {
  parallel %p in 0..100 {
    %a, %b = while carry(%k = 0, %s = 1) {
      %more = if (gt (load %x[%p]), 11) {
        %v = load %x[%k]
        yield (lt %v, 20)
      } else {
        yield (lt %k, 5)
      }
      continue_if %more
    } do {
      yield (add %k, 1), (add (mul %s, 3), %k)
    }
    %c = while max %n carry(%m = %a) {
      continue_if (lt %m, 30)
    } do {
      yield (add %m, 2)
    }
    store %r[%p], (add (mul %b, 7), %c)
  }
})");
}

TEST_CASE("serial tasks, local arrays, constant arrays, scalars of every type") {
  CheckKernel(R"(
const @w = [3, 1, 4, 1, 5] : array<i32, 5>
const @h = [0.5, 1.5, 2.5] : array<f16, 3>
const @b = [true, false, true] : array<i1, 3>
kernel @k(%x: buffer<i32, 1>, %r: buffer<i32, 1>, %q: buffer<f16, 1>, %a: i8, %c: u16, %d: i64, %e: f16, %f: f32,
          %g: i1, %m: vec<f32, 3>) {
  %first = load %x[0]
  for %t in 0..10 { store %r[%t], (add %t, %first) }
  parallel %i in 10..shape(%x, 0) {
    %l = alloca array<i32, 8>
    %o = alloca array<i1, 4>
    for %t1 in 0..20 {
      %j = mod (mul %t1, %i), 8
      store %l[%j], (add (load %l[%j]), (load @w[(mod %t1, 5)]))
      store %o[(mod %t1, 4)], (load @b[(mod %j, 3)])
    }
    %s = for %t2 in 0..8 carry(%n2 = 0) { yield (add (mul %n2, 3), (load %l[%t2])) }
    %z = for %t3 in 0..4 carry(%n3 = %s) {
      %v = load %o[%t3]
      yield (select %v, (add %n3, 1), (mul %n3, 2))
    }
    %u = add (cast %a to i32), (add (cast %c to i32), (cast %d to i32))
    %y = select %g, (cast (vec.get %m, 1) to i32), 0
    store %r[%i], (add %z, (add %u, %y))
    %k = mul (load @h[(mod %i, 3)]), (add %e, (cast %f to f16))
    store %q[%i], %k
  }
})",
              {.iterations = {kExtent - 10}});
}

TEST_CASE("fields of layouts lie where the interpreter has them") {
  CheckKernel(R"(
layout @grid {
  dense[4, 5] { mass: f32  flags: u8  dense[2, 3] { vel: vec<f32, 3>  level: i16  half: f16  big: f64 } }
  count: i32
}
kernel @k(%g: @grid) {
  parallel %i, %j over %g::vel {
    %v = cast (add (mul %i, 100), %j) to f32
    store %g::vel[%i, %j], (vec.make %v, (add %v, 0.25), (neg %v))
    store %g::level[%i, %j], (cast (sub %i, %j) to i16)
    store %g::half[%i, %j], (cast %v to f16)
    store %g::big[%i, %j], (cast %v to f64)
    atomic add %g::count[], %i
    atomic add %g::mass[(div %i, 2), (div %j, 3)], 1.0
    atomic max %g::flags[(div %i, 2), (div %j, 3)], (cast %j to u8)
  }
  parallel %p, %q over %g::mass {
    %m = load %g::mass[%p, %q]
    store %g::mass[%p, %q], (mul %m, (vec.get (load %g::vel[%p, %q]), 1))
  }
})",
              {.iterations = {120, 20}});
}

TEST_CASE("iterations over several axes, with low bounds, in 32 and in 64 bits") {
  for (const char* type : {"i32", "i64"}) {
    std::string low = std::string("1:") + type, high = std::string("6:") + type;
    CheckKernel("kernel @k(%r: buffer<i32, 3>) {\n  parallel %a, %b, %c in 1.." + high + ", 0..5:" + type +
                    ", -1:" + type + "..2 {\n    %v = add (mul %a, 100), (add (mul %b, 10), %c)\n" +
                    "    store %r[%a, %b, (add %c, 1)], (cast %v to i32)\n  }\n}\n",
                {.extents = {8, 5, 3}, .iterations = {75}});
  }
}

TEST_CASE("a workgroup runs 32 iterations by shares of turns, or one, or a thread has its own") {
  // Steps around a loop that is shared, one that is shared and sums into no cell, integers, loops backwards
  // and from 5 on, and a store in between.
  auto text = [](const std::string& type) {
    std::string buffer = "buffer<" + type + ", 1>", zero = type + "(0.0)";
    return "kernel @pull(%x: " + buffer + ", %a: " + buffer + ", %b: " + buffer + ", %c: " + buffer +
           ", %n: buffer<i32, 1>) {\n  %e = shape %x, 0\n  parallel %i in 0..%e {\n    %v = load %x[%i]\n"
           "    %u = for %t in 0..3 carry(%u = " +
           zero +
           ") {\n"
           "      %s = for %j in 0..%e reversed carry(%s = " +
           zero +
           ") {\n"
           "        %w = %x[%j] * %v\n        atomic add %a[%j], %w\n        atomic add %n[%j], %j + %t\n"
           "        yield %s + %w\n      }\n      yield %u + %s * " +
           type +
           "(%t)\n    }\n"
           "    store %b[%i], %u\n    %r = for %j in 5..%e carry(%r = %v) {\n      yield %r + %x[%j]\n    }\n"
           "    atomic add %c[%i], %r\n  }\n}\n";
  };
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  for (const char* target : {"vulkan:1.2", "vulkan:1.3"}) {
    for (const char* type : {"f32", "f64"}) {
      auto lowered = LowerText(text(type), {.derive = false, .plan = {}});
      const ir::Function& kernel = *lowered->kernels[0].kernel;
      SpirvModule module = SpirvFor(*lowered, SpirvConfig(target));
      if (!runner->Has(module.code.features)) continue;
      const codegen::EntryCode& entry = module.code.entries[0][0];
      REQUIRE(entry.team_lanes == 32);
      REQUIRE(entry.block_size == 128);
      runner->LoadModule(module.words);
      for (int64_t extent : {1, 45, 64, 161, 300}) {
        auto original = LowerText(text(type), {.derive = false, .plan = {}});
        interp::Arguments want = FilledArguments(*original->module, *original->kernels[0].kernel, {extent});
        REQUIRE(interp::Run(*original->module, *original->kernels[0].kernel, want, {}).Ok());
        auto iterations = static_cast<uint64_t>(extent);
        for (uint64_t threads : {iterations * 128, (iterations + 31) / 32 * 128, uint64_t{40}}) {
          for (bool near : {true, false}) {
            interp::Arguments got = FilledArguments(*lowered->module, kernel, {extent});
            RunKernel(*runner, lowered->kernels[0], module.code.entries[0], got, near,
                      {.iterations = {iterations}, .threads = threads});
            INFO(target << " " << type << ", " << extent << " iterations, " << threads << " threads");
            // Sums of small whole numbers are exact in any order.
            for (size_t n = 0; n < want.list.size(); ++n) CHECK((got[n].tensor.data == want[n].tensor.data));
          }
        }
      }
    }
  }
}

TEST_CASE("iterations beyond 32 bits are split in 64") {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  auto lowered = LowerText(R"(
kernel @k(%r: buffer<i64, 1>, %n: i32, %w: i64) {
  parallel %a, %b in 0..%n, 5..%w {
    store %r[(sub %b, 5)], (add (mul %b, 1000), (cast %a to i64))
  }
})",
                           {.derive = false, .plan = {}});
  SpirvModule module = SpirvFor(*lowered, SpirvConfig("vulkan:1.2"));
  runner->LoadModule(module.words);
  for (bool near : {true, false}) {
    interp::Arguments arguments = interp::MakeArguments(*lowered->module, *lowered->kernels[0].kernel);
    arguments[0].tensor = interp::Tensor::Zeros(ir::kI64, {kExtent});
    arguments[1] = interp::NumberArgument(ir::kI32, 1 << 20);
    arguments[2] = interp::NumberArgument(ir::kI64, 5 + (1 << 14));
    // As many threads as iterations, of which the first block alone is there.
    uint64_t all = uint64_t{1} << 34;
    RunKernel(*runner, lowered->kernels[0], module.code.entries[0], arguments, near,
              {.iterations = {all}, .threads = all, .blocks = 1});
    size_t wrong = 0;
    for (int64_t k = 0; k < kExtent; ++k)
      wrong += arguments[0].tensor.As<int64_t>()[static_cast<size_t>(k)] != (k + 5) * 1000;
    CHECK(wrong == 0);
  }
}

TEST_CASE("assertions are reported with their number and iteration") {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  auto lowered = LowerText(R"(
kernel @k(%x: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    assert (lt %i, 1000), "small"
    assert (ne %i, 77), "not this one"
    store %x[%i], %i
  }
})",
                           {.derive = false, .plan = {}});
  for (bool assertions : {true, false}) {
    driver::CompileOptions options;
    options.keep_asserts = assertions;
    SpirvModule module = SpirvFor(*lowered, SpirvConfig("vulkan:1.2"), options);
    runner->LoadModule(module.words);
    for (bool near : {true, false}) {
      interp::Arguments arguments = FilledArguments(*lowered->module, *lowered->kernels[0].kernel, {kExtent});
      RunStatus status = RunKernel(*runner, lowered->kernels[0], module.code.entries[0], arguments, near,
                                   {.iterations = {kExtent}, .threads = 64});
      CHECK(status.code == (assertions ? 2u : 0u));
      CHECK(status.task == 0);
      CHECK(status.index == (assertions ? 1u : 0u));
      CHECK(status.iteration == (assertions ? 77u : 0u));
    }
  }
}

TEST_CASE("a thread claims a row behind a gate once, and says where none is left") {
  VulkanRunner* runner = Runner();
  if (runner == nullptr) return;
  LowerConfig lower;
  lower.plan.lanes = kRowLanes;
  auto lowered = LowerText(R"(
kernel @k(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r = if (eq (mod %i, 3), 1) {
      %w = for %t in 0..%n carry(%a = %v) {
        %b = sub (mul %a, 1.01), (mul (mul %a, %a), 0.001)
        yield %b
      }
      yield %w
    } else {
      yield %v
    }
    atomic add %loss[], %r
  }
})",
                           lower);
  const LoweredKernel* gradient = nullptr;
  size_t number = 0;
  for (size_t n = 0; n < lowered->kernels.size(); ++n) {
    if (lowered->module->Text(lowered->kernels[n].kernel->name) == "k.grad")
      gradient = &lowered->kernels[n], number = n;
  }
  REQUIRE(gradient != nullptr);
  REQUIRE(gradient->plan.tasks[0].groups.size() == 1);
  REQUIRE(gradient->plan.tasks[0].groups[0].place.Valid());
  SpirvModule module = SpirvFor(*lowered, SpirvConfig("vulkan:1.2"));
  // Threads take rows one by one: no operation of a subgroup in divergent control flow.
  CHECK(module.Count(spv::OpGroupNonUniformBallot) == 0);
  CHECK(module.Count(spv::OpGroupNonUniformBroadcastFirst) == 0);
  runner->LoadModule(module.words);
  for (bool near : {true, false}) {
    for (uint64_t threads : {20u, 100u}) {
      for (uint64_t rows : {34u, 5u}) {
        interp::Arguments arguments = FilledArguments(*lowered->module, *gradient->kernel, {kExtent});
        for (float& zero : arguments[3].tensor.As<float>()) zero = 0;
        RunStatus status = RunKernel(*runner, *gradient, module.code.entries[number], arguments, near,
                                     {.iterations = {kExtent}, .threads = threads, .rows = rows});
        // Of 20 threads each comes to the gate; of 100 a third does.
        bool enough = rows >= 34;
        INFO((near ? "near " : "far ") << threads << " threads, " << rows << " rows");
        CHECK(status.code == (enough ? 0u : 5u));
        if (!enough) continue;
        size_t wrong = 0;
        for (int64_t k = 0; k < kExtent; ++k) {
          double value = arguments[0].tensor.Get(k), slope = arguments[4].tensor.Get(0);
          for (int t = 0; t < 7 && k % 3 == 1; ++t) {
            slope *= 1.01 - 0.002 * value;
            value = 1.01 * value - 0.001 * value * value;
          }
          double got = arguments[3].tensor.Get(k);
          wrong += std::fabs(got - slope) > 1e-4 * std::max(1.0, std::fabs(slope));
        }
        CHECK(wrong == 0);
      }
    }
  }
}

TEST_CASE("an index out of range is left out and reported") {
  CheckKernel(R"(
kernel @k(%x: buffer<f32, 1>, %y: buffer<i32, 2>, %r: buffer<f32, 1>) {
  parallel %i in 0..100 {
    %v = load %x[(sub %i, 50)]
    store %r[%i], (add %v, 1.0)
    %old = atomic add %y[%i, 3], %i
    store %y[-1, 0], %old
  }
})",
              {.check_bounds = true});
}
