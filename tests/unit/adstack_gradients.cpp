// Gradients of random kernels: lowered to rows of exactly the planned sizes they compute what they do with
// abstract stacks, and capacities cover what is pushed.

#include "../support/random_kernel.h"
#include "adstack_support.h"
#include "analysis/tasks.h"
#include "autodiff/reverse.h"
#include "checkpointed.h"
#include "driver/pipeline.h"
#include "ir/module.h"
#include "transform/simplify.h"

using namespace adc;
using namespace adc::test;

namespace {

std::unique_ptr<Planned> PlannedGradient(const std::string& text, adstack::PlanConfig config,
                                         const autodiff::CheckpointConfig& checkpoints = {}) {
  auto planned = std::make_unique<Planned>();
  planned->module = parse::ParseText("test.ir", text, {}, planned->sources, planned->diagnostics);
  INFO(text << planned->Messages());
  REQUIRE(planned->module);
  REQUIRE(driver::Normalise(*planned->module, planned->diagnostics));
  ir::Function* primal = planned->module->functions.front().get();
  planned->kernel = DeriveWithCheckpoints(*planned->module, *primal, checkpoints, planned->diagnostics);
  INFO(planned->Messages());
  REQUIRE(planned->kernel);
  planned->module->phase = ir::Phase::Differentiated;
  StringId name = planned->kernel->name;
  REQUIRE(transform::Simplify(*planned->module, {}, planned->diagnostics));
  planned->kernel = planned->module->Find(name);
  planned->plan = adstack::PlanAdstacks(*planned->module, *planned->kernel, config, planned->diagnostics);
  REQUIRE_FALSE(planned->diagnostics.HasErrors());
  return planned;
}

/// Half of the seeds keep checkpoints: some of a fixed length, some of the length that the launch says.
autodiff::CheckpointConfig CheckpointsOf(uint64_t seed) {
  using Which = autodiff::CheckpointConfig::Which;
  autodiff::CheckpointConfig config;
  if (seed % 4 == 1) config = {Which::All, static_cast<uint32_t>(1 + seed / 4 % 3), 0};
  if (seed % 4 == 3) config = {Which::AtLaunch, 0, 0};
  return config;
}

/// Arguments of the primal: buffers of four elements, then those of the gradient with ones as adjoints.
interp::Arguments Launch(const Planned& planned, uint64_t seed) {
  const ir::Function& kernel = *planned.kernel;
  interp::Arguments arguments = interp::MakeArguments(*planned.module, kernel);
  uint64_t state = seed * 77 + 5;
  auto next = [&] {
    return static_cast<double>((state = state * 6364136223846793005ull + 1442695040888963407ull) >> 40);
  };
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    ir::Type type = kernel.TypeOf(kernel.Params()[n]);
    bool is_float = ir::IsFloat(type.scalar);
    if (type.IsBuffer()) {
      std::vector<int64_t> extents(type.count, 4);
      arguments[n].tensor = interp::Tensor::Zeros(type.Element(), extents);
      if (kernel.params[n].role == ir::ParamRole::Scratch) continue;
      for (int64_t k = 0; k < arguments[n].tensor.ScalarCount(); ++k)
        arguments[n].tensor.Set(
            k, is_float ? next() / 16777216.0 + 0.2 : static_cast<double>(static_cast<int>(next()) % 7));
    } else if (is_float) {
      arguments[n] = interp::NumberArgument(type, 0.75);
    } else {
      arguments[n].bits = {static_cast<uint64_t>(seed % 6)};
    }
  }
  return arguments;
}

}  // namespace

