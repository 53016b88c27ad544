// Gradients that keep checkpoints against the same gradients with whole tapes.

#include <catch2/catch.hpp>

#include "../support/random_kernel.h"
#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

namespace {

using Which = autodiff::CheckpointConfig::Which;

autodiff::CheckpointConfig With(Which which, uint32_t length = 0) {
  return {which, length, 0};
}

std::map<std::string, Input> Inputs(int n) {
  return {{"x", Random({3})}, {"loss", Zeros({})}, {"n", Number(n)}};
}

std::string Loop(const std::string& head, const std::string& body) {
  return "kernel @k(%x: buffer<real, 1> diff, %loss: buffer<real, 0> diff, %n: i32) {\n"
         "  parallel %i in 0..shape(%x, 0) {\n"
         "    %v0 = load %x[%i]\n    %w0 = mul %v0, 0.5\n" +
         head + body + "    atomic add %loss[], (mul %v, %v)\n  }\n}\n";
}

void CheckLengths(const std::string& text, int n, CheckOptions options = {.f32 = false}) {
  auto inputs = Inputs(n);
  options.f64_tolerance = 1e-12;
  for (int length : {1, 2, 3, 7, 1000}) {
    INFO("segments of " << length);
    options.checkpoints = With(Which::All, static_cast<uint32_t>(length));
    CheckDerivatives(text, inputs, options);
    options.checkpoints = With(Which::AtLaunch);
    options.segment = length == 1000 ? 0 : length;
    CheckDerivatives(text, inputs, options);
  }
}

const char* const kStep =
    "      %c = mul %a, %b\n      %s = add (sin %c), (mul (cast %t to real), 0.01)\n"
    "      yield %s, (tanh (add %a, %b))\n    }\n    %v = add %p, %q\n";

}  // namespace

TEST_CASE("autodiff: checkpoints of loops with any bounds") {
  for (const char* bounds :
       {"0..%n", "0..%n reversed", "2..%n step 3", "2..%n reversed step 3", "(sub 4, %n)..%n",
        "(sub 4, %n)..%n reversed step 2", "%n..3", "-5..(add %n, -4)", "0..11", "3..20 step 4"}) {
    INFO("bounds " << bounds);
    std::string head = "    %p, %q = for %t in " + std::string(bounds) + " carry(%a = %v0, %b = %w0) {\n";
    for (int n : {0, 1, 7, 12}) CheckLengths(Loop(head, kStep), n);
  }
  std::string head = "    %p, %q = for %t in 0..%n carry(%a = %v0, %b = %w0) {\n";
  CheckLengths(Loop(head, kStep), INT32_MIN);
}

TEST_CASE("autodiff: checkpoints of loops over i64, up to the end of its range") {
  std::string head =
      "    %p, %q = for %t in 9223372036854775800:i64..9223372036854775807 step 2 carry(%a = %v0, %b = %w0) "
      "{\n";
  CheckLengths(Loop(head, kStep), 0, {.f32 = false, .differences = false});
  head = "    %p, %q = for %t in -2147483648..2147483647 step 715827882 carry(%a = %v0, %b = %w0) {\n";
  CheckLengths(Loop(head, kStep), 0, {.f32 = false, .differences = false});
}

TEST_CASE("autodiff: checkpoints of nests, in branches and around them") {
  CheckLengths(Loop("    %v = for %t in 0..%n carry(%a = %v0) {\n"
                    "      %g = lt (mod %t, 3), 2\n"
                    "      %z = if %g {\n"
                    "        %r = for %u in 0..(add %t, 2) carry(%e = %a) {\n"
                    "          %h = add (sin %e), (mul %v0, 0.3)\n          yield %h\n        }\n"
                    "        yield %r\n"
                    "      } else {\n        yield (mul %a, %w0)\n      }\n"
                    "      yield (tanh %z)\n    }\n",
                    ""),
               9);
  CheckLengths(Loop("    %v = if (lt %i, 2) {\n"
                    "      %r = for %t in 0..%n carry(%a = %v0) {\n"
                    "        %b = for %u in 0..%n reversed carry(%e = %a) {\n"
                    "          yield (sin (mul %e, %a))\n        }\n"
                    "        yield (add %b, 0.2)\n      }\n"
                    "      yield %r\n"
                    "    } else {\n      yield %v0\n    }\n",
                    ""),
               6);
}

