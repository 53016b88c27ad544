// No text crashes the parser, makes it hang, or makes it say more than the error limit and the line width
// allow.

#include <sys/resource.h>

#include <chrono>
#include <random>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse_support.h"

// An optimised build without sanitizers.
#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer) &&              \
    !__has_feature(memory_sanitizer) && !__has_feature(undefined_behavior_sanitizer)
#define ADC_TEST_FULL_SPEED
#endif

using namespace adc;
using test::Reading;

namespace {

std::string Repeat(std::string_view text, size_t count) {
  std::string out;
  out.reserve(text.size() * count);
  for (size_t n = 0; n < count; ++n) out += text;
  return out;
}

/// Refused, with at least one message and with few bytes of them; how the first one ends.
std::string FirstId(const std::string& text) {
  Reading reading(text);
  std::string messages = reading.Messages();
  CHECK_FALSE(reading.Good());
  CHECK(messages.size() < 40000);
  REQUIRE_FALSE(reading.diagnostics.All().empty());
  return std::string(diag::InfoOf(reading.diagnostics.All()[0].id).id);
}

}  // namespace

TEST_CASE("deep nesting is refused, not followed", "[parse][hostile]") {
  constexpr size_t kDeep = 100000;
  std::string open = "kernel @k(%a: f32, %c: i1) {\n";
  CHECK(FirstId(open + "%b = neg " + Repeat("(neg ", kDeep) + "%a" + Repeat(")", kDeep) + "\n}\n") ==
        "E0119");
  CHECK(FirstId(open + "%b = neg " + Repeat("(", kDeep)) == "E0119");
  CHECK(FirstId(open + Repeat("if %c { ", kDeep) + Repeat("}", kDeep + 1)) == "E0119");
  CHECK(FirstId(open + Repeat("if %c {\n", kDeep)) == "E0119");
  CHECK(FirstId(open + Repeat("for %i in 0..2 {", kDeep)) == "E0110");
  CHECK(FirstId(open + Repeat("while { continue_if %c } do { ", kDeep)) == "E0119");
  CHECK(FirstId(Repeat("{", kDeep)) == "E0101");
  CHECK(FirstId(Repeat("}", kDeep)) == "E0118");
  CHECK(FirstId("layout @l " + Repeat("{ dense[2] ", kDeep)) == "E0119");
  CHECK(FirstId("kernel @k(%a: " + Repeat("vec<", kDeep)) == "E0101");
  CHECK(FirstId("kernel @k(%a: " + Repeat("buffer<", kDeep) + ") { }") == "E0113");
}

