// Any bytes through parser, verifier and printers. Text that is found good must print, and what prints must
// read back to the same text; text that is not must be told why.

#include <cstdio>
#include <cstdlib>

#include "ir/module.h"
#include "parse/parser.h"
#include "seeds.h"
#include "verify/verify.h"

using namespace adc;

namespace {

struct Reading {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics{20};
  std::unique_ptr<ir::Module> module;

  explicit Reading(std::string text) {
    module = parse::ParseText("fuzz.ir", std::move(text), {}, sources, diagnostics);
    if (module != nullptr && !diagnostics.Full()) verify::Verify(*module, diagnostics);
  }
};

[[noreturn]] void Fail(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s\n%s\n", what, text.c_str());
  std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string text(reinterpret_cast<const char*>(data), size);
  Reading reading(text);
  std::string messages = diag::PrintDiagnostics(reading.diagnostics, reading.sources, false);
  std::string json = diag::PrintDiagnosticsJson(reading.diagnostics, reading.sources);
  if (messages.size() > 100000 || json.size() > 200000) Fail("messages without bound", messages);
  if (reading.module == nullptr && !reading.diagnostics.HasErrors()) Fail("nothing read, nothing said", text);
  if (reading.diagnostics.HasErrors()) return 0;
  std::string printed = ir::Print(*reading.module);
  Reading again(printed);
  if (again.diagnostics.HasErrors())
    Fail("what prints does not parse",
         printed + diag::PrintDiagnostics(again.diagnostics, again.sources, false));
  if (ir::Print(*again.module) != printed) Fail("what prints prints otherwise the next time", printed);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {
      R"(// relax
kernel @relax(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
    // the loop
    %v = for %t in 0..%n carry(%a = %v0) {
      %b = add (sin %a), 0.1
      yield %b
    }
    atomic add %loss[], %v
  }
}
)",
      R"(layout @g {
  dense[4, 4] { dense[2, 2] { mass: f32 diff vel: vec<f32, 3> diff } flags: u8 }
  count: i64
}
const @eps = 1e-6 : f32
const @w = [0.25, 5e-1] : array<f32, 2>
kernel @k(%g: @g readonly, %m: mat<f64, 2, 2>, %s: buffer<u8, 2> alias) {
  parallel %i, %j over %g::mass {
    %v = load %g::vel[%i, %j]
    %c = load %g::vel[%i, %j].2
    %d = mul %v, (add %c, @eps)
    %e = select (lt %c, 0.5), (vec.get %d, 1), (load @w[1])
    %a = alloca array<f32, 9>
    store %a[%i], %e
    atomic max %s[%i, 0x1], 255
    assert (ne %e, inf), "not \"inf\"\n"
    print "{} {}", %e, -1.5
  }
}
)",
      R"(func @f(%a: f64, %n: i32) -> f64, i32 vjp @f_vjp {
  %r, %q = while max 9 carry(%x = %a, %y = 0) {
    %h = mul %x, 0.5
    continue_if (gt %h, 1.0)
  } do {
    yield %h, (add %y, 1)
  }
  %z = if (eq %q, 3) {
    // first
    yield 1:f64
  } else {
    yield %r
  }
  for %t in 0..%n reversed step 2 {
    for %u in 0..4 unroll {
      %w1, %w2 = call @leaf(%z)
    }
  }
  return (cast %n to f64), %n
}
func @leaf(%a: f64) -> f64, f64 {
  return %a, nan
}
func @f_vjp(%a: f64, %n: i32, %g: f64, %h: i32) -> f64 {
  return %g
}
)",
      R"(kernel @k.grad(%x.adj: buffer<f32, 1>, %n: i32, %tmp: buffer<f32, 0> scratch) {
  parallel %i, %j in 0..%n, 1:i64..7 block 64 {
    %s = stack.new f32
    stack.push %s, 1.0 at %i
    %p = stack.pop %s at %i
    %q = stack.top %s
    add_to %x.adj[%i], %p plain
    add_to %x.adj[0], (fma %p, %q, 0x1p-3)
    %row = row.claim 0
    %b = row.load %row, 1, 8 : f32
    row.store %row, 1, %i, 2:f64
    status.raise 0, 1, (row.capacity 1)
    %m = mat.make %b, %b, %b, %b, %b, %b : mat<f32, 2, 3>
    %id = identity mat<f32, 3, 3>
  }
}
// the end
)",
      R"(type real = f32
const @n = 4 * 2 - 1 : i32
const @h = 1.0 / real(@n) > 0.1 ? 0.5 : -0.25 : real
layout @l { dense[@n + 1] { a: vec<real, @n - 4> diff } }
func @len<T>(%v: vec<T, 3>) -> T {
  return sqrt(dot(%v, %v) + 1e-6) * T(2) - -1.0
}
kernel @k(%x: buffer<vec<real, 3>, 1> diff, %l: @l, %n: i32, %c: i1, %m: mat<f32, 2, 2>) {
  parallel %i in 0..shape(%x, 0) - 1 {
    %p = %x[%i + 1]
    %a = %p.x + %p[1] * %x[%i].z - @len(%p) / (2.0 + @h)
    %b = %i < %n && %x[%i].x > 0.0 || !%c ? @len<f32>(%p) : -%a
    %x[%i % 3].y = %a * 1.0 / 3.0
    %l::a[%i & 3] = vec<real, 3>(%a, 0, 1) * max(%b, 0.5)
    %s = for %k in 0..%n*2 carry(%s = %a) { %t = %s * 2.0  yield %t }
    %r = if %a < 0.0 { yield 1.0 } else if %a > 1.0 { yield %s } else { yield 0.5 * 0.5 }
    %u = i64(%i) << 2 ^ ~i64(%n) | 1
    %w = cast(%n to f32) + select(%c, %r, 1.0) + %m[0, 1] + (mul %a, (add %b, 1.0)) * random(%n, 7 : f32)
  }
}
)",
      R"(func @f(%a: f32, %c: i1) -> f32 {
  %b = ((%a)) + (-(%a * (2.0 - 1.0))) * + %c ? 1.0 : 2.0:f32
  return %a.x [1] (%b) % 3 == !~-%a &&
}
)"};
}
