// What the interpreter computes, statement by statement.

#include <cmath>
#include <cstring>

#include "../support/program.h"
#include "ir/module.h"

using namespace adc;
using interp::ErrorKind;
using test::Program;

namespace {

/// Result of a func without parameters, as one number.
double ResultOf(const std::string& text) {
  Program program(text);
  interp::RunResult result = program.Run();
  REQUIRE(result.results.size() == 1);
  return ir::FloatFromBits(ir::Scalar::F64, result.results[0][0]);
}

}  // namespace

TEST_CASE("relax runs", "[interp]") {
  Program program(R"(
kernel @relax(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %b = add (sin %a), 0.1
      yield %b
    }
    atomic add %loss[], %v
  }
})");
  program.Buffer("x", {3}, {0.5, 1.0, -2.0});
  program.Number("n", 4);
  interp::RunResult result = program.Run();
  float expected = 0;
  for (float a : {0.5f, 1.0f, -2.0f}) {
    for (int t = 0; t < 4; ++t) a = std::sin(a) + 0.1f;
    expected += a;
  }
  CHECK(program.Numbers("loss")[0] == static_cast<double>(expected));
  REQUIRE(result.loops.size() == 1);
  CHECK(result.loops[0].entries == 3);
  CHECK(result.loops[0].trips == 12);
  CHECK(result.loops[0].max_trips == 4);
}

TEST_CASE("loops count, step and reverse", "[interp]") {
  auto visited = [](const std::string& header, double lo, double hi) {
    Program program("kernel @k(%out: buffer<i32, 1>, %lo: i32, %hi: i32) {\n  %end = " + header +
                    " carry(%n = 0) {\n    store %out[%n], %i\n    %m = add %n, 1\n    yield %m\n  }\n"
                    "  store %out[9], %end\n}\n");
    program.Zeros("out", {10});
    program.Number("lo", lo);
    program.Number("hi", hi);
    program.Run();
    std::vector<double> out = program.Numbers("out");
    return std::vector<double>(out.begin(), out.begin() + static_cast<ptrdiff_t>(out[9]));
  };
  using List = std::vector<double>;
  CHECK(visited("for %i in %lo..%hi", 2, 5) == List{2, 3, 4});
  CHECK(visited("for %i in %lo..%hi step 3", -1, 6) == List{-1, 2, 5});
  CHECK(visited("for %i in %lo..%hi step 3 reversed", -1, 6) == List{5, 2, -1});
  CHECK(visited("for %i in %lo..%hi", 5, 2).empty());
  CHECK(visited("for %i in %lo..%hi step 4", 2147483640, 2147483647) == List{2147483640, 2147483644});
}

TEST_CASE("carried values change places at once", "[interp]") {
  Program program(R"(
kernel @fibonacci(%out: buffer<i64, 1>, %n: i32) {
  %a, %b, %c = for %i in 0..%n carry(%p = 0:i64, %q = 1:i64, %r = 7:i64) {
    %s = add %p, %q
    yield %q, %s, %p
  }
  store %out[0], %a
  store %out[1], %b
  store %out[2], %c
})");
  program.Zeros("out", {3});
  program.Number("n", 10);
  program.Run();
  CHECK(program.Numbers("out") == std::vector<double>{55, 89, 34});
}

TEST_CASE("while loops test first, and stop at their bound", "[interp]") {
  const char* text = R"(
kernel @collatz(%out: buffer<i32, 1>, %start: i32) {
  %v, %n = while MAX carry(%x = %start, %steps = 0) {
    %half = div %x, 2
    continue_if (ne %x, 1)
  } do {
    %odd = ne (and %x, 1), 0
    %next = if %odd { yield (add (mul %x, 3), 1) } else { yield %half }
    yield %next, (add %steps, 1)
  }
  store %out[0], %v
  store %out[1], %n
})";
  auto run = [&](const std::string& bound, double start) {
    std::string with_bound = text;
    with_bound.replace(with_bound.find("MAX"), 3, bound);
    Program program(with_bound);
    program.Zeros("out", {2});
    program.Number("start", start);
    interp::RunResult result = program.Run();
    CHECK(result.loops[0].trips == static_cast<uint64_t>(program.Numbers("out")[1]));
    return program.Numbers("out");
  };
  CHECK(run("", 27) == std::vector<double>{1, 111});
  CHECK(run("max 5", 27) == std::vector<double>{31, 5});
  CHECK(run("max 0", 27) == std::vector<double>{27, 0});
  CHECK(run("", 1) == std::vector<double>{1, 0});
}

