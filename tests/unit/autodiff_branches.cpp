// Branches (behaviours 1.8, 1.11): a branch stays a branch in the adjoint sweep.

#include <catch2/catch.hpp>

#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

TEST_CASE("autodiff: conditions on data") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 0> diff, %y: buffer<real, 0> diff) {
  %v = load %x[]
  %c = gt %v, 0.0
  if %c { store %y[], (mul %v, %v) }
})",
                   {{"x", Given({}, {0.4})}, {"y", Given({}, {1.5})}});
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %c = gt %v, 0.0
    if %c { store %y[%i], %v } else { store %y[%i], (mul %v, 2.0) }
  }
})";
  CHECK(AdjointOf(text, {{"x", Given({2}, {1, -1})}, {"y", Zeros({2})}}, "x", "y") ==
        std::vector<double>{1, 2});
}

TEST_CASE("autodiff: a store of a constant clears, one not executed does not") {
  const char* text = R"(
kernel @k(%z: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%z, 0) {
    %v = load %z[%i]
    %m = mod %i, 4
    %a = lt %m, 2
    if %a {
      %b = eq %m, 0
      if %b { store %y[%i], 5.0 } else { store %y[%i], (mul %v, (cast %m to real)) }
    } else {
      %b2 = eq %m, 2
      if %b2 { store %y[%i], (mul %v, (cast %m to real)) } else { store %y[%i], (mul %v, 3.0) }
    }
  }
})";
  std::map<std::string, Input> inputs{{"z", Random({6})}, {"y", Random({6})}};
  CHECK(AdjointOf(text, inputs, "z", "y") == std::vector<double>{0, 1, 2, 3, 0, 1});
  CheckDerivatives(text, inputs);
  CheckDerivatives(R"(
kernel @k(%z: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%z, 0) {
    %e = eq (mod %i, 2), 0
    if %e { store %y[%i], (sin (load %z[%i])) }
  }
})",
                   inputs);
}

TEST_CASE("autodiff: no infinity meets a zero") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %c = gt %v, 0.0
    %t = if %c { %r = div 1.0, %v  yield %r } else { yield 0.0 }
    store %y[%i], %t
  }
})";
  std::vector<double> g = AdjointOf(text, {{"x", Given({2}, {0, 2})}, {"y", Zeros({2})}}, "x", "y");
  CHECK(g == std::vector<double>{0, -0.25});
}

TEST_CASE("autodiff: a vector that is reassigned in branches") {
  CheckDerivatives(R"(
kernel @k(%pos: buffer<vec<real, 3>, 1> diff, %f: buffer<vec<real, 3>, 1> diff, %bend: real diff) {
  parallel %i in 0..shape(%pos, 0) {
    for %n in 0..6 {
      %p = load %pos[%i]
      %first = lt %n, 2
      %v = if %first {
        %one = vec.make 1.0:real, 2.0, 3.0
        yield %one
      } else {
        %s = mul %p, %bend
        %q = cross %p, %s
        %l = norm (add %s, %q)
        %w = mul %s, %l
        yield %w
      }
      %j = rem (add %i, %n), shape(%f, 0)
      %v0 = vec.get %v, 0
      atomic add %f[%j], %v
    }
  }
})",
                   {{"pos", Random({4})}, {"f", Zeros({5})}, {"bend", Number(0.6)}});
}

TEST_CASE("autodiff: exactly zero outside of nested conditions") {
  const char* text = R"(
kernel @k(%w: buffer<real, 1> diff, %loss: buffer<real, 0> diff) {
  parallel %i in 0..shape(%w, 0) {
    %v = load %w[%i]
    %a = gt %v, 0.0
    if %a {
      %b = lt %v, 10.0
      if %b { atomic add %loss[], (mul %v, %v) }
    }
  }
})";
  std::map<std::string, Input> inputs{{"w", Given({4}, {-1, 3, 20, 0.5})}, {"loss", Zeros({})}};
  CHECK(AdjointOf(text, inputs, "w", "loss") == std::vector<double>{0, 6, 0, 1});
  CheckDerivatives(text, inputs);
}

TEST_CASE("autodiff: a condition on a carried value, replayed per iteration") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r = for %j in 0..%n carry(%a = %v) {
      %c = gt %a, 0.7
      %b = if %c {
        %s = mul %a, 0.5
        yield %s
      } else {
        %d = lt %a, 0.4
        %e = if %d { %p = add (mul %a, 3.0), 0.05  yield %p } else { %p2 = mul %a, (add %a, 1.0)  yield %p2 }
        yield %e
      }
      yield %b
    }
    store %y[%i], %r
  }
})",
                   {{"x", Random({6}, 0.1, 1.3)}, {"y", Zeros({6})}, {"n", Number(9)}}, {.second = true});
}

TEST_CASE("autodiff: deep branches with needed results are evaluated once and stay small") {
  // Each level uses the inner level's result nonlinearly, so every branch runs forward.
  auto nest = [](int depth) {
    std::string text =
        "kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {\n"
        "  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n";
    for (int d = 0; d < depth; ++d) {
      std::string n = std::to_string(d);
      text += "%c" + n + " = gt %v" + n + ", -5.0\n%r" + n + " = if %c" + n + " {\n%v" +
              std::to_string(d + 1) + " = sin (mul %v" + n + ", 1.1)\n";
    }
    text += "%r" + std::to_string(depth) + " = exp %v" + std::to_string(depth) + "\n";
    for (int d = depth - 1; d >= 0; --d) {
      std::string n = std::to_string(d);
      text += "%q" + n + " = mul %r" + std::to_string(d + 1) + ", %v" + std::to_string(d + 1) + "\nyield %q" +
              n + "\n} else {\nyield 0.5\n}\n";
    }
    return text + "    store %y[%i], (mul %r0, %r0)\n  }\n}\n";
  };
  CheckDerivatives(nest(4), {{"x", Random({3})}, {"y", Zeros({3})}});
  CheckDerivatives(nest(12), {{"x", Random({3})}, {"y", Zeros({3})}});
  Compiled four = Gradient(nest(4));
  CHECK(CountOps(four, ir::Op::Exp) == 1);
  size_t size_20 = Gradient(nest(20)).derived->InstCount();
  size_t size_80 = Gradient(nest(80)).derived->InstCount();
  CHECK(size_80 < size_20 * 8);
}

TEST_CASE("autodiff: a loop inside a branch inside a loop") {
  CheckDerivatives(
      R"(
kernel @k(%x: buffer<real, 1> diff, %active: buffer<i32, 1>, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %on = ne (load %active[%i]), 0
    %r = if %on {
      %s, %t = for %k in 0..%n carry(%a = %v, %sum = 0.0:real) {
        %b = mul %a, (cos %a)
        %big = gt %b, 0.3
        %u = if %big {
          %w = for %m in 0..%k carry(%z = %b) { %z2 = sin (add %z, %v)  yield %z2 }
          yield %w
        } else { yield %b }
        %sum2 = add %sum, (mul %u, %b)
        yield %b, %sum2
      }
      %p = mul %s, %t
      yield %p
    } else { yield %v }
    store %y[%i], (mul %r, %r)
  }
})",
      {{"x", Random({5})}, {"active", Given({5}, {1, 0, 1, 1, 0})}, {"y", Zeros({5})}, {"n", Number(5)}},
      {.second = true});
}
