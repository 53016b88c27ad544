// Buffers, local arrays, scratch between tasks, atomics, and what is refused (behaviours 1.9).

#include <catch2/catch.hpp>
#include <functional>

#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

TEST_CASE("autodiff: reads and writes of one iteration") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %out: buffer<real, 2> diff) {
  parallel %i in 0..shape(%x, 0) {
    store %out[%i, 0], (mul (load %out[%i, 1]), 2.0)
    %o = load %out[%i, 1]
    store %out[%i, 1], (add %o, (sin (load %x[%i])))
  }
})",
                   {{"x", Random({4})}, {"out", Random({4, 2})}});
}

TEST_CASE("autodiff: races and overwritten reads are refused with both places") {
  std::string race = RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %out: buffer<real, 1> diff) {
  parallel %i in 1..shape(%x, 0) { store %out[%i], (add (load %out[(sub %i, 1)]), (load %x[%i])) }
})");
  CHECK(race.find("E0404") != std::string::npos);
  CHECK(race.find("note:") != std::string::npos);
  std::string overwritten = RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %b: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    store %x[%i], (mul %v, %v)
  }
})");
  CHECK(overwritten.find("E0401") != std::string::npos);
  CHECK(overwritten.find("note:") != std::string::npos);
  CHECK(overwritten.find("help:") != std::string::npos);
  // A later task.
  CHECK(RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %z: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (sin (load %x[%i])) }
  parallel %i_2 in 0..shape(%x, 0) { store %x[%i_2], (load %z[%i_2]) }
})")
            .find("E0401") != std::string::npos);
  // R1: b is read and then changed.
  CHECK(RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %b: buffer<real, 0> diff, %loss: buffer<real, 0> diff) {
  store %loss[], (mul (load %x[1]), (load %b[]))
  store %b[], (add (load %b[]), 100.0)
})")
            .find("E0401") != std::string::npos);
}

TEST_CASE("autodiff: linear updates in place are fine") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %v: buffer<real, 1> diff, %dt: real diff) {
  parallel %i in 0..shape(%x, 0) {
    %p = load %x[%i]
    store %x[%i], (add %p, (mul %dt, (load %v[%i])))
  }
})",
                   {{"x", Random({4})}, {"v", Random({4})}, {"dt", Number(0.1)}});
}

TEST_CASE("autodiff: a serial sweep in place") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff writeonce) {
  store %y[0], (sin (load %x[0]))
  for %i in 1..shape(%x, 0) {
    %p = load %y[(sub %i, 1)]
    store %y[%i], (mul (sin %p), (load %x[%i]))
  }
})",
                   {{"x", Random({6})}, {"y", Zeros({6})}});
}

TEST_CASE("autodiff: atomic minimum and maximum") {
  const char* text = R"(
kernel @k(%x: buffer<real, 1> diff, %lo: buffer<real, 0> diff, %hi: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    atomic min %lo[], (mul %v, %v)
    atomic max %hi[], %v
  }
})";
  std::map<std::string, Input> inputs{
      {"x", Given({4}, {3, 2, 5, 2})}, {"lo", Given({}, {100})}, {"hi", Given({}, {-1})}};
  std::vector<double> g = AdjointOf(text, inputs, "x", "lo");
  CHECK(g[0] == 0);
  CHECK(g[1] + g[3] == Approx(4));
  CHECK(g[2] == 0);
  CHECK(AdjointOf(text, inputs, "x", "hi") == std::vector<double>{0, 0, 1, 0});
  // Without ties the winner is one, for every order of iterations and in forward mode.
  CheckDerivatives(text,
                   {{"x", Given({4}, {3, 2.5, 5, 2})}, {"lo", Given({}, {100})}, {"hi", Given({}, {-1})}});
  CheckDerivatives(text,
                   {{"x", Given({4}, {3, 2.5, 5, 2})}, {"lo", Given({}, {0.5})}, {"hi", Given({}, {9})}});
}

