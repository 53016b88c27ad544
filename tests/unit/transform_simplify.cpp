// What depends on many expressions; the shapes of single rewrites are in tests/files/opt/simplify.

#include "transform/simplify.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

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
