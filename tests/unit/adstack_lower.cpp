// Lowered kernels at run time: overflow, counters. What the code looks like is in tests/files/opt/lower.

#include "adstack_support.h"

using namespace adc;
using namespace adc::test;

namespace {

std::unique_ptr<Planned> Lower(const std::string& text, adstack::PlanConfig config = {}) {
  auto planned = PlanText(text, config);
  REQUIRE_FALSE(planned->diagnostics.HasErrors());
  REQUIRE(adstack::LowerAdstacks(*planned->module, *planned->kernel, planned->plan, planned->diagnostics));
  return planned;
}

std::string Recurrence(const std::string& bound) {
  return "kernel @k(%x: buffer<f32, 1>, %n: i32, %out: buffer<f32, 1>) {\n"
         "  parallel %i in 0..shape(%x, 0) {\n"
         "    %s = stack.new f32\n    %v0 = load %x[%i]\n"
         "    %last = for %t in 0.." +
         bound +
         " carry(%v = %v0) {\n      stack.push %s, %v at %t\n      yield (mul %v, %v)\n    }\n"
         "    %g = for %u in 0.." +
         bound +
         " reversed carry(%h = 1.0) {\n      %p = stack.pop %s at %u\n      yield (mul %h, (mul 2.0, %p))\n  "
         "  }\n"
         "    store %out[%i], %g\n  }\n}\n";
}

interp::Arguments Numbers(const Planned& planned, std::vector<double> x, int64_t n) {
  interp::Arguments arguments = interp::MakeArguments(*planned.module, *planned.kernel);
  auto length = static_cast<int64_t>(x.size());
  arguments[0].tensor = interp::Tensor::Filled(ir::Scalar::F32, {length}, x);
  SetInteger(arguments, 1, n);
  arguments[2].tensor = interp::Tensor::Zeros(ir::kF32, {length});
  return arguments;
}

}  // namespace

TEST_CASE("an overflow names task, stack and need; the next launch is clean", "[adstack]") {
  auto planned = Lower(Recurrence("%n"));
  interp::Arguments arguments = Numbers(*planned, {1.5, 0.5}, 5);
  LaunchEnv env(*planned->kernel, arguments);
  std::vector<interp::RowTask> small = LayRows(*planned, env, {4}), enough = LayRows(*planned, env);
  interp::RunOptions options;
  options.rows = small;
  interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments, options);
  REQUIRE(result.Ok());
  CHECK(result.status.code == 1);
  CHECK(result.status.task == 0);
  CHECK(result.status.index == 0);
  CHECK(result.status.needed == 5);
  options.rows = enough;
  result = interp::Run(*planned->module, *planned->kernel, arguments, options);
  REQUIRE(result.Ok());
  CHECK(result.status.code == 0);
  double expected = 1, v = 1.5;
  for (int t = 0; t < 5; ++t) {
    expected *= 2 * v;
    v = static_cast<float>(v * v);
  }
  CHECK(arguments[2].tensor.Get(0) == Approx(expected).epsilon(1e-6));
}

TEST_CASE("a while stops at its capacity", "[adstack]") {
  std::string text =
      "kernel @k(%x: buffer<f32, 1>, %n: i32, %out: buffer<f32, 1>) {\n"
      "  parallel %i in 0..shape(%x, 0) {\n"
      "    %s = stack.new f32\n    %v0 = load %x[%i]\n"
      "    %count, %last = while carry(%k = 0, %v = %v0) {\n      continue_if (gt %v, 1.0)\n    } do {\n"
      "      stack.push %s, %v at %k\n      yield (add %k, 1), (mul %v, 0.5)\n    }\n"
      "    for %t in 0..%count reversed {\n      %p = stack.pop %s at %t\n      atomic add %out[%i], %p\n    "
      "}\n  }\n}\n";
  auto planned = Lower(text);
  INFO(planned->Text());
  interp::Arguments arguments = Numbers(*planned, {100.0, 3.0}, 0);
  LaunchEnv env(*planned->kernel, arguments);
  interp::RunOptions options;
  std::vector<interp::RowTask> rows = LayRows(*planned, env, {7});
  options.rows = rows;
  interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments, options);
  REQUIRE(result.Ok());
  CHECK(result.status.code == 0);  // 100 halves seven times
  CHECK(arguments[2].tensor.Get(0) == Approx(100 + 50 + 25 + 12.5 + 6.25 + 3.125 + 1.5625));
  CHECK(arguments[2].tensor.Get(1) == Approx(4.5));
  arguments[2].tensor = interp::Tensor::Zeros(ir::kF32, {2});
  rows = LayRows(*planned, env, {3});
  options.rows = rows;
  result = interp::Run(*planned->module, *planned->kernel, arguments, options);
  REQUIRE(result.Ok());
  CHECK(result.status.code == 1);
  CHECK(result.status.needed == 4);
}

TEST_CASE("stacks without slots count, and top reads without taking", "[adstack]") {
  std::string text =
      "kernel @k(%x: buffer<f32, 1>, %n: i32, %out: buffer<f32, 1>) {\n"
      "  parallel %i in 0..shape(%x, 0) {\n"
      "    %s = stack.new f32\n    %v0 = load %x[%i]\n"
      "    for %t in 0..%n {\n      %f = cast %t to f32\n      if (eq (rem %t, 2), 0) {\n        stack.push "
      "%s, %f\n      }\n"
      "      stack.push %s, %v0\n    }\n"
      "    for %u in 0..%n reversed {\n      %p = stack.pop %s\n      atomic add %out[%i], %p\n"
      "      if (eq (rem %u, 2), 0) {\n        %q = stack.top %s\n        %r = stack.pop %s\n"
      "        atomic add %out[%i], (add %q, %r)\n      }\n    }\n  }\n}\n";
  auto planned = Lower(text);
  INFO(planned->Text() << planned->PlanText());
  interp::Arguments arguments = Numbers(*planned, {10.0}, 5);
  LaunchEnv env(*planned->kernel, arguments);
  interp::RunOptions options;
  std::vector<interp::RowTask> rows = LayRows(*planned, env);
  CHECK(rows[0].stack_capacity[0] == 8);
  options.rows = rows;
  interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments, options);
  REQUIRE(result.Ok());
  CHECK(result.status.code == 0);
  CHECK(arguments[2].tensor.Get(0) == Approx(5 * 10 + 2 * (0 + 2 + 4)));
}
