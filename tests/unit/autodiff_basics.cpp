// Elementary operations, conventions, types, vectors, functions (behaviours 1.7, 1.12, 1.13).

#include <catch2/catch.hpp>
#include <cmath>

#include "autodiff_harness.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::testing;

namespace {

/// y[i] = body(%v, %w), %v = x[i], %w = z[i].
std::string Elementwise(const std::string& body) {
  return R"(
kernel @k(%x: buffer<real, 1> diff, %z: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %w = load %z[%i]
    %r = )" +
         body + R"(
    store %y[%i], %r
  }
})";
}

}  // namespace

TEST_CASE("autodiff: every operation, both operands") {
  for (const char* body : {"neg %v",
                           "abs (sub %v, %w)",
                           "sqrt (mul %v, %w)",
                           "rsqrt %v",
                           "rcp %v",
                           "sin %v",
                           "cos %v",
                           "tan %v",
                           "asin (mul %v, 0.7)",
                           "acos (mul %v, 0.7)",
                           "atan %v",
                           "sinh %v",
                           "cosh %v",
                           "tanh %v",
                           "exp %v",
                           "exp2 %v",
                           "log %v",
                           "log2 %v",
                           "erf %v",
                           "add %v, %w",
                           "sub %v, %w",
                           "mul %v, %w",
                           "div %v, %w",
                           "rem %v, 0.31",
                           "rem (mul %v, 3.0), %w",
                           "mod %v, 0.31",
                           "mod (mul %v, 3.0), %w",
                           "mod (neg %v), %w",
                           "pow %v, %w",
                           "pow %v, 2.0",
                           "pow %v, 1.0",
                           "pow %v, 0.0",
                           "pow %v, 2.5",
                           "pow 0.4, %v",
                           "atan2 %v, %w",
                           "atan2 (neg %v), 0.4",
                           "min %v, %w",
                           "max %v, %w",
                           "min %v, 0.5",
                           "max 0.5, %v",
                           "fma %v, %w, %v",
                           "clamp %v, 0.4, %w",
                           "clamp (mul %v, %w), (mul %w, 0.5), 0.8",
                           "mul %v, %v",
                           "div %v, %v",
                           "mul (floor (mul %v, 7.0)), %w",
                           "add (ceil %v), (round %w)",
                           "floordiv %v, %w",
                           "mul (sgn %v), %w",
                           "stop_gradient %v",
                           "mul (stop_gradient %v), %v",
                           "cast (cast %v to f64) to real",
                           "cast (cast (mul %v, 9.0) to i32) to real",
                           "div (add %v, 1.0), (sub %v, 3.0)",
                           "sub %v, (mul %w, (floor (div %v, %w)))",
                           "select (gt %v, %w), (mul %v, 2.0), (mul %w, 3.0)"}) {
    INFO(body);
    // Differences do not see through stop_gradient.
    bool smooth = std::string(body).find("stop_gradient") == std::string::npos;
    CheckDerivatives(Elementwise(body), {{"x", Random({6})}, {"z", Random({6}, 0.3, 1.1)}, {"y", Zeros({6})}},
                     {.f32_tolerance = 1e-3, .f64_tolerance = 1e-9, .differences = smooth});
  }
}

TEST_CASE("autodiff: ties go to the second operand, clamp's to the limit") {
  auto both = [&](const std::string& body) {
    std::map<std::string, Input> inputs{
        {"x", Given({1}, {0.5})}, {"z", Given({1}, {0.5})}, {"y", Zeros({1})}};
    return std::pair(AdjointOf(Elementwise(body), inputs, "x", "y")[0],
                     AdjointOf(Elementwise(body), inputs, "z", "y")[0]);
  };
  CHECK(both("min %v, %w") == std::pair(0.0, 1.0));
  CHECK(both("max %v, %w") == std::pair(0.0, 1.0));
  CHECK(both("clamp %v, %w, 3.0") == std::pair(0.0, 1.0));
  CHECK(both("clamp %v, -1.0, %w") == std::pair(0.0, 1.0));
}

TEST_CASE("autodiff: pow at zero") {
  auto slopes = [&](const std::string& body, double x, double z) {
    std::map<std::string, Input> inputs{{"x", Given({1}, {x})}, {"z", Given({1}, {z})}, {"y", Zeros({1})}};
    return std::pair(AdjointOf(Elementwise(body), inputs, "x", "y")[0],
                     AdjointOf(Elementwise(body), inputs, "z", "y")[0]);
  };
  CHECK(slopes("pow %v, %w", 0.0, 2.0) == std::pair(0.0, 0.0));
  CHECK(slopes("pow %v, %w", 0.0, 0.0).first == 0.0);
  CHECK(slopes("pow %v, 3.0", -2.0, 0.0).first == Approx(12.0));
  Compiled gradient = Gradient(Elementwise("pow %v, 2.5"));
  CHECK(CountOps(gradient, ir::Op::Log) == 0);
}

