// Inputs that grow, and facts of an analysis; the shapes that passes leave are in tests/files/opt.

#include "analysis/tasks.h"
#include "transform/inline.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

/// The errors of inlining `text`.
std::string InlineErrors(const std::string& text) {
  auto parsed = Parse(text);
  CHECK_FALSE(transform::Inline(*parsed->module, {}, parsed->diagnostics));
  return parsed->Errors();
}

}  // namespace

TEST_CASE("A chain of functions that doubles at every step is refused by name") {
  std::string text = "func @f0(%a: f32) -> f32 { %r = sin %a  return %r }\n";
  for (int n = 1; n <= 40; ++n) {
    std::string before = "@f" + std::to_string(n - 1);
    text += "func @f" + std::to_string(n) + "(%a: f32) -> f32 { %b = call " + before + "(%a)  %c = call " +
            before + "(%b)  return %c }\n";
  }
  text +=
      "kernel @k(%x: buffer<f32, 1>) { parallel %i in 0..shape(%x, 0) { %a = load %x[%i]  %r = call @f40(%a) "
      " "
      "store %x[%i], %r } }";
  std::string errors = InlineErrors(text);
  CHECK(Contains(errors, "E0301"));
  CHECK(Contains(errors, "'k' calls 'f40'"));
  CHECK(Contains(errors, "'f40' calls 'f39'"));
}

TEST_CASE("Nesting that only inlining makes is refused too") {
  auto level = [](int number, const std::string& inner) {
    std::string text = "func @g" + std::to_string(number) + "(%a: f32) -> f32 {\n";
    for (int n = 0; n < 20; ++n) text += "%r" + std::to_string(n) + " = if (lt %a, 1.0) {\n";
    text += inner + "\nyield %v\n";
    for (int n = 20; n-- > 0;) {
      text += "} else { yield %a }\n";
      text += (n > 0 ? "yield %r" : "return %r") + std::to_string(n) + "\n";
    }
    return text + "}\n";
  };
  std::string text = level(0, "%v = sin %a");
  for (int n = 1; n < 14; ++n) text += level(n, "%v = call @g" + std::to_string(n - 1) + "(%a)");
  text +=
      "kernel @k(%x: buffer<f32, 1>) { parallel %i in 0..shape(%x, 0) { %a = load %x[%i]  %r = call @g13(%a) "
      " "
      "store %x[%i], %r } }";
  CHECK(Contains(InlineErrors(text), "E0302"));
}

TEST_CASE("Tasks are pieces of the body, with the prologue of each parallel") {
  auto parsed = Parse(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 0>, %n: i32) {
      %m = add %n, 1
      parallel %i in 0..%m { store %x[%i], 1.0 }
      %v = load %x[0]
      store %y[], %v
      %w = load %x[1]
      %b = load %y[]
      parallel %h in 0..%n { store %x[%h], %b }
      %rest = add %n, 2
    })");
  ir::Function& kernel = parsed->Kernel("k");
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0].kind == analysis::TaskKind::Parallel);
  CHECK(tasks[0].first == 0);
  CHECK(tasks[0].last == 2);
  // The load of %x[1] is in the serial task: the parallel writes %x.
  CHECK(tasks[1].kind == analysis::TaskKind::Serial);
  CHECK(tasks[1].last - tasks[1].first == 3);
  CHECK(tasks[2].last - tasks[2].first == 2);
}
