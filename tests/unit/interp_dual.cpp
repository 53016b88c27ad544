// Dual numbers: every derivative rule against central differences of the interpreter's own values, the
// conventions, and derivatives through memory, control and calls.

#include <cmath>
#include <cstring>

#include "../support/gradient_check.h"
#include "../support/program.h"
#include "ir/module.h"

using namespace adc;
using test::Program;

namespace {

/// Value and derivative of func @f(f64, ...) -> f64 along a direction.
struct ValueAndTangent {
  double value, tangent;
};
ValueAndTangent Evaluate(Program& program, const std::vector<double>& at, const std::vector<double>& along) {
  for (size_t n = 0; n < at.size(); ++n) {
    program.arguments()[n] = interp::NumberArgument(ir::kF64, at[n]);
    program.tangents()[n] = {along[n]};
  }
  interp::RunResult result = program.RunDual();
  return {ir::FloatFromBits(ir::Scalar::F64, result.results[0][0]), result.result_tangents[0][0]};
}

double Difference(Program& program, const std::vector<double>& at, const std::vector<double>& along) {
  return test::CentralDifference(
      [&](double t) {
        std::vector<double> moved = at;
        for (size_t n = 0; n < at.size(); ++n) moved[n] += t * along[n];
        return Evaluate(program, moved, along).value;
      },
      1e-4);
}

std::string FuncOf(const std::string& op, size_t operands) {
  std::string params, names;
  for (size_t n = 0; n < operands; ++n) {
    params += (n > 0 ? ", %a" : "%a") + std::to_string(n) + ": f64";
    names += (n > 0 ? ", %a" : "%a") + std::to_string(n);
  }
  return "func @f(" + params + ") -> f64 {\n  %r = " + op + " " + names + "\n  return %r\n}\n";
}

double SlopeAt(const std::string& op, std::vector<double> at, std::vector<double> along) {
  Program program(FuncOf(op, at.size()));
  return Evaluate(program, at, along).tangent;
}

}  // namespace

TEST_CASE("slopes of all operations agree with central differences", "[interp]") {
  for (uint32_t n = 0; n < ir::kOpCount; ++n) {
    auto op = static_cast<ir::Op>(n);
    const ir::OpInfo& info = ir::InfoOf(op);
    size_t operands = info.form == ir::OpForm::Unary     ? 1
                      : info.form == ir::OpForm::Binary  ? 2
                      : info.form == ir::OpForm::Ternary ? 3
                                                         : 0;
    bool floats = info.rule == ir::TypeRule::SameNumber || info.rule == ir::TypeRule::SameNumberScale ||
                  info.rule == ir::TypeRule::SameFloat;
    if (operands == 0 || !floats) continue;
    Program program(FuncOf(std::string(info.spelling), operands));
    for (std::vector<double> at : {std::vector<double>{0.37, 0.83, 1.4}, {0.91, 0.23, 0.6}}) {
      at.resize(operands);
      if (op == ir::Op::Acosh) at[0] += 1;  // its domain
      for (size_t k = 0; k < operands; ++k) {
        std::vector<double> along(operands, 0.0);
        along[k] = 1;
        INFO(info.spelling << " operand " << k << " at " << at[0]);
        CHECK(Evaluate(program, at, along).tangent ==
              Approx(Difference(program, at, along)).epsilon(1e-9).margin(1e-9));
      }
    }
  }
}