TEST_CASE("deep expressions are refused, long ones are read", "[parse][hostile]") {
  constexpr size_t kDeep = 100000;
  std::string open =
      "func @f(%a: f32) -> f32 { return %a }\nkernel @k(%a: f32, %c: i1, %x: buffer<i32, 1>, %m: mat<f32, 2, "
      "2>) {\n";
  auto infix = [&](const std::string& text) { return FirstId(open + "%b = " + text + "\n}\n"); };
  CHECK(infix(Repeat("(", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("-(", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("(%a + ", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("(%c || %c && (%a < ", kDeep) + "%a" + Repeat(")", 2 * kDeep)) == "E0119");
  CHECK(infix(Repeat("sin(", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("f32(", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("cast(", kDeep) + "%a") == "E0119");
  CHECK(infix(Repeat("@f(", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(infix(Repeat("%x[", kDeep) + "0" + Repeat("]", kDeep)) == "E0119");
  CHECK(infix(Repeat("%m[", kDeep) + "0" + Repeat("]", kDeep)) == "E0119");
  CHECK(infix(Repeat("%c ? %a : ", kDeep) + "%a") == "E0119");
  CHECK(infix(Repeat("%c ? ", kDeep) + "%a") == "E0119");
  CHECK(infix(Repeat("max(%a, ", kDeep) + "%a" + Repeat(")", kDeep)) == "E0119");
  CHECK(FirstId(open + Repeat("if %c { } else ", kDeep) + "{ }\n}\n") == "E0119");
  // A chain of operators is no nesting.
  for (const char* text : {"%a + ", "%a * %a - ", "- ", "1.0 + "}) {
    Reading reading(open + "%b = " + Repeat(text, kDeep) + "%a\n}\n");
    INFO(text);
    CHECK(reading.Good());
  }
  Reading conditions(open + "%b = " + Repeat("%x[0] > 1 && ", kDeep) + "%c\n}\n");
  CHECK(conditions.Good());
  // The body is one level, and so is each pair of parentheses.
  std::string deepest = Repeat("(", ir::kMaxNesting - 1) + "%a" + Repeat(")", ir::kMaxNesting - 1);
  CHECK(Reading(open + "%b = " + deepest + "\n}\n").Good());
  CHECK(infix("(" + deepest + ")") == "E0119");
}

TEST_CASE("nesting up to the limit is fine", "[parse][hostile]") {
  // The body is one level, so that one less than the limit is left.
  std::string text =
      "kernel @k(%c: i1) {\n" + Repeat("if %c {\n", ir::kMaxNesting - 1) + Repeat("}\n", ir::kMaxNesting);
  Reading reading(text);
  INFO(reading.Messages());
  CHECK(reading.Good());
  CHECK(FirstId("kernel @k(%c: i1) {\n" + Repeat("if %c {\n", ir::kMaxNesting) +
                Repeat("}\n", ir::kMaxNesting + 1)) == "E0119");
}

TEST_CASE("huge tokens are refused or kept, never repeated in messages", "[parse][hostile]") {
  constexpr size_t kHuge = 1000000;
  std::string open = "kernel @k(%a: f32) {\n";
  CHECK(FirstId(open + "%b = add 1, " + Repeat("7", kHuge) + "\n}\n") == "E0108");
  CHECK(FirstId(open + "%b = add %a, " + Repeat("7", kHuge) + "\n}\n") == "E0108");
  CHECK(FirstId(open + "%b = add %a, 1e" + Repeat("9", kHuge) + "\n}\n") == "E0108");
  CHECK(FirstId(open + "%b = add %a, 0x" + Repeat("f", kHuge) + "\n}\n") == "E0108");
  CHECK(FirstId(open + "%b = add %a, %" + Repeat("y", kHuge) + "\n}\n") == "E0106");
  CHECK(FirstId(open + "%b = " + Repeat("y", kHuge) + " %a\n}\n") == "E0109");
  CHECK(FirstId(open + "assert true, \"" + Repeat("y", kHuge)) == "E0105");
  CHECK(FirstId(open + "assert true, \"" + Repeat("\\", kHuge)) == "E0105");
  CHECK(FirstId("import \"" + Repeat("a/", kHuge) + "\"") == "E0120");
  // A million digits behind the point are a number.
  Reading digits(open + "%b = add %a, 1." + Repeat("3", kHuge) + "\n}\n");
  CHECK(digits.Good());
}

TEST_CASE("long lists", "[parse][hostile]") {
  CHECK(FirstId("kernel @k(%a: f32) { %v = vec.make " + Repeat("%a, ", 1000000) + "%a }") == "E0114");
  CHECK(FirstId("kernel @k(%x: buffer<i32, 1>) { store %x[" + Repeat("0, ", 100000) + "0], 1 }") == "E0123");
  CHECK(FirstId("kernel @k() { parallel %i in " + Repeat("0..1, ", 100000) + "0..1 { } }") == "E0114");
  CHECK(FirstId("layout @l { dense[" + Repeat("2, ", 100000) + "2] { a: f32 } }") == "E0122");
}

TEST_CASE("bytes that are no text", "[parse][hostile]") {
  CHECK(FirstId(std::string("kernel @k() {\0}", 15)) == "E0130");
  std::mt19937 random(7);
  std::string noise(1000000, ' ');
  for (char& c : noise) c = static_cast<char>(1 + random() % 255);
  CHECK_FALSE(FirstId(noise).empty());
  // The same in a body, where each line could begin a statement.
  CHECK_FALSE(FirstId("kernel @k() {\n" + noise).empty());
  Reading unlimited(noise, /*error_limit=*/0);
  CHECK(unlimited.diagnostics.ErrorTotal() < 1000);
}

TEST_CASE("many mistakes stop at the limit", "[parse][hostile]") {
  Reading reading("kernel @k(%a: f32) {\n" + Repeat("  %b = foo %zz\n", 100000) + "}\n");
  CHECK(reading.diagnostics.ErrorTotal() == 20);
  std::string messages = reading.Messages();
  CHECK(messages.ends_with("adc: stopped after 20 errors; --error-limit=N shows more\n"));
}

TEST_CASE("a missing brace costs its own function alone", "[parse]") {
  Reading reading(
      "kernel @open(%c: i1) {\n  if %c {\n}\n\nkernel @bad(%a: f32) {\n  %b = sin %z\n}\n\nkernel @good(%a: "
      "f32) {\n}\n");
  REQUIRE(reading.diagnostics.ErrorTotal() == 2);
  CHECK(reading.diagnostics.All()[0].id == diag::E0118);
  CHECK(reading.diagnostics.All()[1].id == diag::E0106);
  CHECK(reading.module->Find("open")->broken);
  CHECK_FALSE(reading.module->Find("good")->broken);
}

// The promise is for an optimised build; without one the memory alone is checked, on a tenth of the lines.
TEST_CASE("a million lines", "[parse]") {
#ifdef ADC_TEST_FULL_SPEED
  constexpr uint32_t kLines = 1000000;
#else
  constexpr uint32_t kLines = 100000;
#endif
  std::string text =
      "kernel @k(%x: buffer<f32, 1> diff, %n: i32) {\n  parallel %i in 0..%n {\n    %v0 = load %x[%i]\n";
  std::mt19937 random(1);
  for (uint32_t n = 1; n < kLines; ++n) {
    std::string name = "    %v" + std::to_string(n);
    std::string near = "%v" + std::to_string(n - 1 - random() % (n < 50 ? n : 50));
    std::string far = "%v" + std::to_string(random() % n);
    switch (n % 4) {
      case 0:
        text += name + " = add " + near + ", " + far + "\n";
        break;
      case 1:
        text += name + " = mul " + near + ", " + std::to_string(n) + ".5\n";
        break;
      case 2:
        text += name + " = load %x[%i]\n";
        break;
      default:
        text += name + " = fma " + near + ", " + far + ", 0.25\n";
        break;
    }
  }
  text += "  }\n}\n";
  auto usage = [] {
    rusage now = {};
    getrusage(RUSAGE_SELF, &now);
    return now;
  };
  auto seconds = [](const rusage& u) {
    return static_cast<double>(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           static_cast<double>(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * 1e-6;
  };
  rusage before = usage();
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module = parse::ParseText("big.ir", std::move(text), {}, sources, diagnostics);
  rusage after = usage();
  CHECK_FALSE(diagnostics.HasErrors());
  CHECK(module->functions[0]->InstCount() >= kLines);
  WARN("a million lines: " << seconds(after) - seconds(before) << " s of processor time, "
                           << (after.ru_maxrss - before.ru_maxrss) / 1000 << " MB");
#ifdef ADC_TEST_FULL_SPEED
  CHECK(after.ru_maxrss - before.ru_maxrss < 1000 * 1000);  // KiB, for a million lines
#endif
}