TEST_CASE("autodiff: atomics without a derivative are refused") {
  CHECK(RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 0> diff) {
  parallel %i in 0..shape(%x, 0) { %o = atomic exchange %y[], (load %x[%i]) }
})")
            .find("E0403") != std::string::npos);
  CHECK(RefusalOf(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 0> diff, %z: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { %o = atomic add %y[], (load %x[%i])  store %z[%i], (mul %o, %o) }
})")
            .find("E0402") != std::string::npos);
}

TEST_CASE("autodiff: local arrays with dynamic indices") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 2> diff, %which: buffer<i32, 1>, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %a = alloca array<real, 5>
    for %j in 0..5 { store %a[%j], (load %x[%i, %j]) }
    for %r in 0..4 {
      %k = load %which[%r]
      %p = load %a[%k]
      %q = load %a[%r]
      store %a[%k], (mul (sin %p), %q)
    }
    %s = for %j_2 in 0..5 carry(%t = 0.0:real) {
      %v = load %a[%j_2]
      %t2 = add %t, (mul %v, %v)
      yield %t2
    }
    store %y[%i], %s
  }
})",
                   {{"x", Random({3, 5})}, {"which", Given({4}, {2, 0, 2, 4})}, {"y", Zeros({3})}},
                   {.second = true});
}

TEST_CASE("autodiff: local arrays stored in branches and nested loops") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 2> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) {
    %a = alloca array<real, 4>
    for %j in 0..4 { store %a[%j], (load %x[%i, %j]) }
    for %r in 0..3 {
      %v = load %a[%r]
      %c = gt %v, 0.5
      if %c {
        store %a[(add %r, 1)], (mul %v, (load %a[(add %r, 1)]))
      } else {
        for %k in 0..%r {
          %w = load %a[%k]
          store %a[%k], (add (mul %w, %w), %v)
        }
      }
    }
    %k0 = rem %i, 4
    %z = load %a[%k0]
    store %a[%k0], (exp %z)
    %s = for %j_2 in 0..4 carry(%t = 1.0:real) { %v_2 = load %a[%j_2]  %t2 = mul %t, %v_2  yield %t2 }
    store %y[%i], %s
  }
})",
                   {{"x", Random({5, 4})}, {"y", Zeros({5})}}, {.f32_tolerance = 1e-3});
}

TEST_CASE("autodiff: a Cholesky factor in a local array") {
  CheckDerivatives(R"(
kernel @k(%m: buffer<real, 2> diff, %y: buffer<real, 1> diff) {
  parallel %b in 0..shape(%m, 0) {
    %a = alloca array<real, 9>
    for %i in 0..3 {
      for %j in 0..3 {
        %k = add (mul %i, 3), %j
        %d = eq %i, %j
        %s = select %d, 4.0:real, 0.0
        store %a[%k], (add %s, (load %m[%b, %k]))
      }
    }
    for %i_2 in 0..3 {
      %i1 = add %i_2, 1
      for %j_2 in 0..%i1 {
        %ij = add (mul %i_2, 3), %j_2
        %s0 = load %a[%ij]
        %s_2 = for %k_2 in 0..%j_2 carry(%t = %s0) {
          %p = load %a[(add (mul %i_2, 3), %k_2)]
          %q = load %a[(add (mul %j_2, 3), %k_2)]
          %t2 = sub %t, (mul %p, %q)
          yield %t2
        }
        %d_2 = eq %i_2, %j_2
        if %d_2 {
          store %a[%ij], (sqrt %s_2)
        } else {
          store %a[%ij], (div %s_2, (load %a[(mul %j_2, 4)]))
        }
      }
    }
    %r = for %i_3 in 0..3 carry(%t_2 = 0.0:real) { %t2_2 = add %t_2, (log (load %a[(mul %i_3, 4)]))  yield %t2_2 }
    store %y[%b], %r
  }
})",
                   {{"m", Random({3, 9})}, {"y", Zeros({3})}}, {.f32_tolerance = 1e-3});
}

