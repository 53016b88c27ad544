#include "driver/pipeline.h"
#include "ir/module.h"
#include "transform/check_writes.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

/// The kernel after shaping and the pass, valid and without its own errors.
std::string Checked(const std::string& text) {
  auto parsed = Parse(text);
  REQUIRE(driver::Normalise(*parsed->module, parsed->diagnostics));
  REQUIRE(transform::CheckWrites(*parsed->module, parsed->diagnostics));
  CheckValid(*parsed);
  return Plain(ir::Print(*parsed->module));
}

}  // namespace

TEST_CASE("A read marks before it reads, a write after it wrote, component by component") {
  std::string text = Checked(R"(
    kernel @k(%x: buffer<vec<f32, 2>, 1> writeonce, %y: buffer<f32, 1> writeonce, %n: i32) {
      parallel %i in 0..%n {
        %v = load %x[%n]
        %w = load %y[%i]
        store %x[%i].1, (add (vec.get %v, 0), %w)
      }
    })");
  INFO(text);
  CHECK(Contains(text, "%x.writes: buffer<vec<u32, 2>, 1> scratch"));
  CHECK_FALSE(Contains(text, "y.writes"));
  size_t marked = text.find("= atomic or %x.writes[%n].0, 1"), read = text.find("load %x[%n].0");
  size_t written = text.find("store %x[%i].1"), taken = text.find("= atomic exchange %x.writes[%i].1, ");
  REQUIRE(taken != std::string::npos);
  CHECK(marked < read);
  CHECK(read < written);
  CHECK(written < taken);
  // What was read is one's own or nobody's; what was written was nobody's.
  CHECK(Count(text, ", disjoint \"x\", ") == 2);
  CHECK(Count(text, ", writeonce \"x\"") == 1);
}

TEST_CASE("A mark in a prologue stands in a task of its own") {
  std::string text = Checked(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %y: buffer<f32, 1>, %n: i32) {
      %first = load %x[0]
      parallel %i in 0..%n { store %x[(add %i, 1)], %first }
    })");
  size_t mark = text.find("atomic or %x.writes[0], 1");
  REQUIRE(mark != std::string::npos);
  CHECK(mark < text.find("parallel"));
}

TEST_CASE("Stores are checked without a promise, but for those of one literal") {
  std::string text = Checked(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %y: buffer<f32, 1>, %z: buffer<i32, 0>, %n: i32) {
      parallel %i in 0..%n {
        store %y[%i], (load %x[%i])
        atomic add %y[%n], 1.0
        store %z[], 1
      }
    })");
  INFO(text);
  CHECK(Contains(text, "%y.writes: buffer<u32, 1> scratch"));
  CHECK(Contains(text, "= atomic exchange %y.writes[%i], "));
  CHECK(Contains(text, "= atomic or %y.writes[%n], 0"));
  CHECK(Count(text, ", disjoint \"y\", ") == 2);
  CHECK_FALSE(Contains(text, "x.writes"));
  CHECK_FALSE(Contains(text, "z.writes"));
}

TEST_CASE("What is derived is left alone") {
  auto parsed = Parse(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %n: i32) {
      parallel %i in 0..%n { store %x[%i], 1.0 }
    })");
  REQUIRE(driver::Normalise(*parsed->module, parsed->diagnostics));
  parsed->Kernel("k").role = ir::KernelRole::Gradient;
  std::string before = ir::Print(*parsed->module);
  REQUIRE(transform::CheckWrites(*parsed->module, parsed->diagnostics));
  CHECK(ir::Print(*parsed->module) == before);
}
