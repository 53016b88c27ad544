#include "transform/simplify.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

std::string Simplified(const std::string& text) {
  return After(text, [](ir::Module& module, diag::Diagnostics& diagnostics) {
    return transform::Simplify(module, {}, diagnostics);
  });
}

}  // namespace

TEST_CASE("Arithmetic on literals folds, and identities that keep every bit apply") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %n: i32) {
      parallel %i in 0..%n {
        %v = load %x[%i]
        %a = mul %v, 1.0
        %b = sub %a, 0.0
        %c = mul (add 1.0, 2.0), (sub 0.5, 0.25)
        %d = mul %b, %c
        %e = div %d, 4.0
        %f = neg (neg %e)
        %z = add %f, 0.0
        store %y[%i], %z
      }
    })");
  CHECK(text == Plain(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %n: i32) {
      parallel %i in 0..%n {
        %v = load %x[%i]
        %d = mul %v, 0.75
        %e = mul %d, 0.25
        %z = add %e, 0.0
        store %y[%i], %z
      }
    })"));
}

TEST_CASE("A product with zero is kept for IEEE floats and folded for fast ones and integers") {
  const char* kText = R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %z: buffer<i32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        store %y[%i], (mul (load %x[%i]), 0.0)
        store %z[%i], (mul %i, 0)
      }
    })";
  std::string ieee = Simplified(kText);
  CHECK(Contains(ieee, "mul %"));
  CHECK(Contains(ieee, "store %z[%i], 0"));
  std::string fast = After(kText, [](ir::Module& module, diag::Diagnostics& diagnostics) {
    return transform::Simplify(module, {.fold = {transform::FloatRules::Fast}}, diagnostics);
  });
  CHECK_FALSE(Contains(fast, "mul"));
  CHECK(Contains(fast, "store %y[%i], 0.0"));
}

TEST_CASE("A value is computed once for the scopes that see it") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %v = load %x[%i]
        %a = sin %v
        %w = load %x[%i]
        %b = add (sin %w), (mul %v, %a)
        %c = add %b, (mul %a, %w)
        store %y[%i], %c
      }
    })");
  CHECK(Count(text, "sin ") == 1);
  CHECK(Count(text, "load ") == 1);
  CHECK(Count(text, "mul ") == 1);
}

TEST_CASE("A value of one branch is not used in the other") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %c: i1) {
      parallel %i in 0..shape(%x, 0) {
        %v = load %x[%i]
        %r = if %c { yield (sin %v) } else { yield (mul (sin %v), 2.0) }
        store %y[%i], %r
      }
    })");
  CHECK(Count(text, "sin ") == 2);
  CHECK(Contains(text, "if %c {"));
}

TEST_CASE("Invariant arithmetic leaves loops, and a parallel for the prologue of its task") {
  std::string text = Simplified(R"(
    kernel @k(%y: buffer<f32, 1>, %a: f32, %b: f32, %n: i32) {
      parallel %i in 0..%n {
        %s = for %t in 0..%n carry(%s0 = 0.0) {
          %u = mul %a, %b
          %f = cast %i to f32
          %g = mul %f, %u
          yield (add %s0, %g)
        }
        store %y[%i], %s
      }
    })");
  CHECK(text == Plain(R"(
    kernel @k(%y: buffer<f32, 1>, %a: f32, %b: f32, %n: i32) {
      %u = mul %a, %b
      parallel %i in 0..%n {
        %f = cast %i to f32
        %g = mul %f, %u
        %s = for %t in 0..%n carry(%s0 = 0.0) {
          %0 = add %s0, %g
          yield %0
        }
        store %y[%i], %s
      }
    })"));
}

TEST_CASE("A load leaves a loop only where it cannot fault and its memory is not written") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %s: buffer<f32, 0>, %y: buffer<f32, 1>, %j: i32, %n: i32) {
      parallel %i in 0..shape(%x, 0) {
        %r = for %t in 0..%n carry(%a = 0.0) {
          %safe = load %s[]
          %row = load %x[%i]
          %unsafe = load %x[%j]
          %own = load %y[%i]
          store %y[%i], (add %own, 1.0)
          yield (add (add %a, %safe), (add %row, %unsafe))
        }
        store %y[%i], %r
      }
    })");
  size_t parallel = text.find("parallel"), loop = text.find("for %t");
  CHECK(text.find("%safe = ") < parallel);
  CHECK(text.find("%row = ") > parallel);
  CHECK(text.find("%row = ") < loop);
  CHECK(text.find("%unsafe = ") > loop);
  CHECK(text.find("%own = ") > loop);
}

TEST_CASE("A load of a loop that runs at least once leaves it, whatever its index") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %j: i32) {
      parallel %i in 0..shape(%y, 0) {
        %r = for %t in 0..4 carry(%a = 0.0) {
          %v = load %x[%j]
          yield (add %a, %v)
        }
        store %y[%i], %r
      }
    })");
  // Out of the serial loop; not out of the parallel, which may have no iteration.
  CHECK(text.find("%v = ") > text.find("parallel"));
  CHECK(text.find("%v = ") < text.find("for %t"));
}

