// Loop-carried recurrences, nested and ragged loops: reverse and forward against dual numbers and
// differences.

#include <catch2/catch.hpp>
#include <cmath>

#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

namespace {

std::string Accumulate(const std::string& op) {
  return R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %s = for %j in 0..%n carry(%acc = 0.0:real) {
      %a = add %v, (mul (cast %j to real), 0.05)
      %next = add %acc, ()" +
         op + R"( %a)
      yield %next
    }
    atomic add %y[], %s
  }
})";
}

}  // namespace

TEST_CASE("autodiff: accumulated elementary functions") {
  for (const char* op : {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2",
                         "log", "log2", "sqrt", "rsqrt", "rcp", "erf", "abs"}) {
    INFO(op);
    for (double n : {0.0, 1.0, 3.0, 10.0})
      CheckDerivatives(Accumulate(op),
                       {{"x", Given({4}, {0.05, 0.15, 0.26, 0.399})}, {"y", Zeros({})}, {"n", Number(n)}},
                       {.f32_tolerance = 2e-3});
  }
}

TEST_CASE("autodiff: an accumulator needs no tape") {
  Compiled gradient = Gradient(Accumulate("sin"));
  CHECK(CountOps(gradient, ir::Op::StackNew) == 0);
  CHECK(CountOps(gradient, ir::Op::For) == 1);
}

TEST_CASE("autodiff: abs at sign flips, derivative 0 at 0") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) { %v = load %x[%i]  atomic add %y[], (abs %v) }
})";
  CHECK(AdjointOf(text, {{"x", Given({3}, {-2, 0, 3})}, {"y", Zeros({})}}, "x", "y") ==
        std::vector<double>{-1, 0, 1});
}

TEST_CASE("autodiff: a domain error propagates") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (log (load %x[%i])) }
})";
  std::vector<double> g = AdjointOf(text, {{"x", Given({1}, {-0.3})}, {"y", Zeros({1})}}, "x", "y");
  CHECK(g[0] == Approx(1 / -0.3));
}

TEST_CASE("autodiff: linear recurrences") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %s, %v = for %j in 0..%n carry(%s1 = 0.0:real, %v1 = %v0) {
      %s2 = add %s1, %v1
      %v2 = add (mul %v1, 0.95), 0.01
      yield %s2, %v2
    }
    store %y[%i], %s
  }
})";
  std::map<std::string, Input> inputs{{"x", Random({5})}, {"y", Zeros({5})}, {"n", Number(7)}};
  CheckDerivatives(text, inputs, {.second = true});
  std::vector<double> g = AdjointOf(text, inputs, "x", "y");
  CHECK(g[0] == Approx((1 - std::pow(0.95, 7)) / (1 - 0.95)));
  Compiled gradient = Gradient(text);
  CHECK(CountOps(gradient, ir::Op::StackNew) == 0);
  CHECK(CountOps(gradient, ir::Op::For) == 1);
}

TEST_CASE("autodiff relax: one f32 per iteration") {
  const char* text = R"(
kernel @relax(%x: buffer<real, 1> diff, %loss: buffer<real, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    %v = for %t in 0..%n carry(%a = %v0) {
      %b = add (sin %a), 0.1
      yield %b
    }
    atomic add %loss[], %v
  }
})";
  CheckDerivatives(text, {{"x", Random({6})}, {"loss", Zeros({})}, {"n", Number(9)}}, {.second = true});
  Compiled gradient = Gradient(text);
  CHECK(CountOps(gradient, ir::Op::StackNew) == 1);
  CHECK(CountOps(gradient, ir::Op::StackPush) == 1);
  CHECK(CountOps(gradient, ir::Op::Sin) == 1);
  CHECK(CountOps(gradient, ir::Op::AtomicAdd) == 0);
}

