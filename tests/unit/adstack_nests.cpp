// Nests whose stacks live over more than one loop: what they take is the largest real sum, whatever the
// bounds.

#include <algorithm>
#include <random>

#include "adstack_support.h"

using namespace adc;
using namespace adc::test;

namespace {

/// One loop of a nest: what stands before it and its bounds. `$` in a name makes it another one in the
/// adjoint sweep.
struct Level {
  const char* before;
  const char* bounds;
};

struct Nest {
  const char* name;
  std::vector<Level> levels;
  std::string axes = "%i in 0..shape(%x, 0)";
};

std::string Named(std::string text, char side) {
  std::replace(text.begin(), text.end(), '$', side);
  return text;
}

/// Pushes once per innermost iteration, and pops as often in the other order.
std::string TextOf(const Nest& nest) {
  std::string text =
      "kernel @k(%x: buffer<f32, 1>, %n: buffer<i32, 1>, %m: buffer<i32, 1>, %c: i32, %out: buffer<f32, 1>) "
      "{\n"
      "  parallel " +
      nest.axes + " {\n    %v = load %x[0]\n    %s = stack.new f32\n";
  for (char side : {'f', 'r'}) {
    std::string closing;
    for (size_t level = 0; level < nest.levels.size(); ++level) {
      std::string number = std::to_string(level);
      text += Named(nest.levels[level].before, side) + "\nfor %$" + number + " in " +
              nest.levels[level].bounds + (side == 'r' ? " reversed {\n" : " {\n");
      text = Named(text, side);
      closing += "}\n";
    }
    text += side == 'f' ? "stack.push %s, %v\n" : "%p = stack.pop %s\natomic add %out[0], %p\n";
    text += closing;
  }
  return text + "  }\n}\n";
}

/// Carried integers as bounds while values are pushed; as many pops in one loop behind.
const char* const kGrowing = R"(
kernel @k(%x: buffer<f32, 1>, %n: buffer<i32, 1>, %m: buffer<i32, 1>, %c: i32, %out: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %v = load %x[0]
    %s = stack.new f32
    %last, %total = for %j in 0..(load %n[%i]) carry(%w = 1, %t = 0) {
      for %k in 0..%w { stack.push %s, %v }
      yield (add %w, (load %m[%j])), (add %t, (max %w, 0))
    }
    for %r in 0..%total reversed {
      %p = stack.pop %s
      atomic add %out[0], %p
    }
  }
}
)";

interp::Arguments Launch(const Planned& planned, uint32_t seed) {
  std::mt19937 random(seed);
  interp::Arguments arguments = interp::MakeArguments(*planned.module, *planned.kernel);
  std::vector<double> n, m;
  double at = 0;
  for (int k = 0; k < 9; ++k) {
    // %n ascends, so that it is the rows of a sparse matrix as well; %m does not.
    n.push_back(at);
    at = std::min(at + static_cast<double>(random() % 3), 7.0);
    m.push_back(static_cast<double>(random() % 6));
  }
  arguments[0].tensor = interp::Tensor::Filled(ir::Scalar::F32, {6}, std::vector<double>(6, 1.0));
  arguments[1].tensor = interp::Tensor::Filled(ir::Scalar::I32, {9}, n);
  arguments[2].tensor = interp::Tensor::Filled(ir::Scalar::I32, {9}, m);
  SetInteger(arguments, 3, static_cast<int64_t>(random() % 8));
  arguments[4].tensor = interp::Tensor::Zeros(ir::kF32, {1});
  return arguments;
}

int64_t Need(const Planned& planned, interp::Arguments arguments) {
  interp::RunResult result = interp::Run(*planned.module, *planned.kernel, arguments);
  INFO(interp::Describe(result.error, planned.sources));
  REQUIRE(result.Ok());
  int64_t need = 0;
  for (const interp::StackStatistics& seen : result.stacks) {
    if (planned.kernel->Result(seen.stack) == planned.plan.tasks[0].stacks[0].stack)
      need = static_cast<int64_t>(seen.max_depth);
  }
  return need;
}

