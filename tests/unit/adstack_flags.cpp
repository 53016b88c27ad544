// Adstacks of flags: one bit for each, in rows and in private memory.

#include "adstack/flag_words.h"
#include "adstack_support.h"

using namespace adc;
using namespace adc::test;
using Catch::Matchers::Contains;

namespace {

std::unique_ptr<Planned> Lower(const std::string& text, uint32_t private_bytes = 0) {
  adstack::PlanConfig config;
  config.private_bytes = private_bytes;
  auto planned = PlanText(text, config);
  INFO(planned->Messages());
  REQUIRE_FALSE(planned->diagnostics.HasErrors());
  REQUIRE(adstack::LowerAdstacks(*planned->module, *planned->kernel, planned->plan, planned->diagnostics));
  return planned;
}

std::string Kernel(const std::string& body) {
  return "kernel @k(%in: buffer<i32, 2>, %n: i32, %m: i32, %out: buffer<i32, 2>) {\n"
         "  parallel %i in 0..shape(%in, 0) {\n    %s = stack.new i1\n" +
         body + "  }\n}\n";
}

// Keeps whether numbers are odd, and writes that down in the adjoint sweep.
std::string Parities(const std::string& bound) {
  return Kernel(
      "    for %t in 0.." + bound +
      " {\n      stack.push %s, (ne (rem (load %in[%i, %t]), 2), 0) at %t\n    }\n    for %u in 0.." + bound +
      " reversed {\n      %p = stack.pop %s at %u\n      store %out[%i, %u], (cast %p to i32)\n"
      "    }\n");
}

struct Launch {
  interp::Arguments arguments;
  std::vector<int64_t> numbers;
  interp::RunResult result;

  // Two iterations of `length` numbers that say nothing about each other.
  Launch(Planned& planned, int64_t length, int64_t n, int64_t m, std::vector<int64_t> caps = {})
      : arguments(interp::MakeArguments(*planned.module, *planned.kernel)) {
    std::vector<double> values;
    uint32_t state = 12345;
    for (int64_t k = 0; k < 2 * length; ++k) {
      state = state * 1664525u + 1013904223u;
      numbers.push_back(state >> 20 & 1);
      values.push_back(static_cast<double>(numbers.back() + 2 * (k % 5)));
    }
    arguments[0].tensor = interp::Tensor::Filled(ir::Scalar::I32, {2, length}, values);
    SetInteger(arguments, 1, n);
    SetInteger(arguments, 2, m);
    arguments[3].tensor = interp::Tensor::Zeros(ir::kI32, {2, length});
    LaunchEnv env(*planned.kernel, arguments);
    std::vector<interp::RowTask> rows = LayRows(planned, env, std::move(caps), 0);
    interp::RunOptions options;
    options.rows = rows;
    result = interp::Run(*planned.module, *planned.kernel, arguments, options);
    INFO(interp::Describe(result.error, planned.sources) << planned.Text());
    REQUIRE(result.Ok());
  }
  bool Out(int64_t row, int64_t at) const {
    return arguments.list[3].tensor.Get(row * static_cast<int64_t>(numbers.size() / 2) + at) != 0;
  }
  bool In(int64_t row, int64_t at) const {
    return numbers[static_cast<size_t>(row) * numbers.size() / 2 + static_cast<size_t>(at)] != 0;
  }
};

}  // namespace

TEST_CASE("flags are bits of words, wherever they live", "[adstack][flags]") {
  auto in_row = Lower(Parities("%n"));
  INFO(in_row->Text() << in_row->PlanText());
  CHECK_THAT(in_row->PlanText(),
             Contains("stack 0: i1 capacity [max(n, 0)], class S1, indexed, bits, row of group 0"));
  CHECK_THAT(in_row->Text(), Contains("row.load") && Contains(": u32") && Contains("row.store"));
  CHECK_THAT(in_row->Text(), !Contains(": i1"));
  auto in_register = Lower(Parities("32"), 4);
  CHECK_THAT(in_register->Text(), Contains("alloca array<u32, 1>") && !Contains("row."));
  CHECK_THAT(in_register->PlanText(), Contains("i1 capacity [32], class S0, indexed, bits, private"));
  auto in_two = Lower(Parities("33"), 8);
  CHECK_THAT(in_two->Text(), Contains("alloca array<u32, 2>") && !Contains("row."));
  // 33 flags are two words, which do not go into four bytes.
  CHECK_THAT(Lower(Parities("33"), 4)->Text(), Contains("row.store"));
  CHECK_THAT(Lower(Parities("2048"), 256)->Text(), Contains("alloca array<u32, 64>"));
  CHECK_THAT(Lower(Parities("2049"), 256)->Text(), Contains("row.store"));
}

