// A `while` that counts and the `for` made of it run alike: counters of every type near the ends of the
// type, every comparison, steps of both signs, bounds that are met, passed, or behind the start.

#include <random>

#include "interp/interpreter.h"
#include "ir/module.h"
#include "transform/count_loops.h"
#include "transform/simplify.h"
#include "transform/unroll.h"
#include "transform_support.h"

using namespace adc;        // NOLINT
using namespace adc::test;  // NOLINT

namespace {

constexpr const char* kTypes[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"};
constexpr int kWidths[] = {8, 16, 32, 64, 8, 16, 32, 64};

/// A number of a type, in the form of ConstantData.
struct Number {
  int type = 0;
  uint64_t bits = 0;
  bool literal = false;

  std::string Text(const char* name) const {
    if (!literal) return name;
    bool is_signed = type < 4;
    std::string digits = is_signed ? std::to_string(static_cast<int64_t>(bits)) : std::to_string(bits);
    return digits + ":" + kTypes[type];
  }
};

uint64_t Wrapped(uint64_t number, int type) {
  int unused = 64 - kWidths[type];
  uint64_t high = number << unused;
  return type < 4 ? static_cast<uint64_t>(static_cast<int64_t>(high) >> unused) : high >> unused;
}

struct Case {
  std::string text;
  Number start, bound;
  int type = 0;
  int64_t step = 0;
  bool promises = false;  ///< that it does not wrap
};

/// Near one of the ends, near zero, or near `other`.
Number RandomNumber(std::mt19937_64& random, int type, uint64_t other) {
  uint64_t ends[] = {0, 0, uint64_t{1} << (kWidths[type] - 1), other, other};
  uint64_t near = ends[random() % 5] + random() % 41 - 20;
  return {type, Wrapped(near, type), random() % 3 == 0};
}

Case RandomCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  Case made;
  int type = static_cast<int>(random() % 8), compared = type;
  if (random() % 3 == 0) compared = static_cast<int>(random() % 8);
  made.start = RandomNumber(random, type, 0);
  made.bound = RandomNumber(random, compared, made.start.bits);
  int64_t steps[] = {1, 1, -1, -1, 2, -2, 3, -3, 4, -8, 5, -7, 16, -32, 100};
  int64_t step = steps[random() % 15];
  made.type = type;
  made.step = step;
  made.promises = random() % 3 == 0;
  uint64_t added = Wrapped(static_cast<uint64_t>(step), type);
  std::string by = Number{type, added, true}.Text("");
  const char* ops[] = {"lt", "le", "gt", "ge", "ne"};
  std::string counter = compared == type ? "%j" : std::string("(cast %j to ") + kTypes[compared] + ")";
  std::string sides[] = {counter, made.bound.Text("%b")};
  bool swapped = random() % 4 == 0;
  std::string test =
      std::string(ops[random() % 5]) + " " + sides[swapped ? 1 : 0] + ", " + sides[swapped ? 0 : 1];
  std::string next = "add %j, " + by;
  if (random() % 4 == 0)
    next = "if (lt %s, 0) { yield (add %j, " + by + ") } else { yield (add " + by + ", %j) }";
  // Of those that something else may leave, the counter stands still on the way out, or goes on.
  std::string begins, more = "continue_if (" + test + ")", left, leaves;
  if (random() % 2 == 0) {
    const char* tests[] = {"%c = and %go, (", "%c = if %go { yield (", "%d = ("};
    const char* ends[] = {")", ") } else { yield false }",
                          ")\n    %c = if %d { yield %go } else { yield false }"};
    size_t form = random() % 3;
    begins = ", %go = true";
    more = tests[form] + test + ends[form] + "\n    continue_if %c";
    left = "    %m = lt (rem %s, 11:i64), " + std::to_string(random() % 8 + 4) + ":i64\n";
    leaves = ", %m";
    if (random() % 2 == 0)
      next = "if %m { %q = " + next + "  yield %q } else { yield %j }";
    else if (random() % 2 == 0)
      next = "if (not %m) { yield %j } else { %q = " + next + "  yield %q }";
  }
  made.text =
      std::string("kernel @k(%out: buffer<i64, 1>, %a: ") + kTypes[type] + ", %b: " + kTypes[compared] +
      ") {\n  %e, %s, %t" + (begins.empty() ? "" : ", %g") + " = while carry(%j = " + made.start.Text("%a") +
      ", %s = 0:i64, %i = 0:i64" + begins + (made.promises ? ") no_wrap {\n    " : ") {\n    ") + more +
      "\n  } do {\n" + left + "    %n = " + next +
      "\n    %w = cast %j to i64\n    yield %n, (add (mul %s, 3:i64), (add %w, 1:i64)), (add %i, 1:i64)" +
      leaves + "\n  }\n  store %out[0], %s\n  store %out[2], %t\n" +
      (random() % 2 == 0 ? "  store %out[1], (cast %e to i64)\n}\n" : "}\n");
  return made;
}

struct Outcome {
  bool ended = false;
  interp::Tensor memory;
};

Outcome RunCase(const ir::Module& module, const Case& made, uint64_t budget) {
  const ir::Function& kernel = *module.Find("k");
  interp::Arguments arguments = interp::MakeArguments(module, kernel);
  arguments[0].tensor = interp::Tensor::Zeros(ir::kI64, {3});
  arguments[1].bits = {made.start.bits};
  arguments[2].bits = {made.bound.bits};
  interp::RunOptions options;
  options.step_budget = budget;
  interp::RunResult result = interp::Run(module, kernel, arguments, options);
  INFO(result.error.text);
  REQUIRE((result.Ok() || result.error.kind == interp::ErrorKind::StepBudget));
  return {result.Ok(), arguments[0].tensor};
}

/// Whether a counter with a sign wraps on the way, of 32 bits or more.
bool BreaksPromise(const Case& made, const Outcome& outcome) {
  if (!made.promises || made.type < 2 || made.type > 3) return false;
  auto j = static_cast<int64_t>(made.start.bits);
  for (auto left = static_cast<int64_t>(outcome.memory.Get(2)); left > 0; --left) {
    auto next =
        static_cast<int64_t>(Wrapped(static_cast<uint64_t>(j) + static_cast<uint64_t>(made.step), made.type));
    if ((next > j) != (made.step > 0)) return true;
    j = next;
  }
  return false;
}

/// Copies the bodies of loops between constants.
void UnrollKnown(test::Parsed& parsed) {
  ir::Function& kernel = *parsed.module->functions[0];
  for (uint32_t n = 0; n < kernel.InstCount(); ++n) {
    ir::InstData& data = kernel[ir::Inst(n)];
    bool is_while = data.op == ir::Op::While;
    bool is_known = (is_while && data.Has(ir::Word::HasMax)) || data.op == ir::Op::For;
    for (uint32_t at = 0; is_known && at < (is_while ? 1 : 3); ++at)
      is_known = kernel.IntegerConstant(kernel.Operand(ir::Inst(n), at)).has_value();
    if (is_known && kernel.IntegerConstant(kernel.Operand(ir::Inst(n), is_while ? 0 : 1)) <= 60)
      data.words.Add(ir::Word::Unroll);
  }
  REQUIRE(transform::Unroll(*parsed.module, {}, parsed.diagnostics));
}

/// Whether it has a `while` without a bound.
bool HasWhile(const ir::Module& module) {
  std::string text = ir::Print(module);
  return Contains(text, "while") && !Contains(text, "while max");
}

}  // namespace

