// Any text through the whole compiler up to the lowered module: what back ends are given. Each step either
// reports an error or leaves a module that the verifier takes; an internal error is a failure.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "driver/pipeline.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "seeds.h"
#include "support/check.h"
#include "verify/verify.h"

namespace adc {

// In the place of the library's, which ends the process without telling libFuzzer.
void InternalError(const char* file, int line, const char* text) {
  std::fprintf(stderr, "internal error: %s (%s:%d)\n", text, file, line);
  std::abort();
}

}  // namespace adc

using namespace adc;

namespace {

/// How many inputs came how far: with FUZZ_STAGES set, printed at the end.
struct Stages {
  uint64_t given = 0, verified = 0, shaped = 0, derived = 0, lowered = 0;
  ~Stages() {
    if (std::getenv("FUZZ_STAGES") == nullptr) return;
    std::printf("given %lu, verified %lu, shaped %lu, derived %lu, lowered %lu\n", given, verified, shaped,
                derived, lowered);
  }
} stages;

/// What is derived. Sums are made exact where reverse mode is.
enum class Mode : uint8_t { Reverse, Forward, ForwardOfReverse };

// Small limits: what is tried is what passes do, and not for how long.
constexpr uint32_t kMostShaped = 3000, kMostOperations = 20'000;

class Compilation {
 public:
  void Run(std::string text, Mode mode) {
    ++stages.given;
    module_ = parse::ParseText("fuzz.ir", std::move(text), {}, sources_, diagnostics_);
    if (module_ == nullptr || !verify::Verify(*module_, diagnostics_) || diagnostics_.HasErrors()) return;
    ++stages.verified;
    driver::CompileOptions options;
    options.derive.gradient = mode != Mode::Forward;
    options.derive.tangent = mode == Mode::Forward;
    if (mode == Mode::ForwardOfReverse) options.derive.gradient_directions = {2};
    options.deterministic = mode != Mode::Forward;
    options.bounds_record = true;
    driver::PipelineState state{*module_, options, diagnostics_};
    for (const driver::Pass& pass : driver::Pipeline()) {
      bool wanted = pass.wanted == nullptr || pass.wanted(options);
      if (pass.run == nullptr || pass.stage == driver::Stage::Read || !wanted) continue;
      options.limits.operations = pass.stage == driver::Stage::Normalise ? kMostShaped : kMostOperations;
      if (!driver::RunPass(pass, state)) return;
      Check(pass.name);
      stages.shaped += pass.name == "isolate-tasks";
      stages.derived += pass.name == "derived";
      stages.lowered += pass.name == "lower";
    }
  }

 private:
  void Check(std::string_view pass) {
    diag::Diagnostics found(0);
    if (verify::Verify(*module_, found)) return;
    std::fprintf(stderr, "broken by %s\n%s%s", std::string(pass).c_str(),
                 diag::PrintDiagnostics(found, sources_, false).c_str(), ir::Print(*module_).c_str());
    std::abort();
  }

  diag::SourceManager sources_;
  diag::Diagnostics diagnostics_{20};
  std::unique_ptr<ir::Module> module_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kMostText = 1 << 16;
  if (size > kMostText) return 0;
  std::string text(reinterpret_cast<const char*>(data), size);
  for (Mode mode : {Mode::Reverse, Mode::Forward, Mode::ForwardOfReverse}) Compilation().Run(text, mode);
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  return {
      R"(kernel @relax(%x: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff, %n: i32) {
  parallel %i in 0..shape(%x, 0) {
    %v0 = load %x[%i]
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
const @w = [0.25, 5e-1] : array<f32, 2>
kernel @k(%g: @g, %s: buffer<f32, 2> diff, %n: i32) {
  parallel %i, %j over %g::mass {
    %v = load %g::vel[%i, %j]
    %d = mul %v, (load @w[1])
    %e = norm %d
    %a = alloca array<f32, 9>
    for %t in 0..%n {
      store %a[%t], %e
    }
    %f = load %a[3]
    %h = mul %f, (load %g::mass[%i, %j])
    atomic add %s[0, 1], %h
  }
}
)",
      R"(func @cube(%a: f64) -> f64 vjp @cube_vjp {
  %b = mul %a, %a
  %c = mul %b, %a
  return %c
}
func @cube_vjp(%a: f64, %g: f64) -> f64 {
  %b = mul %a, %a
  %c = mul %b, 3.0
  %d = mul %c, %g
  return %d
}
kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 1> diff, %p: f64 diff) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[%i]
    %r, %q = while max 9 carry(%z = %v, %m = 0) {
      continue_if (lt %z, 10.0)
    } do {
      %z2 = call @cube(%z)
      %z3 = add %z2, %p
      %m2 = add %m, 1
      yield %z3, %m2
    }
    %c = lt %r, 3.0
    %s = if %c {
      %s1 = exp %r
      yield %s1
    } else {
      yield %v
    }
    store %y[%i], %s
  }
}
)",
      R"(kernel @k(%x: buffer<f32, 2> diff, %idx: buffer<i32, 1> readonly, %y: buffer<f32, 1> diff, %loss: buffer<f32, 0> diff) {
  %n = shape %x, 0
  %m = shape %x, 1
  parallel %i in 0..%n {
    %e = load %idx[%i]
    %t = for %j in 0..%e step 2 carry(%a = 0.0) {
      %v = load %x[%i, %j]
      %s = tanh (mul %v, %a)
      %c = gt %s, 4.0
      if %c { break %s }
      %u = for %k in 0..%j reversed carry(%b = %s) {
        %w = div %b, (add %v, 2.0)
        yield %w
      }
      yield %u
    }
    store %y[%i], %t
  }
  parallel %i in 0..%n {
    %v = load %y[%i]
    atomic max %loss[], (mul %v, %v)
  }
}
)",
      R"(kernel @k(%a: buffer<mat<f32, 3, 3>, 1> diff, %b: buffer<vec<f32, 3>, 1> diff, %c: buffer<vec<f32, 3>, 1> diff writeonce, %d: f32 diff) {
  parallel %i in 0..shape(%a, 0) block 64 {
    %p = load %a[%i]
    %v = load %b[%i]
    %q = inverse %p
    %w = mat.mul %q, %v
    %s = mul %w, %d
    %t = for %j in 0..4 carry(%u = %s) unroll {
      %u2 = cross %u, %v
      yield %u2
    }
    store %c[%i], %t
  }
}
)"};
}
