// Which operation is named as the one that makes the first NaN, and that it is the one whose NaN comes out.

#include <cmath>
#include <limits>

#include "../support/program.h"
#include "interp/find_nan.h"

using namespace adc;
using interp::FirstNan, interp::Sweep;
using test::Program;

namespace {

using Texts = std::vector<std::string>;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

interp::NanSearch Search(Program& program, const interp::NanQuestion& question = {}) {
  interp::NanSearch search =
      interp::FindNan(program.module(), program.function(), program.arguments(), question);
  INFO(interp::Describe(search.run.error, program.sources()));
  REQUIRE(search.run.Ok());
  return search;
}

/// The finding, which must be there.
FirstNan Find(Program& program, const interp::NanQuestion& question = {}) {
  interp::NanSearch search = Search(program, question);
  REQUIRE(search.first);
  return *search.first;
}

/// "5:10", of the finding.
std::string PlaceOf(const Program& program, diag::SourceSpan span) {
  diag::LineColumn place = program.sources().Locate(span);
  return std::to_string(place.line) + ":" + std::to_string(place.column);
}

/// A kernel on x of `type`, whose body computes %r of %a and stores it in y.
std::string OnElements(const std::string& type, const std::string& body) {
  return "kernel @k(%x: buffer<" + type + ", 1>, %y: buffer<" + type + ", 1>, %w: " + type + ") {\n" +
         "  parallel %i in 0..shape(%x, 0) {\n    %a = load %x[%i]\n" + body +
         "    store %y[%i], %r\n  }\n}\n";
}

}  // namespace

TEST_CASE("the first NaN has a place, operands and an iteration, in every float type", "[interp]") {
  for (const char* type : {"f16", "f32", "f64"}) {
    CAPTURE(type);
    Program program(OnElements(type, "    %r = sqrt %a\n"));
    program.Buffer("x", {5}, {1, 4, 0, -1, -2});
    program.Zeros("y", {5});
    FirstNan first = Find(program);
    CHECK(first.operation == "sqrt");
    CHECK(first.statement == "%r = sqrt %a");
    CHECK(first.values == Texts{"%a = -1.0", "%r = nan"});
    CHECK(first.iteration == Texts{"%i = 3"});
    CHECK(first.reaches == "%y[3]");
    CHECK(first.argument.empty());
    CHECK(first.sweep == Sweep::Kernel);
    CHECK(PlaceOf(program, first.span) == "4:10");
    CHECK(program.Numbers("y")[1] == 2);  // the whole kernel has run
  }
}

TEST_CASE("a NaN that is not selected is not the first one", "[interp]") {
  const char* body =
      "    %s = sqrt %a\n    %p = gt %a, 0.0\n    %t = select %p, %s, 0.0\n    %r = div %t, %w\n";
  Program program(OnElements("f32", body));
  program.Buffer("x", {3}, {-1, 4, 0});
  program.Zeros("y", {3});
  program.Number("w", 0);
  FirstNan first = Find(program);
  CHECK(first.operation == "div");
  CHECK(first.values == Texts{"%t = 0.0", "%w = 0.0", "%r = nan"});
  CHECK(first.iteration == Texts{"%i = 0"});
  SECTION("nor where none comes out") {
    program.Number("w", 1);
    program.Buffer("x", {3}, {4, 4, -1});
    first = Find(program);
    CHECK(first.operation == "sqrt");
    CHECK(first.iteration == Texts{"%i = 2"});
    CHECK(first.reaches.empty());
  }
  SECTION("and none at all is none") {
    program.Number("w", 1);
    program.Buffer("x", {3}, {4, 4, 1});
    CHECK_FALSE(Search(program).first);
  }
}

TEST_CASE("a NaN in an argument is named with its element", "[interp]") {
  Program program(OnElements("f32", "    %r = mul %a, %w\n"));
  program.Buffer("x", {3}, {1, kNan, kNan});
  program.Zeros("y", {3});
  program.Number("w", 2);
  FirstNan first = Find(program);
  CHECK(first.operation == "load");
  CHECK(first.argument == "%x[1]");
  CHECK(first.reaches == "%y[1]");
  SECTION("a number that is one is an operand") {
    program.Buffer("x", {3}, {1, 1, 1});
    program.Number("w", kNan);
    first = Find(program);
    CHECK(first.operation == "mul");
    CHECK(first.values == Texts{"%a = 1.0", "%w = nan", "%r = nan"});
  }
  SECTION("and so is an element that is summed into") {
    Program sum("kernel @k(%x: buffer<f32, 1>) {\n  atomic add %x[1], 1.0\n}\n");
    sum.Buffer("x", {2}, {0, kNan});
    CHECK(Find(sum).argument == "%x[1]");
  }
  SECTION("but not one that is overwritten") {
    Program store("kernel @k(%x: buffer<f32, 1>) {\n  store %x[1], 1.0\n}\n");
    store.Buffer("x", {2}, {0, kNan});
    CHECK_FALSE(Search(store).first);
  }
}