TEST_CASE("A load after a store to the same cell is the stored value") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %j: i32) {
      parallel %i in 0..shape(%x, 0) {
        %a = load %x[%i]
        store %y[%i], %a
        %k = add %i, 1
        store %y[%k], 2.0
        %b = load %y[%i]
        store %y[%j], 3.0
        %c = load %y[%i]
        store %x[%i], (add %b, %c)
      }
    })");
  // %b is %a although another cell was written in between; %c may be cell %j.
  CHECK(Count(text, "load %y") == 1);
  CHECK(Contains(text, "add %a, %c"));
}

TEST_CASE("Buffers marked alias may be one memory") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1> alias, %y: buffer<f32, 1> alias, %z: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %a = load %x[%i]
        store %y[%i], 1.0
        %b = load %x[%i]
        store %z[%i], (add %a, %b)
      }
    })");
  CHECK(Count(text, "load %x") == 2);
}

TEST_CASE("Stores in a branch or a loop hide what was known before") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %c: i1, %n: i32) {
      parallel %i in 0..shape(%x, 0) {
        store %x[%i], 1.0
        if %c {
          %k = load %x[%i]
          store %x[%i], (add %k, 1.0)
        } else {
          %l = load %x[%i]
          store %y[%i], %l
        }
        %after = load %x[%i]
        for %t in 0..%n {
          %first = load %x[%i]
          store %x[%i], (mul %first, %after)
        }
      }
    })");
  CHECK(Contains(text, "store %x[%i], 2.0"));
  CHECK(Contains(text, "store %y[%i], 1.0"));
  CHECK(Contains(text, "%after = load %x[%i]"));
  CHECK(Contains(text, "%first = load %x[%i]"));
}

TEST_CASE("Decided branches and loops with no or one iteration are gone") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %c = lt 1, 2
        %v = if %c { yield (load %x[%i]) } else { yield 7.0 }
        %w = for %t in 0..1 carry(%a = %v) { yield (sin %a) }
        %u = for %s in 5..5 carry(%b = %w) { yield (cos %b) }
        store %x[%i], %u
      }
    })");
  CHECK(text == Plain(R"(
    kernel @k(%x: buffer<f32, 1>) {
      %0 = shape %x, 0
      parallel %i in 0..%0 {
        %v = load %x[%i]
        %w = sin %v
        store %x[%i], %w
      }
    })"));
}

TEST_CASE("A condition is known inside its own branches") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %c: i1, %d: i1) {
      parallel %i in 0..shape(%x, 0) {
        %both = and %c, %d
        if %both {
          if %c { store %x[%i], 1.0 } else { store %x[%i], 2.0 }
        } else {
          %u = select %both, 3.0, 4.0
          store %x[%i], %u
        }
      }
    })");
  CHECK(Contains(text, "store %x[%i], 1.0"));
  CHECK_FALSE(Contains(text, "store %x[%i], 2.0"));
  CHECK(Contains(text, "store %x[%i], 4.0"));
}

TEST_CASE("Carried values that never change or grow by a constant are not carried") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<i32, 1>, %y: buffer<i64, 1>, %n: i32, %d: i32) {
      parallel %i in 0..shape(%x, 0) {
        %r, %same, %k, %down = for %t in 0..%n carry(%a = 0, %b = %d, %c = 3, %e = %n) {
          store %x[%c], (add %b, %e)
          yield (xor %a, %c), %b, (add %c, %d), (sub %e, 1)
        }
        store %x[%i], (add (add %r, %same), (add %k, %down))
      }
    })");
  CHECK(Contains(text, "carry(%a = 0)"));
  CHECK(Contains(text, "yield"));
  CHECK(Count(text, "carry") == 1);
  CHECK(Contains(text, "mul %t, %d"));
}

TEST_CASE("Closed forms hold for steps, reversed loops and empty ranges") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<i32, 1>, %n: i32) {
      parallel %i in 0..shape(%x, 0) {
        %k = for %t in 2..%n step 3 reversed carry(%c = 10) { yield (add %c, 7) }
        store %x[%i], %k
      }
    })");
  CHECK_FALSE(Contains(text, "for "));
  CHECK(Contains(text, "select"));
}

TEST_CASE("Dead carried values, results and loops go; a while that may not end stays") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %n: i32) {
      parallel %i in 0..shape(%x, 0) {
        %v = load %x[%i]
        %live, %dead = for %t in 0..%n carry(%a = %v, %b = %v) { yield (sin %a), (cos %b) }
        %p, %q = if (gt %v, 0.0) { yield %v, (exp %v) } else { yield 1.0, 2.0 }
        %gone = for %u in 0..%n carry(%c = %v) { yield (tan %c) }
        %stays = while carry(%d = %v) { continue_if (lt %d, 1.0) } do { yield (mul %d, 2.0) }
        %bounded = while max 10 carry(%e = %v) { continue_if (lt %e, 1.0) } do { yield (add %e, 2.0) }
        store %x[%i], (add %live, %p)
      }
    })");
  CHECK_FALSE(Contains(text, "cos"));
  CHECK_FALSE(Contains(text, "exp"));
  CHECK_FALSE(Contains(text, "tan "));
  CHECK(Count(text, "while") == 1);
  CHECK_FALSE(Contains(text, "max 10"));
}