TEST_CASE("lowered gradients of random kernels compute what abstract ones do", "[adstack]") {
  uint32_t at_launch = 0, with_stacks = 0, counted = 0, stacks = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    RandomKernelConfig kernel_config;
    kernel_config.tasks = 1 + seed % 2;
    std::string text = RandomKernel(seed, kernel_config);
    adstack::PlanConfig config;
    config.private_bytes = seed % 3 == 0 ? 256 : 0;
    autodiff::CheckpointConfig checkpoints = CheckpointsOf(seed);
    std::unique_ptr<Planned> abstract = PlannedGradient(text, config, checkpoints),
                             lowered = PlannedGradient(text, config, checkpoints);
    if (std::all_of(abstract->plan.tasks.begin(), abstract->plan.tasks.end(),
                    [](const adstack::TaskPlan& task) { return task.stacks.empty(); }))
      continue;
    ++with_stacks;
    for (const ir::ParamInfo& info : abstract->kernel->params)
      at_launch += info.role == ir::ParamRole::Segment ? 1 : 0;
    INFO("seed " << seed << "\n" << text << abstract->PlanText() << abstract->Text());
    std::vector<counting::SizeKernel> sizes =
        counting::AddSizeKernels(*lowered->module, *lowered->kernel, lowered->plan, {}, lowered->diagnostics);
    REQUIRE(adstack::LowerAdstacks(*lowered->module, *lowered->kernel, lowered->plan, lowered->diagnostics));
    for (counting::SizeKernel& size : sizes)
      REQUIRE(adstack::LowerAdstacks(*lowered->module, *size.function, size.plan, lowered->diagnostics));

    // What the pipeline does next may not change what runs, nor how many tasks there are.
    REQUIRE(transform::Simplify(*lowered->module, {}, lowered->diagnostics));
    lowered->kernel = lowered->module->Find(abstract->module->Text(abstract->kernel->name));
    for (counting::SizeKernel& size : sizes) {
      REQUIRE(analysis::TasksOf(*size.function).size() == size.plan.tasks.size());
    }
    REQUIRE(analysis::TasksOf(*lowered->kernel).size() == lowered->plan.tasks.size());

    interp::Arguments arguments = Launch(*abstract, seed), in_rows = arguments;
    LaunchEnv env(*lowered->kernel, in_rows);
    interp::RunResult result = interp::Run(*abstract->module, *abstract->kernel, arguments);
    INFO(interp::Describe(result.error, abstract->sources));
    REQUIRE(result.Ok());

    std::vector<interp::RowTask> rows = LayRows(*lowered, env);
    size_t size_kernel = 0;
    for (size_t task = 0; task < lowered->plan.tasks.size(); ++task) {
      const adstack::TaskPlan& plan = lowered->plan.tasks[task];
      if (plan.size_kernel.empty()) {
        for (const adstack::PlannedStack& stack : plan.stacks) REQUIRE(stack.capacity != artifact::kNoNode);
        continue;
      }
      // Counting must change nothing; scratch of earlier tasks is not filled here, so only first tasks are
      // counted.
      if (task > 0) {
        ++size_kernel;
        continue;
      }
      int rounds = 0;
      std::vector<int64_t> counts = Count(*lowered, sizes[size_kernel++], in_rows, &rounds, task);
      std::vector<int64_t> caps(plan.stacks.size(), -1);
      for (size_t n = 0; n < plan.stacks.size(); ++n) {
        if (plan.stacks[n].capacity == artifact::kNoNode) caps[n] = counts[n];
        ++counted;
      }
      std::vector<interp::RowTask> again = LayRows(*lowered, env, caps);
      rows[task] = again[task];
    }
    bool later_unknown = false;
    for (size_t task = 0; task < abstract->plan.tasks.size(); ++task) {
      const std::vector<adstack::PlannedStack>& planned_stacks = abstract->plan.tasks[task].stacks;
      for (size_t n = 0; n < planned_stacks.size(); ++n) {
        int64_t need = 0;
        for (const interp::StackStatistics& seen : result.stacks) {
          if (abstract->kernel->Result(seen.stack) == planned_stacks[n].stack)
            need = static_cast<int64_t>(seen.max_depth);
        }
        bool unknown = planned_stacks[n].capacity == artifact::kNoNode;
        later_unknown = later_unknown || (unknown && task > 0);
        if (unknown && task > 0) continue;
        INFO("task " << task << " stack " << n << " need " << need);
        REQUIRE(rows[task].stack_capacity[n] >= need);
        if (unknown) REQUIRE(rows[task].stack_capacity[n] == need);
        ++stacks;
      }
    }
    if (later_unknown) continue;
    interp::RunOptions options;
    options.rows = rows;
    interp::RunResult row_result = interp::Run(*lowered->module, *lowered->kernel, in_rows, options);
    INFO(lowered->Text() << interp::Describe(row_result.error, lowered->sources));
    REQUIRE(row_result.Ok());
    REQUIRE(row_result.status.code == 0);
    for (size_t n = 0; n < arguments.list.size(); ++n) REQUIRE(arguments[n].tensor == in_rows[n].tensor);
  }
  CHECK(at_launch > 10);
  CHECK(with_stacks > 60);
  CHECK(counted > 5);
  CHECK(stacks > 150);
}