TEST_CASE("a NaN is followed through loops, branches, arrays, calls, vectors and sums", "[interp]") {
  Program program(R"(func @bad(%v: f32) -> f32 {
  %r = log %v
  return %r
}
kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %n: i32) {
  parallel %i in 0..1 {
    %h = alloca array<f32, 2>
    %s = for %t in 0..%n carry(%c = 1.0) {
      %e = load %x[%t]
      %l = call @bad(%e)
      %q = isnan %l
      %b = if %q {
        store %h[1], %l
        %z = load %h[1]
        yield %z
      } else {
        yield 0.5
      }
      %d = add %c, %b
      yield %d
    }
    %v = vec.make %s, 1.0
    %m = mul %v, 2.0
    %u = vec.get %m, 0
    atomic add %y[0], %u
  }
})",
                  "k");
  program.Buffer("x", {4}, {1, 2, -3, -4});
  program.Zeros("y", {1});
  program.Number("n", 4);
  FirstNan first = Find(program);
  CHECK(first.operation == "log");
  CHECK(first.function == "bad");
  CHECK(first.values == Texts{"%v = -3.0", "%r = nan"});
  CHECK(first.iteration == Texts{"%i = 0", "%t = 2"});
  CHECK(first.reaches == "%y[0]");
  REQUIRE(first.callers.size() == 1);
  CHECK(PlaceOf(program, first.callers[0]) == "10:12");
}

TEST_CASE("a while counts its iterations", "[interp]") {
  Program program(R"(kernel @k(%y: buffer<f32, 0>) {
  %r = while max 8 carry(%a = 3.0) {
    continue_if (gt %a, -5.0)
  } do {
    %s = sqrt %a
    %b = sub %a, 1.0
    store %y[], %s
    yield %b
  }
})");
  program.Zeros("y", {});
  FirstNan first = Find(program);
  CHECK(first.operation == "sqrt");
  // The oldest of those that are left in memory at the end: each iteration overwrites the one before.
  CHECK(first.values == Texts{"%a = -4.0", "%s = nan"});
  CHECK(first.iteration == Texts{"iteration 7 of a 'while', from 0"});
}

TEST_CASE("infinities count where they are asked for", "[interp]") {
  Program program(OnElements("f32", "    %s = div 1.0, %a\n    %r = sub %s, %s\n"));
  program.Buffer("x", {2}, {1, 0});
  program.Zeros("y", {2});
  FirstNan first = Find(program);
  CHECK(first.operation == "sub");
  CHECK(first.values == Texts{"%s = inf", "%r = nan"});
  first = Find(program, {.infinities = true});
  CHECK(first.operation == "div");
  CHECK(first.reaches == "%y[1]");
}

TEST_CASE("a sum is where opposite infinities meet", "[interp]") {
  Program program(R"(kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 0>) {
  parallel %i in 0..shape(%x, 0) {
    %a = load %x[%i]
    atomic add %y[], %a
  }
})");
  program.Buffer("x", {3}, {1, kInfinity, -kInfinity});
  program.Zeros("y", {});
  FirstNan first = Find(program);
  CHECK(first.operation == "atomic add");
  CHECK(first.argument.empty());
  CHECK(first.iteration == Texts{"%i = 2"});
}

TEST_CASE("one parameter alone is asked about", "[interp]") {
  Program program(R"(kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>) {
  %a = load %x[0]
  %l = log %a
  store %y[0], %l
  %s = sqrt %a
  store %x[1], %s
})");
  program.Buffer("x", {2}, {-1, 0});
  program.Zeros("y", {1});
  CHECK(Find(program).operation == "log");
  CHECK(Find(program, {.parameter = 0}).operation == "sqrt");
}
