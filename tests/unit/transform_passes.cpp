#include "analysis/tasks.h"
#include "transform/inline.h"
#include "transform/isolate_tasks.h"
#include "transform/memory_to_registers.h"
#include "transform/scalarise.h"
#include "transform/unroll.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

bool RunInline(ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::Inline(module, {}, diagnostics);
}
bool RunUnroll(ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::Unroll(module, {}, diagnostics);
}
bool RunScalarise(ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::Scalarise(module, {}, diagnostics);
}
bool RunPromote(ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::MemoryToRegisters(module, {}, diagnostics);
}
bool RunIsolate(ir::Module& module, diag::Diagnostics& diagnostics) {
  return transform::IsolateTasks(module, {}, diagnostics);
}

/// The ids of the errors that a pass reports.
template <class Pass>
std::string Errors(const std::string& text, const Pass& pass) {
  auto parsed = Parse(text);
  CHECK_FALSE(pass(*parsed->module, parsed->diagnostics));
  return parsed->Errors();
}

}  // namespace

TEST_CASE("Calls are replaced by bodies, names stay readable and unique") {
  std::string text = After(R"(
    func @square(%a: f32) -> f32 { %s = mul %a, %a  return %s }
    func @twice(%a: f32) -> f32 { %t = call @square(%a)  %u = call @square(%t)  return %u }
    kernel @k(%x: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %s = load %x[%i]
        %r = call @twice(%s)
        store %x[%i], %r
      }
    })",
                           RunInline);
  CHECK(text == Plain(R"(
    kernel @k(%x: buffer<f32, 1>) {
      %0 = shape %x, 0
      parallel %i in 0..%0 {
        %s = load %x[%i]
        %t = mul %s, %s
        %r = mul %t, %t
        store %x[%i], %r
      }
    })"));
}

TEST_CASE("Functions with derivatives of their own stay until asked for") {
  const char* kText = R"(
    func @f(%a: f32) -> f32 vjp @f_vjp { %s = sin %a  return %s }
    func @f_vjp(%a: f32, %g: f32) -> f32 { %c = call @helper(%a)  %r = mul %c, %g  return %r }
    func @helper(%a: f32) -> f32 { %c = cos %a  return %c }
    func @unused(%a: f32) -> f32 { return %a }
    kernel @k(%x: buffer<f32, 1>) {
      parallel %i in 0..shape(%x, 0) { store %x[%i], (call @f(%s0))  %s0 = load %x[%i] }
    })";
  std::string text(kText);
  size_t at = text.find("store %x[%i], (call");
  text.replace(at, text.find("}", at) - at, "%s0 = load %x[%i]  %r = call @f(%s0)  store %x[%i], %r ");
  std::string kept = After(text, RunInline);
  CHECK(Contains(kept, "call @f(%s0)"));
  CHECK(Contains(kept, "func @f_vjp"));
  CHECK_FALSE(Contains(kept, "@helper"));
  CHECK_FALSE(Contains(kept, "@unused"));
  std::string all = After(text, [](ir::Module& module, diag::Diagnostics& diagnostics) {
    return transform::Inline(module, {.keep_custom_derivatives = false}, diagnostics);
  });
  CHECK_FALSE(Contains(all, "func"));
  CHECK(Contains(all, "sin"));
}

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
  std::string errors = Errors(text, RunInline);
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
  CHECK(Contains(Errors(text, RunInline), "E0302"));
}

TEST_CASE("Marked loops are unrolled, bounds from outer loops included") {
  std::string text = After(R"(
    const @size = 3 : i32
    kernel @k(%x: buffer<i32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        %r = for %a in 0..@size carry(%s = 0) unroll {
          %t = for %b in %a..3 step 2 reversed carry(%u = %s) unroll { yield (add (mul %u, %i), %b) }
          yield %t
        }
        store %x[%i], %r
      }
    })",
                           RunUnroll);
  // Inner iterations: (0: 2, 0) (1: 1) (2: 2); the first folds to 2, and adding 0 to nothing.
  CHECK_FALSE(Contains(text, "for "));
  CHECK(Count(text, "mul ") == 3);
  CHECK(Count(text, "add ") == 2);
  CHECK(text.find(", 2\n") < text.find(", 1\n"));
}

