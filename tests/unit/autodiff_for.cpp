// Serial loops over buffers and carried values (behaviours 1.10).

#include <catch2/catch.hpp>

#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

TEST_CASE("autodiff: an empty loop") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) { for %j in 0..%n { } }
})";
  Compiled gradient = Gradient(text);
  CHECK(gradient.derived != nullptr);
}

TEST_CASE("autodiff: products and sums of a value, trip counts from memory") {
  const char* sum = R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<i32, 1>, %p: buffer<real, 1> diff) {
  parallel %i in 0..shape(%a, 0) {
    %n = load %b[%i]
    %r = for %j in 0..%n carry(%ret = 1.0:real) { %v = load %a[%i]  %s = add %ret, %v  yield %s }
    store %p[%i], %r
  }
})";
  std::map<std::string, Input> inputs{
      {"a", Given({5}, {3, 3, 3, 3, 3})}, {"b", Given({5}, {0, 1, 2, 3, 4})}, {"p", Zeros({5})}};
  CHECK(AdjointOf(sum, inputs, "a", "p") == std::vector<double>{0, 1, 2, 3, 4});
  const char* product = R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<i32, 1>, %p: buffer<real, 1> diff) {
  parallel %i in 0..shape(%a, 0) {
    %n = load %b[%i]
    %r = for %j in 0..%n carry(%ret = 1.0:real) { %v = load %a[%i]  %s = mul %ret, %v  yield %s }
    store %p[%i], %r
  }
})";
  CHECK(AdjointOf(product, inputs, "a", "p") == std::vector<double>{0, 1, 6, 27, 108});
  CheckDerivatives(product, inputs);
}

TEST_CASE("autodiff: Fibonacci by swapping") {
  const char* text = R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<real, 1> diff, %c: buffer<i32, 1>, %f: buffer<real, 1> diff) {
  parallel %i in 0..shape(%a, 0) {
    %n = load %c[%i]
    %p0 = load %a[%i]
    %q0 = load %b[%i]
    %p, %q = for %j in 0..%n carry(%p1 = %p0, %q1 = %q0) { %s = add %p1, %q1  yield %q1, %s }
    store %f[%i], %q
  }
})";
  std::map<std::string, Input> inputs{
      {"a", Random({6})}, {"b", Random({6})}, {"c", Given({6}, {0, 1, 2, 3, 4, 5})}, {"f", Zeros({6})}};
  CHECK(AdjointOf(text, inputs, "a", "f") == std::vector<double>{0, 1, 1, 2, 3, 5});
  CHECK(AdjointOf(text, inputs, "b", "f") == std::vector<double>{1, 1, 2, 3, 5, 8});
  CHECK(CountOps(Gradient(text), ir::Op::StackNew) == 0);
}

TEST_CASE("autodiff: an integer recurrence as coefficient") {
  const char* text = R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<real, 1> diff, %c: buffer<i32, 1>, %f: buffer<real, 1> diff) {
  parallel %i in 0..shape(%a, 0) {
    %n = load %c[%i]
    %va = load %a[%i]
    %vb = load %b[%i]
    %s, %w = for %j in 0..%n carry(%s1 = 0.0:real, %w1 = 1) {
      %t = add (mul (cast %w1 to real), %va), %vb
      %s2 = add %s1, %t
      %w2 = mul %w1, 10
      yield %s2, %w2
    }
    store %f[%i], %s
  }
})";
  std::map<std::string, Input> inputs{
      {"a", Random({5})}, {"b", Random({5})}, {"c", Given({5}, {0, 1, 2, 3, 4})}, {"f", Zeros({5})}};
  CHECK(AdjointOf(text, inputs, "a", "f") == std::vector<double>{0, 1, 11, 111, 1111});
  CHECK(AdjointOf(text, inputs, "b", "f") == std::vector<double>{0, 1, 2, 3, 4});
}

TEST_CASE("autodiff: casts in a recurrence, a store to a buffer without diff") {
  CheckDerivatives(R"(
kernel @k(%a: buffer<real, 1> diff, %f: buffer<real, 1> diff, %g: buffer<real, 1>) {
  parallel %i in 0..shape(%a, 0) {
    %v = load %a[%i]
    %t, %w = for %j in 0..5 carry(%t1 = 0.0:real, %w1 = 0.0:real) {
      %d = cast (mul (add %w1, 1.0), 4.0) to f64
      %w2 = cast %d to real
      %t2 = add %t1, (mul (add %w2, 1.0), (mul %v, %v))
      yield %t2, %w2
    }
    store %f[%i], %t
    store %g[%i], %t
  }
})",
                   {{"a", Random({3})}, {"f", Zeros({3})}, {"g", Zeros({3})}});
}

