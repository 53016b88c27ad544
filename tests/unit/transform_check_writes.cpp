#include "transform/check_writes.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

/// The kernel after shaping and the pass, valid and without its own errors.
std::string Checked(const std::string& text) {
  auto parsed = Parse(text);
  REQUIRE(transform::ShapeForDifferentiation(*parsed->module, {}, parsed->diagnostics));
  REQUIRE(transform::CheckWrites(*parsed->module, parsed->diagnostics));
  CheckValid(*parsed);
  return Plain(ir::Print(*parsed->module));
}

}  // namespace

TEST_CASE("A read marks before it reads, a write after it wrote, component by component") {
  CHECK(Checked(R"(
    kernel @k(%x: buffer<vec<f32, 2>, 1> writeonce, %y: buffer<f32, 1> writeonce, %n: i32) {
      parallel %i in 0..%n {
        %v = load %x[%n]
        %w = load %y[%i]
        store %x[%i].1, (add (vec.get %v, 0), %w)
      }
    })") == Plain(R"(
    kernel @k(%x: buffer<vec<f32, 2>, 1> writeonce, %y: buffer<f32, 1> writeonce, %n: i32, %x.writes: buffer<vec<u32, 2>, 1> scratch) {
      parallel %i in 0..%n {
        atomic or %x.writes[%n].0, 2
        %v.0 = load %x[%n].0
        %w = load %y[%i]
        %0 = add %v.0, %w
        store %x[%i].1, %0
        %1 = atomic or %x.writes[%i].1, 1
        %2 = eq %1, 0
        assert %2, writeonce "x"
      }
    })"));
}

TEST_CASE("A mark in a prologue stands in a task of its own") {
  std::string text = Checked(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %y: buffer<f32, 1>, %n: i32) {
      %first = load %x[0]
      parallel %i in 0..%n { store %x[(add %i, 1)], %first }
    })");
  size_t mark = text.find("atomic or %x.writes[0], 2");
  REQUIRE(mark != std::string::npos);
  CHECK(mark < text.find("parallel"));
}

TEST_CASE("What is not promised, not written or derived is left alone") {
  CHECK(Checked(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %y: buffer<f32, 1>, %n: i32) {
      parallel %i in 0..%n { store %y[%i], (load %x[%i]) }
    })")
            .find("writes") == std::string::npos);
  auto parsed = Parse(R"(
    kernel @k(%x: buffer<f32, 1> writeonce, %n: i32) {
      parallel %i in 0..%n { store %x[%i], 1.0 }
    })");
  REQUIRE(transform::ShapeForDifferentiation(*parsed->module, {}, parsed->diagnostics));
  parsed->Kernel("k").role = ir::KernelRole::Gradient;
  std::string before = ir::Print(*parsed->module);
  REQUIRE(transform::CheckWrites(*parsed->module, parsed->diagnostics));
  CHECK(ir::Print(*parsed->module) == before);
}