TEST_CASE("Unrolling without constant bounds or without measure is an error") {
  CHECK(Contains(Errors(R"(
    kernel @k(%x: buffer<i32, 1>, %n: i32) {
      parallel %i in 0..shape(%x, 0) { for %t in 0..%n unroll { store %x[%t], 1 } }
    })",
                        RunUnroll),
                 "E0303"));
  CHECK(Contains(Errors(R"(
    kernel @k(%x: buffer<i32, 1>) {
      parallel %i in 0..shape(%x, 0) {
        for %t in 0..100000 unroll { for %u in 0..100000 unroll { store %x[%t], %u } }
      }
    })",
                        RunUnroll),
                 "E0304"));
  CHECK(Contains(Errors(R"(
    kernel @k(%x: buffer<i32, 1>) {
      parallel %i in 0..shape(%x, 0) { for %t in 0..2000000000 unroll { } }
    })",
                        RunUnroll),
                 "E0304"));
}

TEST_CASE("Vectors become scalars named after them") {
  std::string text = After(R"(
    kernel @k(%x: buffer<vec<f32, 3>, 1>, %l: buffer<f32, 0>, %n: i32) {
      parallel %i in 0..%n {
        %v = load %x[%i]
        %s = for %t in 0..%n carry(%a = %v) { yield (mul %a, 0.5) }
        %d = dot %v, %s
        store %x[%i], (cross %v, %s)
        atomic add %l[], %d
      }
    })",
                           RunScalarise);
  CHECK_FALSE(Contains(text, "dot"));
  CHECK_FALSE(Contains(text, "cross"));
  CHECK(Contains(text, "%v.0 = load %x[%i].0"));
  CHECK(Contains(text, "%s.0, %s.1, %s.2 = for %t in 0..%n carry(%a.0 = %v.0, %a.1 = %v.1, %a.2 = %v.2)"));
  CHECK(Contains(text, "store %x[%i].2, %"));
}

TEST_CASE("By-value vectors are read by constant components, calls that stay get them whole") {
  std::string text = After(R"(
    func @f(%v: vec<f32, 2>) -> vec<f32, 2>, f32 vjp @f_vjp { %d = dot %v, %v  return (mul %v, %d), %d }
    func @f_vjp(%v: vec<f32, 2>, %g: vec<f32, 2>, %h: f32) -> vec<f32, 2> { return (mul %v, %h) }
    kernel @k(%x: buffer<vec<f32, 2>, 1>, %u: vec<f32, 2>, %m: mat<f32, 2, 2>) {
      parallel %i in 0..shape(%x, 0) {
        %v = load %x[%i]
        %w, %d = call @f((add %v, %u))
        store %x[%i], (mat.mul %m, (mul %w, %d))
      }
    })",
                           RunScalarise);
  CHECK(Contains(text, "%u.0 = vec.get %u, 0"));
  CHECK(Contains(text, "%m.3 = mat.get %m, 1, 1"));
  CHECK(Contains(text, "vec.make"));
  CHECK(Contains(text, "%w.1 = vec.get %w, 1"));
  CHECK_FALSE(Contains(text, "mat.mul"));
}

TEST_CASE("Arrays of vectors are flat arrays of scalars, prints show parts") {
  std::string text = After(R"(
    kernel @k(%x: buffer<vec<f32, 2>, 1>, %j: i32) {
      parallel %i in 0..shape(%x, 0) {
        %v = load %x[%i]
        %a = alloca array<vec<f32, 2>, 4>
        store %a[3], %v
        %w = load %a[%j]
        print "w = {} at {}", %w, %j
        store %x[%i], %w
      }
    })",
                           RunScalarise);
  CHECK(Contains(text, "alloca array<f32, 8>"));
  CHECK(Contains(text, "store %a[6], %v.0"));
  CHECK(Contains(text, "store %a[7], %v.1"));
  CHECK(Contains(text, "mul %j, 2"));
  CHECK(Contains(text, "\"w = ({}, {}) at {}\""));
}