TEST_CASE("tapes of loops with checkpoints have the slots that they fill, whatever the length", "[adstack]") {
  const std::string text =
      "kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 1> diff, %n: i32) {\n"
      "  parallel %i in 0..shape(%x, 0) {\n"
      "    %a9 = for %t in 1..%n step 2 carry(%a = (load %x[%i])) {\n"
      "      %b9 = for %u in 0..(add %t, 1) reversed carry(%b = %a) { yield (sin (add %b, (mul %a, %b))) }\n"
      "      yield (add (mul 0.5, %b9), %a) }\n"
      "    store %y[%i], (mul %a9, %a9) } }\n";
  autodiff::CheckpointConfig checkpoints{autodiff::CheckpointConfig::Which::AtLaunch, 0, 0};
  std::unique_ptr<Planned> planned = PlannedGradient(text, {}, checkpoints);
  INFO(planned->PlanText());
  const std::vector<adstack::PlannedStack>& stacks = planned->plan.tasks[0].stacks;
  REQUIRE(stacks.size() == 4);
  interp::Arguments arguments = Launch(*planned, 0);
  size_t length_at = 0;
  while (planned->kernel->params[length_at].role != ir::ParamRole::Segment) ++length_at;
  for (int64_t n : {0, 1, 2, 40, 61}) {
    for (int64_t length : {0, 1, 2, 3, 6, 8, 100}) {
      INFO("n " << n << ", segments of " << length);
      SetInteger(arguments, 2, n);
      SetInteger(arguments, length_at, length);
      LaunchEnv env(*planned->kernel, arguments);
      interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments);
      REQUIRE(result.Ok());
      for (const adstack::PlannedStack& stack : stacks) {
        int64_t need = 0;
        for (const interp::StackStatistics& seen : result.stacks) {
          if (planned->kernel->Result(seen.stack) == stack.stack) need = static_cast<int64_t>(seen.max_depth);
        }
        artifact::EvalResult capacity = env.Evaluate(planned->plan.exprs, stack.capacity);
        REQUIRE(capacity.ok());
        CHECK(capacity.value >= need);
        if (need > 0) CHECK(static_cast<double>(capacity.value) <= 1.05 * static_cast<double>(need));
      }
    }
  }
}

namespace {

/// A loop nest around `%a`, whose result is `%v`.
std::string Nest(const std::string& body) {
  return "kernel @k(%x: buffer<f64, 1> diff, %y: buffer<f64, 1> diff, %n: i32, %r: buffer<i32, 1>) {\n"
         "  parallel %i in 0..shape(%x, 0) {\n    %a = load %x[%i]\n" +
         body + "    store %y[%i], (mul %v, %v) } }\n";
}

struct NestCase {
  const char* body;
  bool tight;  ///< no capacity is more than a twentieth above what is pushed
};

// Bounds from scalars, indices, buffers, computed ones; branches around loops and in them; ends in the data.
const NestCase kNests[] = {
    {"%v = for %t in 0..%n carry(%b = %a) {\n"
     "  %c9 = for %u in %t..(mul %n, 2) carry(%c = %b) { yield (sin (add %c, %b)) }\n"
     "  yield (tanh (mul %c9, %b)) }\n",
     true},
    {"%v = for %t in 0..(load %r[%i]) carry(%b = %a) {\n"
     "  %c9 = for %u in 0..(add (mul %t, 2), (load %r[%i])) step 3 carry(%c = %b) { yield (sin (add %c, %b)) "
     "}\n"
     "  yield (tanh (mul %c9, %b)) }\n",
     true},
    {"%v = if (gt %n, 5) {\n"
     "  %b9 = for %t in 0..%n reversed carry(%b = %a) { yield (sin (mul %b, %a)) }\n  yield %b9\n"
     "} else { yield %a }\n",
     true},
    {"%v = for %t in 0..%n carry(%b = %a) {\n"
     "  %c = if (eq (mod %t, 2), 0) {\n"
     "    %d9 = for %u in 0..(sub %n, %t) carry(%d = %b) { yield (sin (mul %d, %b)) }\n    yield %d9\n"
     "  } else { yield (mul %b, %b) }\n"
     "  yield (tanh %c) }\n",
     false},
    {"%v, %j9 = while max %n carry(%b = %a, %j = 0) { continue_if (lt %j, 1000) } do {\n"
     "  yield (sin (mul %b, %a)), (add %j, 1) }\n",
     true},
    {"%v, %j9 = while carry(%b = %a, %j = 0) { continue_if (gt (sub %n, %j), 0) } do {\n"
     "  yield (sin (mul %b, %a)), (add %j, 1) }\n",
     true},
    {"%v, %j9 = while carry(%b = %a, %j = 0) { continue_if (gt (sub %n, %j), 0) } do {\n"
     "  %c9 = for %u in 0..(mul %j, 3) carry(%c = %b) { yield (sin (add %c, %b)) }\n"
     "  yield (tanh (mul %c9, %a)), (add %j, 1) }\n",
     true},
    {"%v = for %t in 0..%n carry(%b = %a) {\n"
     "  %c9, %k9 = while carry(%c = %b, %k = %t) { continue_if (gt %k, 0) } do {\n"
     "    yield (sin (mul %c, %b)), (sub %k, 1) }\n"
     "  yield (tanh (mul %c9, %b)) }\n",
     true}};

}  // namespace

