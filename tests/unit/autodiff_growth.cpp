// A body ten times as long gives a gradient at most twelve times as long; nesting grows no faster than its
// square.

#include <catch2/catch.hpp>
#include <functional>

#include "autodiff/cut.h"
#include "autodiff_harness.h"

using namespace adc;
using namespace adc::testing;

namespace {

std::string Kernel(const std::string& body) {
  return "kernel @k(%x: buffer<real, 1> diff, %y: buffer<real, 1> diff, %n: i32) {\n"
         "  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n" +
         body + "  }\n}\n";
}

std::string Step(int k) {
  const char* ops[] = {"sin ", "mul 1.01, ", "exp "};
  return ops[k % 3] + ("%v" + std::to_string(k));
}

size_t GradientSize(const std::string& text) {
  Compiled gradient = Gradient(text);
  REQUIRE(gradient.derived != nullptr);
  return gradient.derived->InstCount();
}

}  // namespace

TEST_CASE("autodiff: output is linear in the input") {
  std::vector<std::pair<std::string, std::function<std::string(int)>>> shapes = {
      {"straight line",
       [](int n) {
         std::string body;
         for (int k = 0; k < n; ++k) body += "%v" + std::to_string(k + 1) + " = " + Step(k) + "\n";
         return Kernel(body + "store %y[%i], %v" + std::to_string(n) + "\n");
       }},
      {"branches in a row",
       [](int n) {
         std::string body;
         for (int k = 0; k < n; ++k) {
           std::string a = std::to_string(k), b = std::to_string(k + 1);
           body += "%c" + a + " = gt %v" + a + ", 0.5\n%v" + b + " = if %c" + a + " { %s" + a + " = sin %v" +
                   a + " yield %s" + a + " } else { %e" + a + " = exp %v" + a + " yield %e" + a + " }\n";
         }
         return Kernel(body + "store %y[%i], %v" + std::to_string(n) + "\n");
       }},
      {"a wide branch",
       [](int n) {
         std::string body = "%c = gt %v0, 0.0\n%r = if %c {\n";
         for (int k = 0; k < n; ++k) body += "%v" + std::to_string(k + 1) + " = " + Step(k) + "\n";
         return Kernel(body + "yield %v" + std::to_string(n) +
                       "\n} else { yield 0.0 }\nstore %y[%i], (mul %r, %r)\n");
       }},
      {"loops in a row",
       [](int n) {
         std::string body;
         for (int k = 0; k < n; ++k) {
           std::string a = std::to_string(k), b = std::to_string(k + 1);
           body += "%v" + b + " = for %t" + a + " in 0..%n carry(%a" + a + " = %v" + a + ") { %b" + a +
                   " = sin (mul %a" + a + ", %v" + a + ") yield %b" + a + " }\n";
         }
         return Kernel(body + "store %y[%i], %v" + std::to_string(n) + "\n");
       }},
      {"a long loop body", [](int n) {
         std::string body = "%r = for %t in 0..%n carry(%v00 = %v0) {\n%w0 = mul %v00, %v0\n%v1 = sin %w0\n";
         for (int k = 1; k < n; ++k) body += "%v" + std::to_string(k + 1) + " = " + Step(k) + "\n";
         return Kernel(body + "yield %v" + std::to_string(n) + "\n}\nstore %y[%i], %r\n");
       }}};
  for (const auto& [name, shape] : shapes) {
    INFO(name);
    size_t small = GradientSize(shape(40));
    CHECK(GradientSize(shape(400)) <= 12 * small);
  }
}

TEST_CASE("autodiff: loops inside each other") {
  auto nest = [](int depth) {
    std::string body;
    for (int k = 0; k < depth; ++k) {
      std::string a = std::to_string(k);
      body += "%r" + a + " = for %t" + a + " in 0..%n carry(%a" + a + " = " +
              (k == 0 ? "%v0" : "%a" + std::to_string(k - 1)) + ") {\n";
    }
    body += "%z = sin %a" + std::to_string(depth - 1) + "\nyield %z }\n";
    for (int k = depth - 2; k >= 0; --k) {
      std::string a = std::to_string(k);
      body += "%q" + a + " = mul (sin %r" + std::to_string(k + 1) + "), %a" + a + "\nyield %q" + a + " }\n";
    }
    return Kernel(body + "store %y[%i], %r0\n");
  };
  CheckDerivatives(nest(4), {{"x", Random({2})}, {"y", Zeros({2})}, {"n", Number(2)}});
  size_t ten = GradientSize(nest(10));
  CHECK(GradientSize(nest(40)) <= 20 * ten);
}

TEST_CASE("autodiff: minimum cut") {
  using autodiff::CutGraph;
  // 0 and 1 feed 2, which feeds 3 and 4; 3 and 4 are read.
  CutGraph graph;
  graph.nodes = {{4, true, false, {2}},
                 {4, true, false, {2}},
                 {4, false, false, {3, 4}},
                 {4, false, true, {}},
                 {8, false, true, {}}};
  bool found = false;
  CHECK(autodiff::MinimumCut(graph, &found) == std::vector<uint32_t>{2});
  CHECK(found);
  // Among equally cheap cuts the one nearest to the reads.
  graph.nodes = {{4, true, false, {1}}, {4, false, false, {2}}, {4, false, true, {}}};
  CHECK(autodiff::MinimumCut(graph, &found) == std::vector<uint32_t>{2});
  // A source that is read itself must be taped; the rest is computed from it.
  graph.nodes = {{4, true, true, {1}}, {4, false, true, {}}};
  CHECK(autodiff::MinimumCut(graph, &found) == std::vector<uint32_t>{0});
  // What cannot be taped is cut before.
  graph.nodes = {{4, true, false, {1}}, {CutGraph::kInfinite, false, true, {}}};
  CHECK(autodiff::MinimumCut(graph, &found) == std::vector<uint32_t>{0});
  // Nothing to keep without a source.
  graph.nodes = {{4, false, false, {1}}, {4, false, true, {}}};
  CHECK(autodiff::MinimumCut(graph, &found).empty());
}