/// Expression and size kernel both say exactly what launches take.
void CheckExact(const std::string& text) {
  adstack::PlanConfig config;
  config.private_bytes = 0;
  auto planned = PlanText(text, config);
  INFO(text << planned->PlanText() << planned->Messages());
  REQUIRE(planned->plan.tasks[0].stacks.size() == 1);
  const adstack::PlannedStack& stack = planned->plan.tasks[0].stacks[0];
  CHECK_FALSE(stack.loose);
  REQUIRE(stack.capacity != artifact::kNoNode);
  std::vector<counting::SizeKernel> sizes =
      counting::AddSizeKernels(*planned->module, *planned->kernel, planned->plan, {}, planned->diagnostics);
  CHECK(sizes.size() == (planned->plan.exprs.HasLoops(stack.capacity) ? 1u : 0u));
  for (counting::SizeKernel& size : sizes)
    REQUIRE(adstack::LowerAdstacks(*planned->module, *size.function, size.plan, planned->diagnostics));
  for (uint32_t seed = 0; seed < 20; ++seed) {
    interp::Arguments arguments = Launch(*planned, seed), again = arguments;
    LaunchEnv env(*planned->kernel, again);
    int64_t need = Need(*planned, arguments);
    INFO("seed " << seed);
    artifact::EvalResult capacity = env.Evaluate(planned->plan.exprs, stack.capacity);
    REQUIRE(capacity.ok());
    CHECK(capacity.value == need);
    if (sizes.empty()) continue;
    int rounds = 0;
    CHECK(Count(*planned, sizes[0], arguments, &rounds)[0] == need);
  }
}

}  // namespace

TEST_CASE("a stack over several loops takes the largest real sum", "[adstack]") {
  const Nest nests[] = {
      {"ragged", {{"", "0..(load %n[%i])"}, {"", "0..(load %m[%$0])"}}},
      {"rows of rows",
       {{"", "(load %n[%i])..(load %n[(add %i, 1)])"}, {"", "(load %n[%$0])..(load %n[(add %$0, 1)])"}}},
      {"three deep",
       {{"", "(load %n[%i])..(load %n[(add %i, 1)])"},
        {"", "(load %n[%$0])..(load %n[(add %$0, 1)])"},
        {"", "0..(load %m[%$1])"}}},
      {"read in two ways at once", {{"", "0..(sub (load %m[%i]), (load %n[%i]))"}}},
      {"an upper bound from two reads", {{"", "0..(min (load %m[%i]), (sub (load %n[7]), (load %n[%i])))"}}},
      {"one buffer, two indices", {{"", "0..(load %n[%i])"}, {"", "0..(sub (load %n[%$0]), (load %n[%i]))"}}},
      {"triangle", {{"", "0..%c"}, {"", "0..%$0"}}},
      {"tetrahedron", {{"", "0..%c"}, {"", "0..%$0"}, {"", "0..%$1"}}},
      {"triangle of steps", {{"", "0..%c step 2"}, {"", "%$0..%c step 3"}}},
      {"triangle over the parallel index", {{"", "%i..%c"}, {"", "0..%$0"}}},
      {"two axes", {{"", "0..(load %m[%i])"}, {"", "%j..(add %$0, 2)"}}, "%i, %j in 0..shape(%x, 0), 0..3"},
      {"a bound that was summed up",
       {{"%e$ = for %q$ in 0..%c carry(%z$ = 1) { yield (add %z$, (load %m[%q$])) }", "0..%e$"}}},
      {"a bound that was summed up inside",
       {{"", "0..(load %m[%i])"},
        {"%e$ = for %q$ in 0..%$0 carry(%z$ = 1) { yield (add %z$, (load %m[%q$])) }", "0..%e$"}}},
      {"remainders and quotients", {{"", "0..(mod (mul %i, 7), 5)"}, {"", "0..(div (add %$0, %i), 2)"}}},
      {"a choice", {{"", "0..(select (lt %i, 3), (load %m[%i]), %c)"}, {"", "0..(add %i, 1)"}}},
  };
  for (const Nest& nest : nests) {
    INFO(nest.name);
    CheckExact(TextOf(nest));
  }
  CheckExact(kGrowing);
}

TEST_CASE("sums that a host would not finish are left to the size kernel", "[adstack]") {
  // More steps than any budget: the expression says so, and the task has a size kernel.
  auto planned = PlanText(TextOf({"large", {{"", "0..100000"}, {"", "0..(mod (mul %$0, %c), 100003)"}}}));
  const adstack::PlannedStack& stack = planned->plan.tasks[0].stacks[0];
  INFO(planned->PlanText());
  REQUIRE(planned->plan.exprs.HasLoops(stack.capacity));
  CHECK(counting::AddSizeKernels(*planned->module, *planned->kernel, planned->plan, {}, planned->diagnostics)
            .size() == 1);
  CHECK(planned->plan.tasks[0].stacks[0].counted);
}