TEST_CASE("conventions of derivatives", "[interp]") {
  CHECK(SlopeAt("abs", {0.0}, {1}) == 0);
  CHECK(SlopeAt("abs", {-2.0}, {1}) == -1);
  CHECK(SlopeAt("min", {1.0, 1.0}, {1, 0}) == 0);
  CHECK(SlopeAt("min", {1.0, 1.0}, {0, 1}) == 1);
  CHECK(SlopeAt("max", {1.0, 1.0}, {1, 5}) == 5);
  CHECK(SlopeAt("clamp", {2.0, 0.0, 2.0}, {1, 10, 100}) == 100);
  CHECK(SlopeAt("clamp", {0.0, 0.0, 2.0}, {1, 10, 100}) == 10);
  CHECK(SlopeAt("clamp", {1.0, 0.0, 2.0}, {1, 10, 100}) == 1);
  CHECK(SlopeAt("log", {-1.0}, {1}) == -1);
  CHECK(SlopeAt("pow", {-2.0, 3.0}, {1, 0}) == 12);
  CHECK(SlopeAt("pow", {0.0, 2.0}, {0, 1}) == 0);
  CHECK(SlopeAt("pow", {0.0, 0.0}, {1, 0}) == 0);
  CHECK(SlopeAt("mod", {-7.5, 2.0}, {1, 1}) == 1 + 4);
  CHECK(SlopeAt("rem", {-7.5, 2.0}, {1, 1}) == 1 + 3);
  CHECK(SlopeAt("floordiv", {7.5, 2.0}, {1, 1}) == 0);
  CHECK(SlopeAt("stop_gradient", {3.0}, {1}) == 0);
  CHECK(SlopeAt("sqrt", {0.0}, {0}) == 0);
  CHECK(SlopeAt("hypot", {0.0, 0.0}, {1, 1}) == 0);
  CHECK(SlopeAt("hypot", {3.0, -4.0}, {1, 10}) == Approx(0.6 - 8));
  CHECK(SlopeAt("fdim", {1.0, 1.0}, {1, 5}) == 0);
  CHECK(SlopeAt("fdim", {2.0, 1.0}, {1, 5}) == -4);
  CHECK(SlopeAt("copysign", {2.0, -0.0}, {1, 5}) == -1);
  Program cast(
      "func @f(%a: f64) -> f64 { %i = cast %a to i32\n %r = add (cast %i to f64), (cast (cast %a to f32) to "
      "f64)\n return %r }");
  CHECK(Evaluate(cast, {2.5}, {1}).tangent == 1);
  Program branch(R"(func @f(%a: f64) -> f64 {
  %r = if (gt %a, 0.0) { yield (div 1.0, %a) } else { yield 0.0 }
  return %r
})");
  CHECK(Evaluate(branch, {0.0}, {1}).tangent == 0);
  CHECK(Evaluate(branch, {2.0}, {1}).tangent == -0.25);
}

TEST_CASE("derivatives through loops, arrays, vectors and memory", "[interp]") {
  Program program(R"(
const @w = [0.25, 0.5, 0.75] : array<f64, 3>
kernel @k(%x: buffer<vec<f64, 3>, 1> diff, %y: buffer<f64, 1> diff, %low: buffer<f64, 0> diff, %c: f64 diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %a = alloca array<f64, 4>
    %s, %u = for %t in 0..%n carry(%p = %c, %q = %v) {
      %slot = rem %t, 4
      %k = rem %t, 3
      %old = load %a[%slot]
      %p2 = add (sin (mul %p, (load @w[%k]))), (vec.get %q, %k)
      store %a[%slot], (fma %p, %old, %p2)
      %m = mat.make %p2, %p, (vec.get %q, 0), 2.0
      %inv = mul (inverse %m), 0.1
      %q2 = normalize (add %q, (vec.make (mat.get %inv, 0, 0), (det %m), %old))
      yield %p2, %q2
    }
    %three = load %a[3]
    store %y[%i], (add (mul %s, %three), (dot %u, %v))
    atomic min %low[], %three
  }
})");
  const std::vector<double> x{0.3, 0.5, 0.7, 1.1, 0.2, 0.9};
  auto prepare = [&](const test::Point& at) {
    program.Zeros("x", {2});
    for (size_t n = 0; n < 6; ++n) program.Tensor("x").Set(static_cast<int64_t>(n), at[0][n]);
    program.Number("c", at[1][0]);
    program.Zeros("y", {2});
    program.Buffer("low", {}, {1e9});
    program.Number("n", 7);
  };
  test::GradientProblem problem;
  problem.at = {x, {0.4}};
  problem.value = [&](const test::Point& at) {
    prepare(at);
    program.Run();
    return program.Numbers("y")[0] + 2 * program.Numbers("y")[1] + 3 * program.Numbers("low")[0];
  };
  problem.tangent = [&](const test::Point& at, const test::Point& along) {
    prepare(at);
    program.Tangent("x") = along[0];
    program.Tangent("c") = along[1];
    program.Tangent("y") = {9, 9};
    program.Tangent("low") = {7};
    program.RunDual();
    return program.Tangent("y")[0] + 2 * program.Tangent("y")[1] + 3 * program.Tangent("low")[0];
  };
  test::GradientCheckOptions options;
  options.step = 1e-3;
  test::GradientReport report = test::CheckGradient(problem, options);
  CHECK(report.largest > 1);
  CHECK(report.tangent_to_differences < 1e-7);
}