TEST_CASE("autodiff: a minimum whose winner changes") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r = for %j in 0..%n carry(%acc = 1.0:real) {
      %p = add (mul %acc, 0.5), 0.05
      %q = add %v, (mul (cast %j to real), 0.05)
      %m = min %p, %q
      yield %m
    }
    store %y[%i], %r
  }
})",
                   {{"x", Given({4}, {0.013, 0.3, 0.51, 0.07})}, {"y", Zeros({4})}, {"n", Number(8)}});
}

TEST_CASE("autodiff: many recurrences, many steps") {
  std::string text =
      "kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {\n"
      "  parallel %i in 0..shape(%x, 0) {\n    %v = load %x[%i]\n    ";
  for (int k = 0; k < 8; ++k) text += "%r" + std::to_string(k) + (k < 7 ? ", " : " = for %j in 0..%n carry(");
  for (int k = 0; k < 8; ++k) text += "%a" + std::to_string(k) + " = %v" + (k < 7 ? ", " : ") {\n");
  for (int k = 0; k < 8; ++k)
    text += "      %b" + std::to_string(k) + " = add (mul (sin %a" + std::to_string(k) + "), 0.9), " +
            "(mul %a" + std::to_string((k + 1) % 8) + ", 0.05)\n";
  text += "      yield ";
  for (int k = 0; k < 8; ++k) text += "%b" + std::to_string(k) + (k < 7 ? ", " : "\n    }\n");
  text += "    %s0 = add %r0, %r1\n";
  for (int k = 2; k < 8; ++k)
    text += "    %s" + std::to_string(k - 1) + " = add %s" + std::to_string(k - 2) + ", %r" +
            std::to_string(k) + "\n";
  text += "    store %y[%i], %s6\n  }\n}\n";
  CheckDerivatives(text, {{"x", Random({2})}, {"y", Zeros({2})}, {"n", Number(40)}}, {.f32_tolerance = 1e-3});
}

TEST_CASE("autodiff: carried vectors") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %out: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %q0 = vec.make %v, 0.3
    %q = for %j in 0..%n carry(%a = %q0) {
      %c0 = vec.get %a, 0
      %c1 = vec.get %a, 1
      %b = vec.make (mul %c0, %c0), (add %c1, (mul 0.1, %c0))
      %s = div %b, 1.01
      yield %s
    }
    store %out[%i], (vec.get %q, 1)
  }
})",
                   {{"x", Random({3})}, {"out", Zeros({3})}, {"n", Number(4)}});
}

TEST_CASE("autodiff: triangular loops") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 2> diff, %y: buffer<real, 1> diff) {
  parallel %b in 0..shape(%x, 0) {
    %n = shape %x, 1
    %r = for %j in 0..%n carry(%w = 0.1:real) {
      %r2 = for %k in 0..%j carry(%u = %w) {
        %t = load %x[%b, %k]
        %u2 = add %u, (mul (sqrt (add (mul %t, %t), %u)), 0.3)
        yield %u2
      }
      %v = load %x[%b, %j]
      %w2 = add (mul %r2, (cos %v)), (mul (cast %j to real), %v)
      yield %w2
    }
    store %y[%b], %r
  }
})",
                   {{"x", Random({2, 5})}, {"y", Zeros({2})}}, {.f32_tolerance = 1e-3, .second = true});
}

TEST_CASE("autodiff: ragged loops") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %start: buffer<i32, 1>, %end: buffer<i32, 1>) {
  parallel %i in 0..shape(%y, 0) {
    %s = load %start[%i]
    %e = load %end[%i]
    %r = for %j in %s..%e carry(%a = 0.5:real) {
      %v = load %x[%j]
      %b = add (mul (tanh %a), %v), 0.1
      yield %b
    }
    %n = sub %e, %s
    %r2 = for %j_2 in 0..%n carry(%a_2 = %r) {
      %b_2 = mul %a_2, (exp (mul %a_2, -0.3))
      yield %b_2
    }
    store %y[%i], %r2
  }
})",
                   {{"x", Random({10})},
                    {"y", Zeros({4})},
                    {"start", Given({4}, {0, 2, 2, 5})},
                    {"end", Given({4}, {2, 2, 5, 10})}});
}