TEST_CASE("Local arrays with constant indices become carried values") {
  std::string text = After(R"(
    kernel @k(%x: buffer<f32, 1>, %n: i32, %c: i1) {
      parallel %i in 0..shape(%x, 0) {
        %a = alloca array<f32, 2>
        for %t in 0..%n {
          %v = load %a[1]
          if %c { store %a[1], (add %v, 1.0) }
        }
        %r = load %a[1]
        %z = load %a[0]
        store %x[%i], (add %r, %z)
      }
    })",
                           RunPromote);
  CHECK(text == Plain(R"(
    kernel @k(%x: buffer<f32, 1>, %n: i32, %c: i1) {
      %0 = shape %x, 0
      parallel %i in 0..%0 {
        %a.1 = for %t in 0..%n carry(%a.1.1 = 0.0) {
          %a.1.2 = if %c {
            %a.1.3 = add %a.1.1, 1.0
            yield %a.1.3
          } else {
            yield %a.1.1
          }
          yield %a.1.2
        }
        %1 = add %a.1, 0.0
        store %x[%i], %1
      }
    })"));
}

TEST_CASE("Arrays stay where an index is computed, or a while condition stores") {
  std::string text = After(R"(
    kernel @k(%x: buffer<f32, 1>, %j: i32) {
      parallel %i in 0..shape(%x, 0) {
        %a = alloca array<f32, 2>
        store %a[%j], 1.0
        %b = alloca array<f32, 2>
        while { store %b[0], 2.0  %g = load %b[1]  continue_if (lt %g, 1.0) } do { store %b[1], 3.0 }
        %c = alloca array<f32, 2>
        while { %h = load %c[1]  continue_if (lt %h, 1.0) } do { store %c[1], 3.0 }
        store %x[%i], (add (load %a[0]), (add (load %b[0]), (load %c[1])))
      }
    })",
                           RunPromote);
  CHECK(Contains(text, "%a = alloca"));
  CHECK(Contains(text, "%b = alloca"));
  CHECK_FALSE(Contains(text, "%c = alloca"));
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

TEST_CASE("Cheap values are computed again, others cross in scratch buffers") {
  std::string text = After(R"(
    kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %n: i32, %c: f32) {
      %cheap = mul %c, 2.0
      %sum = for %t in 0..%n carry(%a = 0.0) { yield (add %a, (load %x[%t])) }
      parallel %i in 0..%n { store %x[%i], (mul %sum, %cheap) }
      parallel %h in 0..%n { store %y[%h], (sub %sum, %cheap) }
    })",
                           RunIsolate);
  CHECK(Contains(text, "%sum.scratch: buffer<f32, 0> scratch"));
  CHECK(Count(text, "store %sum.scratch[], %sum") == 1);
  CHECK(Count(text, "load %sum.scratch[]") == 2);
  CHECK(Count(text, "mul %c, 2.0") >= 2);
}

TEST_CASE("A load of the prologue that its task or an earlier one overwrites goes through scratch") {
  std::string text = After(R"(
    kernel @k(%x: buffer<f32, 1>, %s: buffer<f32, 0>, %n: i32) {
      %v = load %s[]
      parallel %i in 0..%n { store %x[%i], %v }
      store %s[], 7.0
      parallel %h in 0..%n { atomic add %x[%h], %v }
    })",
                           RunIsolate);
  CHECK(Contains(text, "store %v.scratch[], %v"));
  auto parsed = Parse(text);
  ir::Function& kernel = parsed->Kernel("k");
  CHECK(analysis::TasksOf(kernel).size() == 4);
}

TEST_CASE("A local array cannot cross from task to task") {
  CHECK(Contains(Errors(R"(
    kernel @k(%x: buffer<f32, 1>, %n: i32) {
      %a = alloca array<f32, 4>
      store %a[%n], 1.0
      parallel %i in 0..%n { store %x[%i], 2.0 }
      store %x[0], (load %a[0])
    })",
                        RunIsolate),
                 "E0305"));
}