TEST_CASE("autodiff: sums over windows") {
  CheckDerivatives(R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<real, 1> diff, %s: buffer<real, 1> diff) {
  parallel %i in 0..shape(%s, 0) {
    %w = for %j in 0..3 carry(%p = 1.0:real) { %v = load %a[(add %i, %j)]  %q = mul %p, %v  yield %q }
    %r = for %j_2 in 0..6 carry(%p_2 = 0.0:real) {
      %i2 = add (mul %i, 2), %j_2
      %in = lt %i2, shape(%b, 0)
      %v_2 = if %in { %t = load %b[%i2]  yield %t } else { yield 0.0 }
      %q_2 = add %p_2, (add %w, %v_2)
      yield %q_2
    }
    store %s[%i], %r
  }
})",
                   {{"a", Random({7})}, {"b", Random({10})}, {"s", Zeros({5})}});
}

TEST_CASE("autodiff: statements before, between and inside of nests") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 0> diff, %loss: buffer<real, 0> diff) {
  parallel %i in 0..2 {
    %v = load %x[]
    atomic add %loss[], (sin %v)
    for %j in 0..3 {
      %s, %t = for %k in 0..3 carry(%s1 = 0.0:real, %t1 = 0.0:real) {
        %s2 = add %s1, (add (sin %v), 1.0)
        %t2 = add %t1, (sin %v)
        yield %s2, %t2
      }
      atomic add %loss[], (add %s, %t)
      for %k_2 in 0..3 {
        %u = for %l in 0..2 carry(%u1 = %s) { %u2 = mul (sin %u1), %v  yield %u2 }
        atomic add %loss[], %u
      }
    }
    for %j_2 in 0..2 { for %k_3 in 0..2 { atomic add %loss[], (add (sin %v), 1.0) } }
  }
})",
                   {{"x", Given({}, {0.3})}, {"loss", Zeros({})}}, {.second = true});
}

TEST_CASE("autodiff: a reduction needs no stack at all") {
  const char* text = R"(
kernel @k(%x: buffer<real, 0> diff, %loss: buffer<real, 0> diff) {
  parallel %i in 0..5 {
    for %j in 0..20 { for %k in 0..10 { %v = load %x[]  atomic add %loss[], (add (sin %v), 1.0) } }
  }
})";
  CHECK(AdjointOf(text, {{"x", Given({}, {0})}, {"loss", Zeros({})}}, "x", "loss") ==
        std::vector<double>{1000});
  CHECK(CountOps(Gradient(text), ir::Op::StackNew) == 0);
}

TEST_CASE("autodiff: an inner bound that is the outer index") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  for %j in 0..shape(%x, 0) {
    for %i in 0..%j { atomic add %y[%j], (load %x[%j]) }
    for %r in 0..3 { for %i_2 in 0..%j { atomic add %y[%j], (load %x[%j]) } }
    for %r_2 in 0..3 { for %q in 0..2 { for %i_3 in 0..%j { atomic add %y[%j], (load %x[%j]) } } }
  }
})";
  CHECK(AdjointOf(text, {{"x", Random({4})}, {"y", Zeros({4})}}, "x", "y") ==
        std::vector<double>{0, 10, 20, 30});
}

TEST_CASE("autodiff: a store after a loop clears what went before") {
  const char* text = R"(
kernel @k(%a: buffer<real, 1> diff, %b: buffer<i32, 1>, %p: buffer<real, 1> diff) {
  parallel %i in 0..shape(%a, 0) {
    %v = load %a[%i]
    %n = load %b[%i]
    for %j in 0..%n { atomic add %p[%i], (mul %v, 3.0) }
    store %p[%i], (mul %v, (cast %i to real))
  }
})";
  CHECK(AdjointOf(text, {{"a", Random({4})}, {"b", Given({4}, {2})}, {"p", Zeros({4})}}, "a", "p") ==
        std::vector<double>{0, 1, 2, 3});
}

TEST_CASE("autodiff: sums inside functions, loads between loops") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 2> diff, %y: buffer<real, 0> diff, %trip: buffer<i32, 1>, %loss: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) {
    %s = for %j in 0..shape(%x, 1) carry(%a = 0.0:real) { %b = add %a, (load %x[%i, %j])  yield %b }
    atomic add %loss[], (exp %s)
    for %u in 0..2 {
      %v = load %y[]
      atomic add %loss[], %v
      %t = load %trip[%i]
      for %w in 0..%t { atomic add %loss[], (mul %v, 0.1) }
    }
  }
})",
                   {{"x", Random({3, 4}, -0.5, 0.5)},
                    {"y", Given({}, {0.5})},
                    {"trip", Given({3}, {3, 0, 1})},
                    {"loss", Zeros({})}});
}