TEST_CASE("tangents of layouts, adstacks, add_to and f32 values", "[interp]") {
  Program program(R"(
layout @cell { dense[3] { a: f32 diff  b: vec<f32, 2> diff } }
kernel @k(%g: @cell diff, %sum: buffer<f32, 0> diff) {
  %s = stack.new f32
  for %i in 0..3 {
    %v = load %g::b[%i]
    stack.push %s, (mul (load %g::a[%i]), (vec.get %v, 1))
  }
  for %j in 0..3 reversed {
    %p = stack.pop %s
    add_to %sum[], (mul %p, %p)
    store %g::a[%j], %p
  }
})");
  const ir::Layout& layout = program.module().layouts[0];
  for (int64_t i = 0; i < 3; ++i) {
    std::vector<std::byte>& data = program.Tensor("g").data;
    float a = 0.5f + static_cast<float>(i), b = 3.0f - static_cast<float>(i);
    uint64_t a_at = interp::LayoutOffset(layout.fields[0], {&i, 1}, 0);
    uint64_t b_at = interp::LayoutOffset(layout.fields[1], {&i, 1}, 1);
    std::memcpy(data.data() + a_at, &a, sizeof a);
    std::memcpy(data.data() + b_at, &b, sizeof b);
    program.Tangent("g").resize((layout.byte_size + 1) / 2);
    program.Tangent("g")[a_at / 2] = 0.1;
    program.Tangent("g")[b_at / 2] = -0.01 * static_cast<double>(i);
  }
  program.RunDual();
  double value = 0, tangent = 0;
  for (int i = 0; i < 3; ++i) {
    double a = 0.5 + i, b = 3.0 - i, p = a * b, dp = 0.1 * b - 0.01 * i * a;
    value += p * p;
    tangent += 2 * p * dp;
    int64_t at = i;
    CHECK(program.Tangent("g")[interp::LayoutOffset(layout.fields[0], {&at, 1}, 0) / 2] ==
          Approx(dp).epsilon(1e-14));
  }
  CHECK(program.Numbers("sum")[0] == value);
  CHECK(program.Tangent("sum")[0] == Approx(tangent).epsilon(1e-14));
}

TEST_CASE("a function's own forward derivative is used", "[interp]") {
  Program program(R"(
func @step_jvp(%x: f64, %k: i32, %dx: f64) -> f64 {
  %r = mul %dx, 100.0
  return %r
}
func @step(%x: f64, %k: i32) -> f64 jvp @step_jvp {
  %r = add (floor %x), (cast %k to f64)
  return %r
}
func @f(%a: f64) -> f64 {
  %v = call @step((mul %a, 2.0), 3)
  %r = mul %v, %a
  return %r
})");
  ValueAndTangent result = Evaluate(program, {1.25}, {1});
  CHECK(result.value == 5 * 1.25);
  CHECK(result.tangent == 200 * 1.25 + 5);
}
