// Checks that are made once in front of a stretch report and write what checks of every access do, wherever
// the index that is out of range stands: against the interpreter, which checks every access by itself.

#include <catch2/catch.hpp>

#include "../support/random_arguments.h"
#include "analysis/walk.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "raise/checks.h"
#include "verify/verify.h"

using namespace adc;

namespace {

constexpr int64_t kExtent = 6;

struct Parsed {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics{0};
  std::unique_ptr<ir::Module> module;

  explicit Parsed(const std::string& body) {
    std::string text =
        "kernel @k(%x: buffer<f32, 1>, %y: buffer<f32, 1>, %z: buffer<f32, 2>, %to: buffer<i32, 1>, %s: i32) "
        "{\n"
        "  %n = shape %y, 0\n  parallel %i in 0..2 {\n" +
        body + "\n  }\n}\n";
    module = parse::ParseText("k.ir", text, {}, sources, diagnostics);
    REQUIRE(module != nullptr);
    REQUIRE_FALSE(diagnostics.HasErrors());
  }
  ir::Function& Kernel() { return *module->functions[0]; }
};

int Reports(const std::string& body, int64_t s) {
  Parsed plain(body), raised(body);
  raise::RaiseConfig config;
  config.check_bounds = true;
  raise::RaiseChecks(*raised.module, raised.Kernel(), config);
  raised.module->phase = ir::Phase::Raised;
  INFO(ir::Print(*raised.module) << "s = " << s);
  REQUIRE(verify::Verify(*raised.module, raised.diagnostics));
  int stretches = 0;
  analysis::ForEachInst(raised.Kernel(), [&](ir::Inst inst) {
    const ir::InstData& data = raised.Kernel()[inst];
    stretches += data.op == ir::Op::If && !data.Has(ir::Word::Guard);
  });
  CHECK(stretches > 0);

  interp::Arguments want = test::RandomArguments(*plain.module, plain.Kernel(), 3, kExtent);
  for (int64_t n = 0; n < kExtent; ++n) want[3].tensor.Set(n, static_cast<double>(n % 5));
  want[4] = interp::NumberArgument(ir::kI32, static_cast<double>(s));
  interp::Arguments got = want;
  interp::RunOptions options;
  options.out_of_range = interp::OutOfRange::Skip;
  options.step_budget = 1u << 14;
  interp::RunResult expected_run = interp::Run(*plain.module, plain.Kernel(), want, options);
  // What is raised makes no access that is out of range.
  options.out_of_range = interp::OutOfRange::Stop;
  interp::RunResult found_run = interp::Run(*raised.module, raised.Kernel(), got, options);
  const interp::RunStatus &expected = expected_run.status, &found = found_run.status;
  CHECK(found_run.error.kind != interp::ErrorKind::OutOfRange);
  // Loops of 2^31 turns.
  if (!expected_run.Ok() || !found_run.Ok()) return 0;
  CHECK(found.code == expected.code);
  CHECK(found.span.begin == expected.span.begin);
  for (size_t n = 0; n < want.list.size(); ++n) CHECK((got[n].tensor.data == want[n].tensor.data));
  return found.code != 0;
}

/// Of all numbers around the extents and the ends of the type. Some are in range, others are not.
void CheckAll(const std::string& body) {
  int reports = 0, runs = 0;
  auto run = [&](int64_t s) {
    reports += Reports(body, s);
    ++runs;
  };
  for (int64_t s = -8; s <= 12; ++s) run(s);
  for (int64_t d = 0; d < 4; ++d) {
    run(INT32_MIN + d);
    run(INT32_MAX - d);
    run((int64_t{1} << 30) + d);
  }
  CHECK(reports > 0);
  CHECK(reports < runs);
}

}  // namespace