TEST_CASE("parallel loops run in any order that is asked for", "[interp]") {
  Program program(R"(
kernel @order(%when: buffer<i32, 2>, %clock: buffer<i32, 0>, %lo: i32) {
  parallel %i, %j in %lo..3, 0..4 {
    %t = atomic add %clock[], 1
    %row = sub %i, %lo
    store %when[%row, %j], %t
  }
})");
  auto run = [&](interp::Order order, uint64_t seed) {
    program.options().order = order;
    program.options().seed = seed;
    program.Zeros("when", {2, 4});
    program.Zeros("clock", {});
    program.Number("lo", 1);
    program.Run();
    CHECK(program.Numbers("clock")[0] == 8);
    return program.Numbers("when");
  };
  std::vector<double> forward = run(interp::Order::Forward, 1);
  CHECK(forward == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(run(interp::Order::Reversed, 1) == std::vector<double>{7, 6, 5, 4, 3, 2, 1, 0});
  bool differs = false;
  for (uint64_t seed = 1; seed < 6; ++seed) {
    std::vector<double> shuffled = run(interp::Order::Shuffled, seed);
    differs = differs || shuffled != forward;
    std::sort(shuffled.begin(), shuffled.end());
    CHECK(shuffled == forward);
  }
  CHECK(differs);
  program.Number("lo", 5);
  program.Run();
}

TEST_CASE("vectors and matrices", "[interp]") {
  CHECK(ResultOf("func @f() -> f64 { %v = vec.make 1.0:f64, 2.0:f64, 3.0:f64\n %r = dot %v, (mul %v, 2.0)\n "
                 "return %r }") == 28);
  CHECK(ResultOf("func @f() -> f64 { %v = vec.make 3.0:f64, 4.0:f64\n %r = norm %v\n return %r }") == 5);
  CHECK(ResultOf(R"(func @f() -> f64 {
  %a = vec.make 1.0:f64, 2.0:f64, 3.0:f64
  %b = vec.make -2.0:f64, 0.5:f64, 4.0:f64
  %c = cross %a, %b
  %r = add (mul 100.0, (vec.get %c, 0)), (add (mul 10.0, (vec.get %c, 1)), (vec.get %c, 2))
  return %r
})") == 100 * 6.5 + 10 * -10 + 4.5);
  CHECK(ResultOf(R"(func @f() -> f64 {
  %m = mat.make 2.0:f64, 1.0:f64, 0.5:f64, 3.0:f64
  %i = mat.mul %m, (inverse %m)
  %r = add (mat.get %i, 0, 0), (add (mat.get %i, 0, 1), (mat.get %i, 1, 1))
  return %r
})") == Approx(2.0).epsilon(1e-14));
  for (int n : {3, 4}) {
    // Inverse and determinant against each other: det(m) det(inverse m) = 1, and m (inverse m) = identity.
    std::string size = std::to_string(n), make = "mat.make ";
    for (int k = 0; k < n * n; ++k)
      make += (k > 0 ? ", " : "") + std::to_string(((k * 7) % 5) + (k % (n + 1) == 0 ? 9.5 : 0.25)) + ":f64";
    CHECK(ResultOf("func @f() -> f64 {\n  %m = " + make +
                   "\n  %i = inverse %m\n  %r = mul (det %m), (det %i)\n  return %r\n}") ==
          Approx(1.0).epsilon(1e-12));
    CHECK(ResultOf("func @f() -> f64 {\n  %m = " + make +
                   "\n  %p = sub (mat.mul %m, (inverse %m)), (identity mat<f64, " + size + ", " + size +
                   ">)\n  %s = for %i in 0.." + size + " carry(%a = 0.0:f64) {\n    %t = for %j in 0.." +
                   size +
                   " carry(%b = %a) {\n      yield (add %b, (abs (mat.get %p, %i, %j)))\n    }\n    yield "
                   "%t\n  }\n  return %s\n}") == Approx(0.0).margin(1e-13));
  }
  CHECK(ResultOf(R"(func @f() -> f64 {
  %a = vec.make 1.0:f64, 2.0:f64
  %b = vec.make 3.0:f64, 4.0:f64, 5.0:f64
  %m = outer %a, %b
  %t = transpose %m
  %x = mat.mul %t, %a
  %y = mat.mul %x, %t
  %r = add (dot %x, %b), (vec.get %y, 1)
  return %r
})") == 250 + (15 * 6 + 20 * 8 + 25 * 10));
  CHECK(ResultOf(R"(func @f() -> f64 {
  %v = for %i in 0..3 carry(%a = (vec.make 0.0:f64, 0.0:f64, 0.0:f64)) {
    %n = vec.set %a, %i, (cast (mul %i, %i) to f64)
    yield %n
  }
  %r = add (mul 10.0, (vec.get %v, 1)), (vec.get %v, 2)
  return %r
})") == 14);
}

TEST_CASE("local arrays are zero in every iteration", "[interp]") {
  Program program(R"(
kernel @arrays(%out: buffer<f32, 1>) {
  parallel %i in 0..shape(%out, 0) {
    %a = alloca array<f32, 4>
    %old = load %a[1]
    %at = rem %i, 4
    store %a[%at], (cast %i to f32)
    %before = load %a[%at]
    store %a[%at], (add %before, 0.5)
    %now = load %a[%at]
    %sum = add %old, (add %before, %now)
    store %out[%i], %sum
  }
})");
  program.Zeros("out", {6});
  program.Run();
  for (int i = 0; i < 6; ++i) CHECK(program.Numbers("out")[static_cast<size_t>(i)] == 2 * i + 0.5);
}

TEST_CASE("layouts, nested levels, and parallel over", "[interp]") {
  Program program(R"(
layout @grid {
  dense[2, 3] { dense[2, 2] { mass: f32  vel: vec<f64, 2>  flag: u8 } }
  total: f32
}
kernel @k(%g: @grid, %count: buffer<i32, 0>) {
  parallel %i, %j over %g::mass {
    %index = add (mul %i, 10), %j
    store %g::mass[%i, %j], (cast %index to f32)
    %f = cast %index to f64
    store %g::vel[%i, %j], (vec.make %f, (neg %f))
    atomic add %g::total[], 1.0
  }
  parallel %i2, %j2 over %g::mass {
    %m = load %g::mass[%i2, %j2]
    %v = load %g::vel[%i2, %j2]
    %same = eq (cast %m to f64), (vec.get %v, 0)
    %opposite = eq (neg (vec.get %v, 0)), (vec.get %v, 1)
    if (and %same, %opposite) { atomic add %count[], 1 }
  }
})");
  program.Run();
  CHECK(program.Numbers("count")[0] == 24);
  const ir::Layout& layout = program.module().layouts[0];
  const ir::LayoutField& total = layout.fields[3];
  float sum = 0;
  std::memcpy(&sum, program.Tensor("g").data.data() + interp::LayoutOffset(total, {}, 0), sizeof sum);
  CHECK(sum == 24.0f);
  const ir::LayoutField& mass = layout.fields[0];
  int64_t at[] = {3, 5};
  float cell = 0;
  std::memcpy(&cell, program.Tensor("g").data.data() + interp::LayoutOffset(mass, at, 0), sizeof cell);
  CHECK(cell == 35.0f);
}

TEST_CASE("atomics give the value before", "[interp]") {
  Program program(R"(
kernel @k(%x: buffer<i32, 1>, %f: buffer<f32, 1>, %old: buffer<i32, 1>) {
  %a = atomic add %x[0], 5
  %b = atomic min %x[1], 3
  %c = atomic max %x[2], 3
  %d = atomic exchange %x[3], 9
  %e = atomic compare_exchange %x[4], 14, 1
  %g = atomic compare_exchange %x[5], 14, 1
  %h = atomic and %x[6], 12
  %i = atomic xor %x[7], 255
  atomic sub %f[0], 0.25
  atomic max %f[1], 7.0
  store %old[0], %a
  store %old[1], %b
  store %old[2], %c
  store %old[3], %d
  store %old[4], %e
  store %old[5], %g
  store %old[6], %h
  store %old[7], %i
})");
  std::vector<double> start{10, 11, 12, 13, 14, 15, 26, 17};
  program.Buffer("x", {8}, start);
  program.Buffer("f", {2}, {1, 2});
  program.Zeros("old", {8});
  program.Run();
  CHECK(program.Numbers("old") == start);
  CHECK(program.Numbers("x") == std::vector<double>{15, 3, 12, 9, 1, 15, 8, 238});
  CHECK(program.Numbers("f") == std::vector<double>{0.75, 7});
}

TEST_CASE("functions call each other, and recursion ends with an error", "[interp]") {
  CHECK(ResultOf(R"(
func @square(%x: f64) -> f64 { %r = mul %x, %x  return %r }
func @sum_and_difference(%a: f64, %b: f64) -> f64, f64 {
  %s = add %a, %b
  %d = sub (call @square(%a)), %b
  return %s, %d
}
func @f() -> f64 {
  %s, %d = call @sum_and_difference(3.0, 4.0)
  %r = add (mul %s, 10.0), %d
  return %r
})") == 75);
  Program program(R"(
func @a(%x: f32) -> f32 { %r = call @b(%x)  return %r }
func @b(%x: f32) -> f32 { %r = call @a(%x)  return %r })");
  interp::RunResult result = program.TryRun();
  CHECK(result.error.kind == ErrorKind::CallDepth);
}

TEST_CASE("constants, print and assert", "[interp]") {
  Program program(R"(
const @half = 0.5 : f32
const @w = [0.25, 0.5, 0.25] : array<f32, 3>
kernel @k(%x: buffer<f32, 1>, %n: i32) {
  %sum = for %i in 0..3 carry(%s = @half) {
    %next = add %s, (load @w[%i])
    yield %next
  }
  %v = vec.make %sum, 2.0
  print "sum = {}, n = {}", %v, %n
  assert (lt %n, 3), "n is small"
  assert (lt %n, 2), "n is smaller"
  store %x[0], %sum
})");
  program.Zeros("x", {1});
  program.Number("n", 3);
  interp::RunResult result = program.Run();
  CHECK(program.Numbers("x")[0] == 1.5);
  CHECK(result.printed == "sum = (1.5, 2.0), n = 3\n");
  CHECK(result.status.code == 2);
  CHECK(result.status.index == 0);
  CHECK(result.status.text == "n is small");
  CHECK(program.sources().Describe(result.status.span).substr(0, 9) == "test.ir:1");
}

TEST_CASE("adstacks, addressed by slot and counted", "[interp]") {
  Program program(R"(
kernel @k(%x: buffer<f32, 1>, %n: i32) {
  %s = stack.new f32
  %t = stack.new i32
  for %i in 0..%n {
    stack.push %s, (load %x[%i])
    %slot = add %i, 2
    stack.push %t, %i at %slot
  }
  for %j in 0..%n reversed {
    %top = stack.top %s
    %v = stack.pop %s
    %two = add %j, 2
    %index = stack.pop %t at %two
    %sum = add (add %top, %v), (cast %index to f32)
    store %x[%j], %sum
  }
})");
  program.Buffer("x", {3}, {10, 20, 30});
  program.Number("n", 3);
  interp::RunResult result = program.Run();
  CHECK(program.Numbers("x") == std::vector<double>{20, 41, 62});
  REQUIRE(result.stacks.size() == 2);
  CHECK(result.stacks[0].pushes == 3);
  CHECK(result.stacks[0].max_depth == 3);
  CHECK(result.stacks[1].max_depth == 5);
}

TEST_CASE("errors of a run name the place", "[interp]") {
  Program outside(
      "kernel @k(%x: buffer<f32, 2>, %i: i32) {\n  %v = load %x[0, %i]\n  store %x[0, 0], (add %v, "
      "1.0)\n}\n");
  outside.Zeros("x", {2, 3});
  for (double i : {-1.0, 3.0}) {
    outside.Number("i", i);
    interp::RunResult result = outside.TryRun();
    CHECK(result.error.kind == ErrorKind::OutOfRange);
    CHECK(interp::Describe(result.error, outside.sources()).substr(0, 10) == "test.ir:2:");
    CHECK(result.error.text ==
          "index 1 of 'load' of 'x' is " + std::to_string(static_cast<int>(i)) + ", the extent is 3");
  }
  outside.options().out_of_range = interp::OutOfRange::Skip;
  interp::RunResult skipped = outside.Run();
  CHECK(skipped.status.code == 3);
  CHECK(outside.Numbers("x")[0] == 1.0);

  Program empty("kernel @k(%x: buffer<f32, 0>) {\n  %s = stack.new f32\n  store %x[], (stack.pop %s)\n}\n");
  CHECK(empty.TryRun().error.kind == ErrorKind::StackEmpty);

  // A pop takes the element: what reads it once more reads what an earlier run of a loop left.
  Program twice(
      "kernel @k(%x: buffer<f32, 0>) {\n  %s = stack.new f32\n  stack.push %s, 1.0 at 1\n"
      "  %a = stack.pop %s at 1\n  store %x[], (stack.pop %s at 1)\n}\n");
  interp::RunResult again = twice.TryRun();
  CHECK(again.error.kind == ErrorKind::StackEmpty);
  CHECK(again.error.text == "slot 1 of an adstack, which was not pushed since it was popped");
  Program gap(
      "kernel @k(%x: buffer<f32, 0>) {\n  %s = stack.new f32\n  stack.push %s, 1.0 at 1\n"
      "  store %x[], (stack.pop %s at 0)\n}\n");
  CHECK(gap.TryRun().error.kind == ErrorKind::StackEmpty);

  Program endless(
      "kernel @k(%x: buffer<f32, 0>) {\n  while carry(%a = 0) { continue_if true } do { yield (add %a, 1) "
      "}\n}\n");
  endless.options().step_budget = 100000;
  CHECK(endless.TryRun().error.kind == ErrorKind::StepBudget);

  Program argument("kernel @k(%x: buffer<f32, 1>) {\n}\n");
  argument.Tensor("x") = interp::Tensor::Zeros(ir::kF64, {2});
  CHECK(argument.TryRun().error.text == "argument 'x' has elements of f64, not f32");
  argument.Tensor("x") = interp::Tensor::Zeros(ir::kF32, {2, 1});
  CHECK(argument.TryRun().error.kind == ErrorKind::Argument);
}

TEST_CASE("promoted runs compute and keep floats in double", "[interp]") {
  const char* text = R"(
kernel @k(%x: buffer<f32, 1>, %h: f16, %bits: buffer<i32, 0>) {
  for %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %s = add (sin %v), (cast %h to f32)
    store %x[%i], %s
    atomic add %x[%i], 1e-10
  }
  %one = bitcast (cast 1.0:f16 to f32) to i32
  store %bits[], %one
})";
  Program program(text);
  program.options().promote_floats = true;
  program.Tensor("x") = interp::Tensor::Filled(ir::Scalar::F64, {2}, std::vector<double>{0.1, 0.7});
  program.Number("h", 0.5);
  program.Run();
  CHECK(program.Numbers("x")[0] == std::sin(0.1) + 0.5 + static_cast<double>(1e-10f));
  CHECK(program.Numbers("x")[1] == std::sin(0.7) + 0.5 + static_cast<double>(1e-10f));
  CHECK(program.Numbers("bits")[0] == 0x3F800000);
  Program rounded(text);
  rounded.options().promote_floats = true;
  rounded.Buffer("x", {1}, {0.25});
  rounded.Number("h", 0.5);
  rounded.Run();
  CHECK(rounded.Numbers("x")[0] == static_cast<double>(static_cast<float>(std::sin(0.25) + 0.5)));
}

TEST_CASE("two parameters may share memory", "[interp]") {
  Program program(R"(
kernel @k(%x: buffer<f32, 1> alias, %y: buffer<f32, 1> alias) {
  for %i in 0..shape(%x, 0) {
    store %y[%i], (add (load %x[%i]), 1.0)
    store %x[%i], (mul (load %y[%i]), 2.0)
  }
})");
  program.Buffer("x", {2}, {1, 2});
  program.Zeros("y", {2});
  program.arguments()[1].shares = 0;
  program.Run();
  CHECK(program.Numbers("x") == std::vector<double>{4, 6});
}
