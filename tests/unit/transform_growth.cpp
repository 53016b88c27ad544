// Nothing grows more than linearly: ten times the body is about ten times the instructions, and kernels of a
// hundred thousand instructions go through. No test looks at the clock; quadratic work would run into the
// test runner's limit.

#include "driver/pipeline.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

size_t ShapedSize(const std::string& text) {
  auto parsed = Parse(text);
  REQUIRE(driver::Normalise(*parsed->module, parsed->diagnostics));
  return parsed->Kernel("k").InstCount();
}

std::string Kernel(const std::string& body) {
  return "kernel @k(%x: buffer<f32, 1>, %v: buffer<vec<f32, 3>, 1>, %n: i32) {\n  parallel %i in "
         "0..shape(%x, 0) {\n" +
         body + "  }\n}\n";
}

std::string Number(int n) {
  return std::to_string(n);
}

std::string StraightLine(int count) {
  std::string body = "%v0 = load %x[%i]\n%v1 = add %v0, 1.0\n";
  for (int n = 2; n < count; ++n)
    body += "%v" + Number(n) + " = add (mul %v" + Number(n - 1) + ", %v" + Number(n - 2) + "), 0.5\n";
  return Kernel(body + "store %x[%i], %v" + Number(count - 1) + "\n");
}

std::string SameStatements(int count) {
  std::string body = "%v0 = load %x[%i]\n";
  for (int n = 1; n < count; ++n) {
    std::string before = "%v" + Number(n - 1), here = "%v" + Number(n);
    body += here + " = if (lt " + before +
            ", 0.5) { yield (sin (load %x[%i])) } else { yield (cos (load %x[%i])) }\n";
    body += "store %x[(add %i, " + Number(n) + ")], " + here + "\n";
  }
  return Kernel(body);
}

std::string Vectors(int count) {
  std::string body = "%v0 = load %v[%i]\n";
  for (int n = 1; n < count; ++n)
    body += "%v" + Number(n) + " = normalize (cross %v" + Number(n - 1) + ", (vec.make 1.0, 2.0, 3.0))\n";
  return Kernel(body + "store %v[%i], %v" + Number(count - 1) + "\n");
}

std::string Arrays(int count) {
  std::string body = "%a = alloca array<f32, 64>\n%s = load %x[%i]\n";
  for (int n = 0; n < count; ++n) {
    std::string cell = Number(n * 7 % 64);
    body +=
        "for %t" + Number(n) + " in 0..%n { store %a[" + cell + "], (add (load %a[" + cell + "]), %s) }\n";
  }
  return Kernel(body + "store %x[%i], (load %a[5])\n");
}

void CheckLinear(std::string (*make)(int), int count) {
  size_t small = ShapedSize(make(count)), large = ShapedSize(make(10 * count));
  CHECK(large <= 12 * small);
  CHECK(large >= 5 * small);
}

}  // namespace

TEST_CASE("Ten times the body is at most twelve times the result") {
  CheckLinear(StraightLine, 1000);
  CheckLinear(SameStatements, 300);
  CheckLinear(Vectors, 200);
  CheckLinear(Arrays, 200);
}

TEST_CASE("A hundred thousand instructions go through") {
  CHECK(ShapedSize(StraightLine(50'000)) >= 100'000);
  CHECK(ShapedSize(SameStatements(20'000)) >= 100'000);
}

TEST_CASE("Regions nested to the limit go through") {
  std::string body, tail;
  for (int n = 0; n < 200; ++n) {
    body += "%r" + Number(n) + " = for %t" + Number(n) + " in 0..%n carry(%c" + Number(n) + " = 1.0) {\n";
    tail = "yield %r" + Number(n + 1) + "\n}\n" + tail;
  }
  body += "%r200 = sin %c199\n" + tail + "store %x[%i], %r0\n";
  CHECK(ShapedSize(Kernel(body)) >= 200);
}