TEST_CASE("autodiff: checkpoints with integers, arrays and while loops in the state") {
  CheckLengths(Loop("    %m = alloca array<real, 3>\n"
                    "    store %m[0], %v0\n"
                    "    %v, %k9 = for %t in 0..%n carry(%a = %v0, %k = 5) {\n"
                    "      %old = load %m[(mod %k, 3)]\n"
                    "      %b = sin (add (mul %old, %a), 0.3)\n"
                    "      store %m[(mod %t, 3)], %b\n"
                    "      %f, %j9 = while carry(%e = %b, %j = 0) {\n"
                    "        continue_if (gt (sub (mod %k, 4), %j), 0)\n"
                    "      } do {\n        yield (tanh (mul %e, 1.2)), (add %j, 1)\n      }\n"
                    "      yield %f, (add (mul %k, 3), %t)\n    }\n",
                    ""),
               8);
}

TEST_CASE("autodiff: checkpoints of while loops, bounded and not") {
  for (const char* bound : {"", " max 5", " max %n", " max (cast %n to i64)", " max 100"}) {
    INFO("while" << bound);
    std::string step =
        "      %c = mul %a, %b\n      %s = add (sin %c), (mul (cast %j to real), 0.01)\n"
        "      yield %s, (tanh (add %a, %b)), (add %j, 1)\n    }\n";
    std::string head =
        "    %p, %q, %k = while" + std::string(bound) +
        " carry(%a = %v0, %b = %w0, %j = 0) {\n      continue_if (lt (mul %j, 2), %n)\n    } do {\n";
    // Its results are used, or not.
    for (const char* tail : {"    %v = add %p, %q\n", "    %v = add %p, (mul %q, (cast %k to real))\n"}) {
      for (int n : {0, 1, 12, 17}) CheckLengths(Loop(head, step + tail), n);
    }
  }
  CheckLengths(Loop("    %v, %j9 = while carry(%a = %v0, %j = 0) {\n"
                    "      %e = mul (sin %a), 0.9\n      continue_if (lt (add %e, (cast %j to real)), 7.5)\n"
                    "    } do {\n      yield (add %e, (mul %a, 0.1)), (add %j, 1)\n    }\n",
                    ""),
               0);
}

TEST_CASE("autodiff: checkpoints of nests of while loops") {
  CheckLengths(Loop("    %v = for %t in 0..%n carry(%a = %v0) {\n"
                    "      %z = if (ne (mod %t, 3), 1) {\n"
                    "        %r, %j9 = while carry(%e = %a, %j = 0) {\n"
                    "          continue_if (ge (sub %t, %j), 0)\n        } do {\n"
                    "          %u, %k9 = while max %n carry(%f = %e, %k = 0) {\n"
                    "            continue_if (lt %k, (mod %j, 4))\n          } do {\n"
                    "            yield (sin (add %f, %e)), (add %k, 1)\n          }\n"
                    "          yield (tanh (mul %u, %a)), (add %j, 1)\n        }\n"
                    "        yield %r\n"
                    "      } else {\n        yield (mul %a, %w0)\n      }\n"
                    "      yield (add %z, 0.1)\n    }\n",
                    ""),
               5);
  CheckLengths(Loop("    %m = alloca array<real, 3>\n"
                    "    store %m[0], %v0\n"
                    "    %v, %j9 = while carry(%a = %v0, %j = 0) {\n"
                    "      continue_if (gt (sub %n, %j), 0)\n    } do {\n"
                    "      %old = load %m[(mod %j, 3)]\n"
                    "      %b = sin (add (mul %old, %a), 0.3)\n"
                    "      store %m[(mod (add %j, 1), 3)], %b\n"
                    "      yield (tanh (mul %b, 1.2)), (add %j, 1)\n    }\n",
                    ""),
               8);
}