TEST_CASE("tapes of nests with checkpoints have the slots that they fill", "[adstack]") {
  autodiff::CheckpointConfig checkpoints{autodiff::CheckpointConfig::Which::AtLaunch, 0, 0};
  uint32_t counted = 0, saved = 0;
  for (const NestCase& nest : kNests) {
    std::string text = Nest(nest.body);
    std::unique_ptr<Planned> planned = PlannedGradient(text, {.private_bytes = 0}, checkpoints),
                             lowered = PlannedGradient(text, {.private_bytes = 0}, checkpoints);
    INFO(planned->PlanText() << planned->Text());
    std::vector<counting::SizeKernel> sizes =
        counting::AddSizeKernels(*lowered->module, *lowered->kernel, lowered->plan, {}, lowered->diagnostics);
    for (counting::SizeKernel& size : sizes)
      REQUIRE(adstack::LowerAdstacks(*lowered->module, *size.function, size.plan, lowered->diagnostics));
    const adstack::TaskPlan& task = planned->plan.tasks[0];
    interp::Arguments arguments = Launch(*planned, 3);
    size_t length_at = 0;
    while (planned->kernel->params[length_at].role != ir::ParamRole::Segment) ++length_at;
    for (int64_t n : {0, 1, 2, 7, 40, 61}) {
      int64_t whole = 0;
      for (int64_t length : {0, 1, 2, 3, 6, 8, 100}) {
        INFO("n " << n << ", segments of " << length);
        SetInteger(arguments, 2, n);
        SetInteger(arguments, length_at, length);
        for (int64_t k = 0; k < 4; ++k) arguments[3].tensor.Set(k, static_cast<double>((n + k) % 23));
        interp::Arguments before = arguments;
        LaunchEnv env(*planned->kernel, before);
        interp::RunResult result = interp::Run(*planned->module, *planned->kernel, arguments);
        REQUIRE(result.Ok());
        std::vector<int64_t> counts;
        int rounds = 0;
        if (!sizes.empty()) counts = Count(*lowered, sizes[0], before, &rounds);
        int64_t slots = 0;
        for (size_t k = 0; k < task.stacks.size(); ++k) {
          int64_t need = 0;
          for (const interp::StackStatistics& seen : result.stacks) {
            if (planned->kernel->Result(seen.stack) == task.stacks[k].stack)
              need = static_cast<int64_t>(seen.max_depth);
          }
          bool open = task.stacks[k].capacity == artifact::kNoNode;
          int64_t capacity =
              open ? counts[k] : env.Evaluate(planned->plan.exprs, task.stacks[k].capacity).value;
          counted += open ? 1 : 0;
          INFO("stack " << k << " needs " << need << ", has " << capacity);
          CHECK(capacity >= need);
          if (nest.tight && need > 0)
            CHECK(static_cast<double>(capacity) <= 1.05 * static_cast<double>(need));
          if (open) CHECK(capacity == need);
          slots += capacity;
        }
        if (length == 0) whole = slots;
        if (length == 8 && n == 61) saved += slots < whole ? 1 : 0;
      }
    }
  }
  CHECK(counted > 100);
  CHECK(saved > 5);
}