TEST_CASE("Stores to a local array that nobody reads go with it") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %n: i32) {
      parallel %i in 0..shape(%x, 0) {
        %a = alloca array<f32, 4>
        for %t in 0..%n { store %a[(rem %t, 4)], (sin 1.0) }
        store %x[%i], 1.0
      }
    })");
  CHECK_FALSE(Contains(text, "alloca"));
  CHECK_FALSE(Contains(text, "for "));
}

TEST_CASE("Module constants become literals") {
  std::string text = Simplified(R"(
    const @eps = 0.5 : f32
    const @w = [0.25, 0.75] : array<f32, 2>
    kernel @k(%x: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %v = load @w[1]
        %u = load @w[(rem %i, 2)]
        store %x[%i], (add (add %v, @eps), %u)
      }
    })");
  CHECK(Contains(text, ", 1.25"));
  CHECK(Count(text, "load @w") == 1);
}

TEST_CASE("Nothing is shared between tasks") {
  std::string text = Simplified(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %a: f32, %b: f32) {
      parallel %i in 0..shape(%x, 0) { store %x[%i], (mul %a, %b) }
      parallel %j in 0..shape(%x, 0) { store %y[%j], (mul %a, %b) }
    })");
  CHECK(Count(text, "mul %a, %b") == 2);
  CHECK(Count(text, "shape %x, 0") == 2);
}

TEST_CASE("Before reverse mode nothing moves to where its adjoint would be 0 times infinity") {
  auto shaped = [](const std::string& loop) {
    std::string text =
        "kernel @k(%x: buffer<f32, 1> diff, %p: buffer<f32, 1> readonly, %y: buffer<f32, 1> diff, %n: i32, "
        "%d: f32, "
        "%c: f32 diff) {\n parallel %i in 0..shape(%x, 0) {\n %v = load %x[%i]\n %u = load %p[%i]\n" +
        loop + " store %y[%i], %r\n }\n}\n";
    return After(text, [](ir::Module& module, diag::Diagnostics& diagnostics) {
      return transform::Simplify(module, {.before_reverse = true}, diagnostics);
    });
  };
  auto in_loop = [&](const std::string& expression, const std::string& bounds = "0..%n") {
    std::string text = shaped(" %r = for %t in " + bounds + " carry(%a = 0.5) {\n %w = " + expression +
                              "\n yield (add %a, %w)\n }\n");
    INFO(text);
    size_t loop = text.find(" = for "), at = text.find("%w = ");
    REQUIRE(at != std::string::npos);
    return at > loop;
  };
  // Partials that may be infinite, or NaN.
  for (const char* singular : {"div 1.0, %v", "mul %v, %v", "mul %v, %c", "sqrt %v", "log %v", "pow %v, 0.5",
                               "exp %v", "fma %v, %v, 1.0", "abs %v", "atan2 %v, 1.0"}) {
    INFO(singular);
    CHECK(in_loop(singular));
    CHECK(in_loop(singular, "0..%i"));
    CHECK_FALSE(in_loop(singular, "0..3"));
  }
  // Partials that are 0, 1 or a literal; and what has no derivative.
  for (const char* tame : {"add %v, 1.5", "sub %v, %c", "mul %v, 3.0", "div %v, 3.0", "max %v, 0.3",
                           "floor %v", "cast (mul %i, %n) to f32", "sqrt %u", "div 1.0, %d", "mul %u, %d",
                           "rcp (mul %d, (exp %u))", "sin (stop_gradient %v)"}) {
    INFO(tame);
    CHECK_FALSE(in_loop(tame));
  }
  // Out of a branch, of a body that a test lets run, and of the test: which runs once more than it is
  // reversed.
  auto stays = [&](const std::string& text, const std::string& control) {
    INFO(text);
    return text.find("rcp ") > text.find(control);
  };
  CHECK(stays(shaped(" %r = for %t in 0..4 carry(%a = 0.5) {\n %w = if (lt %t, %n) { yield (rcp %v) } else { "
                     "yield %a }\n yield %w\n }\n"),
              " = if "));
  CHECK(stays(shaped(" %w = if (lt %i, %n) { yield (rcp %c) } else { yield %v }\n %r = add %w, 1.0\n"),
              " = if "));
  CHECK(stays(
      shaped(" %r, %k = while carry(%a = 0.5, %j = 0) {\n %w = rcp %v\n continue_if (lt %j, %n)\n } do {\n"
             " yield (add %a, %w), (add %j, 1)\n }\n"),
      " = while "));
  // Out of the parallel loop into its prologue, which is reversed with each iteration.
  CHECK_FALSE(stays(shaped(" %w = rcp %c\n %r = add %w, %v\n"), "parallel "));
}