TEST_CASE("A loop that ends counts as it did") {
  size_t counted = 0, compared = 0, empty = 0, bounded = 0, promised = 0, copied = 0;
  for (uint64_t seed = 1; seed <= 20'000; ++seed) {
    Case made = RandomCase(seed);
    INFO("seed " << seed);
    INFO(made.text);
    auto parsed = Parse(made.text);
    if (seed % 2 == 0) REQUIRE(transform::Simplify(*parsed->module, {}, parsed->diagnostics));
    if (!HasWhile(*parsed->module)) continue;
    Outcome before = RunCase(*parsed->module, made, 10'000);
    transform::CountLoops(*parsed->module, {});
    CheckValid(*parsed);
    if (HasWhile(*parsed->module)) continue;
    ++counted;
    if (Contains(ir::Print(*parsed->module), "while max")) ++bounded;
    if (!before.ended || BreaksPromise(made, before)) continue;
    if (made.promises) ++promised;
    INFO(ir::Print(*parsed->module));
    INFO("start " << made.start.Text("") << " " << static_cast<int64_t>(made.start.bits) << ", bound "
                  << static_cast<int64_t>(made.bound.bits));
    Outcome after = RunCase(*parsed->module, made, 100'000);
    REQUIRE(after.ended);
    REQUIRE(before.memory == after.memory);
    REQUIRE(transform::Simplify(*parsed->module, {}, parsed->diagnostics));
    CheckValid(*parsed);
    INFO(ir::Print(*parsed->module));
    REQUIRE(RunCase(*parsed->module, made, 100'000).memory == before.memory);
    ++compared;
    if (before.memory.Get(0) == 0.0) ++empty;
    UnrollKnown(*parsed);
    CheckValid(*parsed);
    INFO(ir::Print(*parsed->module));
    REQUIRE(RunCase(*parsed->module, made, 100'000).memory == before.memory);
    if (!Contains(ir::Print(*parsed->module), "while max") && !Contains(ir::Print(*parsed->module), "for %"))
      ++copied;
  }
  // Of those that are left most end, a good part of them at once.
  CHECK(counted > 5'000);
  CHECK(compared > 4'000);
  CHECK(bounded > 2'000);
  CHECK(empty > 300);
  CHECK(promised > 1'000);
  CHECK(copied > 300);
  CHECK(compared - empty > 1'500);
}