TEST_CASE("autodiff: integers run and have no gradient") {
  Compiled gradient = Gradient(R"(
kernel @k(%x: buffer<i32, 1>, %y: buffer<i32, 1>) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (rem (load %x[%i]), 3)  atomic add %y[0], 1 }
})");
  REQUIRE(gradient.derived != nullptr);
  CHECK(CountOps(gradient, ir::Op::Store) == 0);
  CHECK(gradient.Errors().find("W0401") != std::string::npos);
}

TEST_CASE("autodiff: selections, atomic sums and differences, mixed precision") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %z: buffer<real, 1> diff, %y: buffer<real, 0> diff, %d: buffer<f64, 0> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %w = load %z[%i]
    %c = ne (rem %i, 2), 0
    atomic add %y[], (mul (select %c, %v, %w), 42.0)
    atomic sub %y[], (mul %w, %v)
    atomic add %d[], (cast (mul %v, %v) to f64)
  }
})",
                   {{"x", Random({5})}, {"z", Random({5})}, {"y", Zeros({})}, {"d", Zeros({})}});
}

TEST_CASE("autodiff: a chain of stores and loads in one kernel") {
  const char* text = R"(
kernel @k(%x: buffer<real, 0> diff, %a: buffer<real, 0> diff, %b: buffer<real, 0> diff, %c: buffer<real, 0> diff) {
  store %a[], (load %x[])
  store %b[], (mul (load %a[]), 2.0)
  store %c[], (mul (load %b[]), 3.0)
})";
  std::map<std::string, Input> inputs{
      {"x", Given({}, {0.5})}, {"a", Zeros({})}, {"b", Zeros({})}, {"c", Zeros({})}};
  CHECK(AdjointOf(text, inputs, "x", "c") == std::vector<double>{6});
  CHECK(AdjointOf(text, inputs, "a", "c") == std::vector<double>{0});
  CheckDerivatives(text, inputs);
}

TEST_CASE("autodiff: scalar parameters, by-value vectors") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<vec<real, 2>, 1> diff, %y: buffer<vec<real, 2>, 1> diff, %c: real diff, %z: vec<real, 2> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %s = mul %v, (sin %c)
    %t = vec.get %z, 0
    %r = for %j in 0..3 carry(%a = %s) {
      %d = dot %a, %z
      %g = gt %d, 0.2
      %b = if %g { %q = mul %a, %t  yield %q } else { %q2 = add %a, %z  yield %q2 }
      yield %b
    }
    store %y[%i], %r
  }
})",
                   {{"x", Random({4})}, {"y", Zeros({4})}, {"c", Number(0.8)}, {"z", Number(0.6)}});
}

TEST_CASE("autodiff: matrices") {
  CheckDerivatives(R"(
kernel @k(%m: buffer<mat<real, 3, 3>, 1> diff, %v: buffer<vec<real, 3>, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%m, 0) {
    %a = load %m[%i]
    %b = load %v[%i]
    %inv = inverse (add %a, (mul (identity mat<real, 3, 3>), 2.0))
    %c = mat.mul %inv, (normalize %b)
    %d = det (add %a, (outer %b, %c))
    store %y[%i], (add (mul %d, (norm %c)), (dot %b, (cross %b, %c)))
  }
})",
                   {{"m", Random({3})}, {"v", Random({3})}, {"y", Zeros({3})}}, {.f32_tolerance = 3e-3});
}

TEST_CASE("autodiff: layouts") {
  // Fields with diff have adjoints in a second buffer of the same layout, at the same offsets.
  const char* text = R"(
layout @grid { dense[4, 4] { mass: real diff  vel: vec<real, 3> diff  flags: u32  sum: real diff } }
kernel @k(%g: @grid, %y: buffer<real, 0> diff) {
  parallel %i, %j over %g::mass {
    %m = load %g::mass[%i, %j]
    %v = load %g::vel[%i, %j]
    atomic add %y[], (mul (norm %v), (sin %m))
    store %g::sum[%i, %j], (add %m, (vec.get %v, 1))
  }
})";
  Compiled gradient = Gradient(text, "f64");
  REQUIRE(gradient.derived != nullptr);
  const ir::Module& module = *gradient.module;
  const ir::Layout& layout = module.layouts[0];
  interp::Arguments arguments = interp::MakeArguments(module, *gradient.derived);
  uint32_t adjoint = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint, 0);
  uint32_t seed = interp::CompanionIndex(*gradient.derived, ir::ParamRole::Adjoint, 1);
  REQUIRE(adjoint != ir::kNoAttr);
  REQUIRE(gradient.derived->TypeOf(gradient.derived->Params()[adjoint]).IsLayout());
  auto cell = [&](uint32_t argument, uint32_t field, int64_t i, int64_t j, uint32_t component) -> double& {
    int64_t indices[] = {i, j};
    uint64_t offset = interp::LayoutOffset(layout.fields[field], indices, component);
    return arguments[argument].tensor.As<double>()[offset / sizeof(double)];
  };
  arguments[seed].tensor.Set(0, 2.0);
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      cell(0, 0, i, j, 0) = 0.1 * static_cast<double>(i + 4 * j);
      for (uint32_t c = 0; c < 3; ++c) cell(0, 1, i, j, c) = 0.5 + 0.1 * static_cast<double>(c + i);
      cell(adjoint, 0, i, j, 0) = 10.0;
      cell(adjoint, 3, i, j, 0) = 3.0;
    }
  }
  interp::RunResult result = interp::Run(module, *gradient.derived, arguments);
  INFO(interp::Describe(result.error, *gradient.sources));
  REQUIRE(result.Ok());
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      double m = cell(0, 0, i, j, 0), norm = 0;
      for (uint32_t c = 0; c < 3; ++c) norm += cell(0, 1, i, j, c) * cell(0, 1, i, j, c);
      norm = std::sqrt(norm);
      CHECK(cell(adjoint, 0, i, j, 0) == Approx(10.0 + 3.0 + 2.0 * norm * std::cos(m)));
      for (uint32_t c = 0; c < 3; ++c)
        CHECK(cell(adjoint, 1, i, j, c) ==
              Approx((c == 1 ? 3.0 : 0.0) + 2.0 * std::sin(m) * cell(0, 1, i, j, c) / norm).margin(1e-12));
      CHECK(cell(adjoint, 3, i, j, 0) == 0.0);
    }
  }
}