TEST_CASE("neighbours report the one that is out of range", "[raise]") {
  CheckAll(
      "store %y[0], 1.0\n%a = load %x[(sub %s, 1)]\nstore %y[1], %a\n%b = load %x[%s]\n"
      "store %y[2], (add %a, %b)\n%c = load %x[(add %s, 2)]\nstore %y[3], %c");
  CheckAll(
      "store %x[(add %s, 3)], 4.0\nstore %x[%s], 1.0\n%b = load %x[(add %s, 1)]\nstore %y[0], %b\n"
      "store %x[(add %s, -2)], 3.0");
  // Values that are read behind the last of them.
  CheckAll(
      "%t = mul %s, 2\n%a = load %x[%t]\n%b = load %x[(add %t, 1)]\n%m = mul %a, %b\n"
      "store %y[(add %i, 1)], (add %m, %b)");
  CheckAll(
      "%a = load %z[(add %s, 1), 2]\n%b = load %z[%s, 5]\n%c = load %z[%s, (add %s, 4)]\n"
      "%d = load %z[1, (add %s, 2)]\nstore %y[%i], (add (add %a, %b), (add %c, %d))");
}

TEST_CASE("loops report the turn that is out of range", "[raise]") {
  CheckAll("for %t in 0..4 {\n%v = load %x[(add %s, %t)]\nstore %y[%t], (add %v, 1.0)\n}");
  CheckAll("for %t in 0..4 {\n%v = load %x[(sub %s, %t)]\nstore %y[%t], (add %v, 1.0)\n}");
  CheckAll(
      "for %t in 0..4 step 2 reversed {\n%v = load %x[(add (mul %t, 2), (mul %s, -3))]\n"
      "store %y[%t], (add %v, 1.0)\n}");
  CheckAll("for %t in 0..%s {\nstore %y[%t], 1.0\nstore %x[%t], 2.0\n}");
  CheckAll("for %t in %s..6 {\n%v = load %x[%t]\nstore %y[(sub 5, %t)], %v\n}");
  // The number of a node is no sum of its digits.
  CheckAll(
      "%r = for %o in 0..9 carry(%a = 0.0) {\n%v = load %z[(add %s, (div %o, 3)), (add %i, (rem %o, 3))]\n"
      "store %y[(rem %o, 6)], %a\nyield (add %a, %v)\n}\nstore %x[%i], %r");
  CheckAll(
      "for %a in 0..3 {\nfor %b in %a..4 {\nfor %c in 0..%b {\n%v = load %z[(add %a, %s), (sub %b, %c)]\n"
      "store %y[(add %c, %s)], %v\n}\n}\n}");
  CheckAll(
      "%q, %r = while carry(%t = 0, %a = 0.0) {\n%v = load %x[%s]\n%w = load %x[(add %s, 1)]\n"
      "continue_if (lt %t, 3)\n} do {\nstore %y[%t], (add %v, %w)\nyield (add %t, 1), (add %a, %w)\n}\n"
      "store %x[0], %r");
}

TEST_CASE("what wraps is in range as it is without checks in front", "[raise]") {
  CheckAll("for %t in 0..3 {\n%v = load %x[(add (mul %s, 2), %t)]\nstore %y[%t], %v\n}");
  CheckAll("for %t in 0..3 {\n%v = load %x[(add (mul %s, 1048576), %t)]\nstore %y[%t], %v\n}");
  CheckAll("%t = mul %s, 1048576\n%a = load %x[%t]\n%b = load %x[(add %t, 1)]\nstore %y[0], (add %a, %b)");
  CheckAll("for %t in 0..2 {\n%a = load %x[(add (mul (add %s, %t), 4), 1)]\nstore %y[%t], %a\n}");
}

TEST_CASE("accesses that data or branches decide about report by themselves", "[raise]") {
  CheckAll("for %t in 0..3 {\n%j = load %to[(add %s, %t)]\n%v = load %x[%j]\nstore %y[%t], %v\n}");
  CheckAll("for %t in 0..3 {\n%v = load %x[(add %s, %t)]\nif (lt %s, 3) {\nstore %y[(sub %t, 1)], %v\n}\n}");
  CheckAll(
      "for %t in 0..3 {\n%j = load %to[%t]\nfor %u in 0..2 {\n%v = load %x[(add %j, %u)]\n"
      "store %y[(add %s, %u)], %v\n}\n}");
}