TEST_CASE("flags come back as they were kept, up to and past the ends of words", "[adstack][flags]") {
  for (int64_t n : {1, 2, 31, 32, 33, 63, 64, 65, 100, 1000}) {
    for (bool is_private : {false, true}) {
      INFO(n << (is_private ? " private" : " in a row"));
      auto planned = Lower(Parities(is_private ? std::to_string(n) : "%n"), is_private ? 128 : 0);
      Launch launch(*planned, n, n, 0);
      CHECK(launch.result.status.code == 0);
      for (int64_t row = 0; row < 2; ++row)
        for (int64_t at = 0; at < n; ++at) REQUIRE(launch.Out(row, at) == launch.In(row, at));
    }
  }
}

TEST_CASE("a slot that is pushed again forgets, and its neighbours keep", "[adstack][flags]") {
  // All slots are set, every third is cleared, every fifth set again; what was not written stays.
  auto planned = Lower(Kernel(
      "    for %t in 0..%n {\n      stack.push %s, true at %t\n    }\n"
      "    for %v in 0..%n step 3 {\n      stack.push %s, false at %v\n    }\n"
      "    for %w in 0..%n step 5 {\n      stack.push %s, true at %w\n    }\n"
      "    for %u in 0..%n reversed {\n      %p = stack.pop %s at %u\n      store %out[%i, %u], (cast %p "
      "to i32)\n    }\n"));
  Launch launch(*planned, 100, 100, 0);
  CHECK(launch.result.status.code == 0);
  for (int64_t row = 0; row < 2; ++row)
    for (int64_t at = 0; at < 100; ++at) REQUIRE(launch.Out(row, at) == (at % 3 != 0 || at % 5 == 0));
}

TEST_CASE("counted flags: an inner loop fills its row again in every round", "[adstack][flags]") {
  auto planned = Lower(Kernel(
      "    for %j in 0..%m {\n      for %t in 0..%n {\n"
      "        %odd = ne (rem (load %in[%i, %t]), 2), (rem %j, 2)\n"
      "        if (ne (rem %t, 3), 1) {\n          stack.push %s, %odd\n        }\n"
      "        stack.push %s, (not %odd)\n      }\n      for %u in 0..%n reversed {\n"
      "        %q = stack.top %s\n        %p = stack.pop %s\n"
      "        %r = if (ne (rem %u, 3), 1) {\n          %k = stack.pop %s\n          yield %k\n        } "
      "else {\n          yield (not %q)\n        }\n"
      "        %good = and %r, (not %p)\n        %bad = and %p, %r\n"
      "        store %out[%i, %u], (add (cast %good to i32), (mul 100, (cast %bad to i32)))\n      }\n"
      "    }\n"));
  INFO(planned->PlanText());
  REQUIRE(planned->plan.tasks[0].stacks[0].addressing == artifact::Addressing::kCounted);
  for (int64_t n : {1, 20, 40}) {
    Launch launch(*planned, n, n, 3);
    CHECK(launch.result.status.code == 0);
    // The last round compares with 0, as `In` does.
    for (int64_t row = 0; row < 2; ++row)
      for (int64_t at = 0; at < n; ++at) REQUIRE(launch.Out(row, at) == launch.In(row, at));
  }
}

TEST_CASE("flags past the capacity are reported, and not written", "[adstack][flags]") {
  auto planned = Lower(Parities("%n"));
  // A row of one word: the interpreter fails on what leaves it.
  Launch over(*planned, 33, 33, 0, {32});
  CHECK(over.result.status.code == 1);
  CHECK(over.result.status.index == 0);
  CHECK(over.result.status.needed == 33);
  // The capacity is in flags, although the word would hold more.
  Launch inside(*planned, 31, 31, 0, {30});
  CHECK(inside.result.status.code == 1);
  CHECK(inside.result.status.needed == 31);
  Launch next(*planned, 32, 32, 0, {32});
  CHECK(next.result.status.code == 0);
  for (int64_t at = 0; at < 32; ++at) REQUIRE(next.Out(1, at) == next.In(1, at));
}