TEST_CASE("autodiff: functions are inlined, derivatives of their own are called") {
  CheckDerivatives(R"(
func @square(%a: real) -> real { return (mul %a, %a) }
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { %r = call @square((load %x[%i]))  store %y[%i], (mul %r, %r) }
})",
                   {{"x", Random({3})}, {"y", Zeros({3})}});
  const char* text = R"(
func @f(%a: real, %b: real) -> real vjp @f_vjp jvp @f_jvp { return (mul (sin %a), %b) }
func @f_vjp(%a: real, %b: real, %g: real) -> real, real {
  return (mul %g, (mul (cos %a), %b)), (mul %g, (sin %a))
}
func @f_jvp(%a: real, %b: real, %da: real, %db: real) -> real {
  return (add (mul %da, (mul (cos %a), %b)), (mul %db, (sin %a)))
}
kernel @k(%x: buffer<real, 1> diff, %z: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %w = load %z[%i]
    %r = for %j in 0..4 carry(%a = %v) { %b = call @f(%a, %w)  yield %b }
    store %y[%i], %r
  }
})";
  CheckDerivatives(text, {{"x", Random({3})}, {"z", Random({3})}, {"y", Zeros({3})}});
  // The user's derivative is used, right or wrong.
  std::string wrong = text;
  wrong.replace(wrong.find("(mul %g, (sin %a))"), 18, "(mul %g, 100.0)");
  std::vector<double> g =
      AdjointOf(wrong, {{"x", Random({1})}, {"z", Given({1}, {1})}, {"y", Zeros({1})}}, "z", "y");
  CHECK(g[0] > 50);
}

TEST_CASE("autodiff: a function with a vector and its own derivative") {
  CheckDerivatives(R"(
func @f(%a: vec<real, 2>, %s: real) -> vec<real, 2> vjp @f_vjp jvp @f_jvp { return (mul %a, (mul %s, %s)) }
func @f_vjp(%a: vec<real, 2>, %s: real, %g: vec<real, 2>) -> vec<real, 2>, real {
  return (mul %g, (mul %s, %s)), (mul (dot %a, %g), (mul %s, 2.0))
}
func @f_jvp(%a: vec<real, 2>, %s: real, %da: vec<real, 2>, %ds: real) -> vec<real, 2> {
  return (add (mul %da, (mul %s, %s)), (mul %a, (mul %ds, (mul %s, 2.0))))
}
kernel @k(%x: buffer<vec<real, 2>, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %l = norm %v
    %r = call @f(%v, %l)
    store %y[%i], (mul (vec.get %r, 0), (vec.get %r, 1))
  }
})",
                   {{"x", Random({3})}, {"y", Zeros({3})}});
}

TEST_CASE("autodiff: a kernel that names its own reverse kernel") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) grad @k_bwd {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (mul (load %x[%i]), 2.0) }
}
kernel @k_bwd(%x: buffer<real, 1>, %y: buffer<real, 1>, %gx: buffer<real, 1>, %gy: buffer<real, 1>) {
  parallel %i in 0..shape(%x, 0) { atomic add %gx[%i], (mul (load %gy[%i]), 4.0) }
})";
  CHECK(AdjointOf(text, {{"x", Random({2})}, {"y", Zeros({2})}}, "x", "y") == std::vector<double>{4, 4});
}

TEST_CASE("autodiff: without diff there is no adjoint") {
  Compiled gradient = Gradient(R"(
kernel @k(%x: buffer<real, 1>, %z: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (mul (load %x[%i]), (sin (load %z[%i]))) }
})");
  REQUIRE(gradient.derived != nullptr);
  CHECK(gradient.derived->params.size() == 5);
  CHECK(CountOps(gradient, ir::Op::AddTo) == 1);
  CHECK(CountOps(gradient, ir::Op::Sin) == 0);
}