TEST_CASE("autodiff: loops marked 'checkpoint' that are not blocked") {
  // The outer loop keeps nothing, so there are no segments; the inner one is no loop over the steps of one.
  // Every kind of outer loop around every kind of inner one, whose result is read after the loop or not.
  auto inputs = Inputs(5);
  for (const char* outer : {"for %t in 0..%n", "while", "while max %n"}) {
    for (const char* mark : {"", " checkpoint 2", " checkpoint"}) {
      for (const char* inner :
           {"for %u in 0..3", "for %u in 0..%t", "while max 3", "while", "while max %n"}) {
        for (bool needed : {false, true}) {
          bool counts = std::string(outer).find("while") == 0;
          bool asks = std::string(inner).find("while") == 0;
          std::string result = needed ? "%z = %v0" : "", yields = needed ? "%q" : "";
          if (counts) result += needed ? ", %t = 0" : "%t = 0";
          if (counts) yields += needed ? ", (add %t, 1)" : "(add %t, 1)";
          std::string text = needed && counts ? "    %r, %k = "
                             : needed         ? "    %r = "
                             : counts         ? "    %k = "
                                              : "    ";
          text += outer;
          if (!result.empty()) text += " carry(" + result + ")";
          text += std::string(mark) + " {\n";
          if (counts) text += "      continue_if (gt (sub %n, %t), 0)\n    } do {\n";
          text += std::string("      %q, %j9 = ") + inner + " carry(%b = %v0, %j = 0) {\n";
          if (asks) text += "        continue_if (and (gt (abs %b), 0.02), (lt %j, 4))\n      } do {\n";
          text += "        yield (mul %b, (sin (add %b, 0.3))), (add %j, 1)\n      }\n";
          text += "      atomic add %loss[], (mul %q, %v0)\n      yield " + yields + "\n    }\n";
          text += needed ? "    %v = add %r, %w0\n" : "    %v = add %w0, %v0\n";
          INFO(text);
          CheckDerivatives(Loop(text, ""), inputs, {.f32 = false});
        }
      }
    }
  }
}

TEST_CASE("autodiff: checkpoints under forward over reverse") {
  std::string text = Loop("    %p, %q = for %t in 0..%n carry(%a = %v0, %b = %w0) {\n", kStep);
  Compiled gradient = Gradient(text, "f64", "", With(Which::AtLaunch));
  REQUIRE(gradient.derived != nullptr);
  CHECK(gradient.derived->params.back().role == ir::ParamRole::Segment);
  CheckOptions options{.f32 = false, .second = true};
  options.checkpoints = With(Which::All, 3);
  CheckDerivatives(text, Inputs(8), options);
}

TEST_CASE("autodiff: random kernels with checkpoints") {
  test::RandomKernelConfig config;
  config.scalar = "real";
  config.statements = 8;
  config.depth = 4;
  std::map<std::string, Input> inputs{{"x", Random({4}, -1.0, 1.0)},
                                      {"w", Random({4}, -1.0, 1.0)},
                                      {"k", Given({4}, {3, 7, 0, 12})},
                                      {"y", Random({4}, -1.0, 1.0)},
                                      {"z", Given({4}, {1, 2, 3, 4})},
                                      {"loss", Zeros({})},
                                      {"n", Number(3)},
                                      {"c", Number(0.37)}};
  uint32_t blocked = 0;
  for (uint64_t seed = 5000; seed < 5120; ++seed) {
    INFO("seed " << seed);
    std::string text = test::RandomKernel(seed, config);
    CheckOptions options{.f64_tolerance = 1e-8, .f32 = false, .differences = false, .forward = false};
    if (seed % 2 == 0) {
      options.checkpoints = With(Which::All, static_cast<uint32_t>(1 + seed / 2 % 3));
    } else {
      options.checkpoints = With(Which::AtLaunch);
      options.segment = static_cast<int32_t>(seed / 2 % 4);
      Compiled gradient = Gradient(text, "f64", "", options.checkpoints);
      interp::Arguments arguments = interp::MakeArguments(*gradient.module, *gradient.derived);
      blocked += SetSegment(*gradient.derived, 0, arguments) ? 1 : 0;
    }
    CheckDerivatives(text, inputs, options);
  }
  CHECK(blocked > 15);
}