TEST_CASE("autodiff: an array of integers as permutation") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%y, 0) {
    %p = alloca array<i32, 4>
    for %j in 0..4 { store %p[%j], (rem (add (mul %j, 3), %i), 4) }
    %r = for %j_2 in 0..4 carry(%a = 1.0:real) {
      %k = load %p[%j_2]
      %v = load %x[%k]
      %b = mul %a, (add %v, (cast %j_2 to real))
      yield %b
    }
    store %y[%i], %r
  }
})",
                   {{"x", Random({4})}, {"y", Zeros({3})}});
}

TEST_CASE("autodiff: values that cross tasks") {
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %s: buffer<real, 0> diff) {
  %n = shape %x, 0
  %t = for %i in 0..%n carry(%a = 0.3:real) { %b = add (sin %a), (load %x[%i])  yield %b }
  parallel %i_2 in 0..%n { store %y[%i_2], (div (mul (load %x[%i_2]), %t), (add %t, 1.0)) }
  store %s[], (mul %t, %t)
})",
                   {{"x", Random({4})}, {"y", Zeros({4})}, {"s", Zeros({})}}, {.second = true});
}

TEST_CASE("autodiff: sums into adjoints without atomics where indices are injective") {
  auto plain_updates = [](const Compiled& compiled) {
    uint32_t plain = 0, all = 0;
    const ir::Function& f = *compiled.derived;
    std::function<void(ir::Block)> walk = [&](ir::Block block) {
      for (ir::Inst inst : f[block].insts) {
        if (f[inst].op == ir::Op::AddTo) {
          ++all;
          if (f[inst].Has(ir::Word::Plain)) ++plain;
        }
        for (ir::Block region : f[inst].regions)
          if (region.Valid()) walk(region);
      }
    };
    walk(f.Body());
    return std::pair(plain, all);
  };
  CHECK(plain_updates(Gradient(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (sin (load %x[%i])) }
})")) == std::pair(1u, 1u));
  CHECK(plain_updates(Gradient(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %p: buffer<i32, 1>) {
  parallel %i in 0..shape(%y, 0) { %j = load %p[%i]  store %y[%i], (sin (load %x[%j])) }
})")) == std::pair(0u, 1u));
  CHECK(plain_updates(Gradient(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff) {
  parallel %i in 1..shape(%y, 0) { store %y[%i], (mul (load %x[%i]), (load %x[(sub %i, 1)])) }
})")) == std::pair(0u, 2u));
  CHECK(plain_updates(Gradient(R"(
kernel @k(%x: buffer<real, 1> diff, %c: real diff, %y: buffer<real, 1> diff) {
  parallel %i in 0..shape(%x, 0) { store %y[%i], (mul (load %x[%i]), %c) }
})")) == std::pair(1u, 2u));
}

TEST_CASE("autodiff: a branch that only stores in an array is taken back by its own condition") {
  // %s is computed in a branch that runs forward once for both sweeps, and read in it by nothing but the
  // condition of a branch without adjoint work.
  CheckDerivatives(R"(
kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %m = alloca array<i32, 2>
    %r = if (ne %n, 3) {
      %s = for %t in 0..%n carry(%a = %v) {
        yield (sin (mul %a, %v))
      }
      if (lt %s, %v) {
        store %m[1], (add %n, 1)
      }
      for %u in 0..(cast (mul %s, 3.0) to i32) {
        store %m[(mod %u, 2)], %u
      }
      yield %s
    } else {
      yield %v
    }
    for %w in 0..(load %m[1]) {
      atomic add %y[%i], (mul %r, %v)
    }
  }
})",
                   {{"x", Random({5})}, {"y", Zeros({5})}, {"n", Number(2)}}, {.differences = false});
}