TEST_CASE("autodiff: steps and reversed primal loops") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%y, 0) {
    %r = for %j in 1..%n step 3 carry(%a = 0.5:real) {
      %v = load %x[%j]
      %b = mul (sin (add %a, %v)), (cast %j to real)
      yield %b
    }
    %r2 = for %j_2 in 0..%n reversed carry(%a_2 = %r) {
      %v_2 = load %x[%j_2]
      %b_2 = mul (cos (mul %a_2, %v_2)), %v_2
      yield %b_2
    }
    store %y[%i], %r2
  }
})",
                   {{"x", Random({11})}, {"y", Zeros({2})}, {"n", Number(11)}}, {.f32_tolerance = 1e-3});
}

TEST_CASE("autodiff: tasks run in reverse order") {
  CheckDerivatives(R"(
kernel @k(%in: buffer<real, 1> diff, %mid: buffer<real, 1> diff, %out: buffer<real, 1> diff, %w: real diff) {
  parallel %i in 0..shape(%in, 0) { store %mid[%i], (mul (load %in[%i]), %w) }
  parallel %i_2 in 0..shape(%in, 0) { store %out[%i_2], (mul (load %mid[%i_2]), (sin %w)) }
})",
                   {{"in", Random({4})}, {"mid", Zeros({4})}, {"out", Zeros({4})}, {"w", Number(0.7)}});
}

TEST_CASE("autodiff: while with a data-dependent count") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r, %c = while carry(%a = %v, %k = 0) {
      %h = mul %a, %a
      %small = lt %h, 30.0
      %few = lt %k, 40
      %go = and %small, %few
      continue_if %go
    } do {
      %b = add (mul %h, 0.4), (mul (sin %a), 0.9)
      %d = add %b, 0.6
      %k2 = add %k, 1
      yield %d, %k2
    }
    store %y[%i], (mul %r, %v)
  }
})",
                   {{"x", Random({5}, 0.3, 2.0)}, {"y", Zeros({5})}},
                   {.f32_tolerance = 1e-3, .second = true});
}

TEST_CASE("autodiff: while inside for inside while") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r, %c = while max 9 carry(%a = %v, %k = 0) {
      %go = lt %k, 3
      continue_if %go
    } do {
      %f = for %t in 0..%k carry(%p = %a) {
        %q, %m = while carry(%u = %p, %n = 0) {
          %g = lt %n, 2
          continue_if %g
        } do {
          %u2 = sin (add %u, (mul %v, 0.2))
          %n2 = add %n, 1
          yield %u2, %n2
        }
        %w = mul %q, (add %p, 0.5)
        yield %w
      }
      %k2 = add %k, 1
      %f2 = mul %f, (exp (mul %f, -0.5))
      yield %f2, %k2
    }
    store %y[%i], %r
  }
})",
                   {{"x", Random({4})}, {"y", Zeros({4})}}, {.second = true});
}

TEST_CASE("autodiff: what is pushed is the cheapest cut") {
  // Five carried floats, but the adjoint sweep reads one product: one stack.
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %ra, %rb, %rc, %rd = for %j in 0..%n carry(%a = %v, %b = 0.2:real, %c = 0.3:real, %d = 0.4:real) {
      %s = add (add %a, %b), (add %c, %d)
      %t = sin %s
      %a2 = add %b, (mul %t, 0.1)
      yield %a2, %c, %d, %a
    }
    store %y[%i], (add %ra, (add %rb, (add %rc, %rd)))
  }
})";
  CheckDerivatives(text, {{"x", Random({3})}, {"y", Zeros({3})}, {"n", Number(6)}});
  CHECK(CountOps(Gradient(text), ir::Op::StackPush) == 1);
}
