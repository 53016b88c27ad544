// Size kernels: what is left of a task when only its counts matter, and what they count.

#include "adstack_support.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::test;
using Catch::Matchers::Contains;

namespace {

const char* const kHalving = R"(
kernel @k(%x: buffer<f32, 1>, %out: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %s = stack.new f32
    %v0 = load %x[%i]
    %count, %last, %sum = while carry(%k = 0, %v = %v0, %w = 0.0) {
      continue_if (gt %v, 1.0)
    } do {
      stack.push %s, %v at %k
      yield (add %k, 1), (mul %v, 0.5), (add %w, (sin %v))
    }
    %g = for %t in 0..%count reversed carry(%h = 1.0) {
      %p = stack.pop %s at %t
      yield (mul %h, (cos %p))
    }
    add_to %out[%i], %g
    store %x[%i], 0.0
  }
}
)";

/// A while whose body pushes, and whose reversed twin runs a second while from what it pops.
const char* const kNested = R"(
kernel @k(%x: buffer<f32, 1>, %out: buffer<f32, 1>) {
  parallel %i in 0..shape(%x, 0) {
    %s = stack.new f32
    %v0 = load %x[%i]
    %count, %last = while carry(%k = 0, %v = %v0) {
      continue_if (gt %v, 1.0)
    } do {
      stack.push %s, %v at %k
      yield (add %k, 1), (mul %v, 0.5)
    }
    for %t in 0..%count reversed {
      %p = stack.pop %s at %t
      %s2 = stack.new f32
      %count2, %last2 = while carry(%k2 = 0, %v2 = %p) {
        continue_if (lt %v2, 100.0)
      } do {
        stack.push %s2, %v2 at %k2
        yield (add %k2, 1), (mul %v2, 3.0)
      }
      for %u in 0..%count2 reversed {
        %q = stack.pop %s2 at %u
        atomic add %out[%i], %q
      }
    }
  }
}
)";

std::vector<int64_t> Need(const Planned& planned, interp::Arguments arguments) {
  interp::RunResult result = interp::Run(*planned.module, *planned.kernel, arguments);
  REQUIRE(result.Ok());
  std::vector<int64_t> need;
  for (const adstack::PlannedStack& stack : planned.plan.tasks[0].stacks) {
    need.push_back(0);
    for (const interp::StackStatistics& seen : result.stacks) {
      if (planned.kernel->Result(seen.stack) == stack.stack)
        need.back() = static_cast<int64_t>(seen.max_depth);
    }
  }
  return need;
}

}  // namespace

TEST_CASE("only the loop's condition is left in a size kernel", "[counting]") {
  auto planned = PlanText(kHalving);
  std::vector<counting::SizeKernel> sizes =
      counting::AddSizeKernels(*planned->module, *planned->kernel, planned->plan, {}, planned->diagnostics);
  REQUIRE(sizes.size() == 1);
  CHECK(planned->plan.tasks[0].size_kernel == "k.size0");
  CHECK(sizes[0].function->role == ir::KernelRole::Size);
  REQUIRE(adstack::LowerAdstacks(*planned->module, *sizes[0].function, sizes[0].plan, planned->diagnostics));
  std::string text = ir::Print(*planned->module, *sizes[0].function);
  INFO(text);
  CHECK_THAT(text, Contains("while") && Contains("atomic max %sizes[0"));
  CHECK_THAT(text, !Contains("sin") && !Contains("cos") && !Contains("stack.") && !Contains("row.") &&
                       !Contains("%out[") && !Contains("store"));

  interp::Arguments arguments = interp::MakeArguments(*planned->module, *planned->kernel);
  arguments[0].tensor =
      interp::Tensor::Filled(ir::Scalar::F32, {4}, std::vector<double>{0.5, 100.0, 3.0, 1.5});
  arguments[1].tensor = interp::Tensor::Zeros(ir::kF32, {4});
  int rounds = 0;
  CHECK(Count(*planned, sizes[0], arguments, &rounds) == Need(*planned, arguments));
  CHECK(rounds == 1);
}

TEST_CASE("counts that depend on what was pushed settle level by level", "[counting]") {
  auto planned = PlanText(kNested);
  REQUIRE(planned->plan.tasks[0].stacks.size() == 2);
  std::vector<counting::SizeKernel> sizes =
      counting::AddSizeKernels(*planned->module, *planned->kernel, planned->plan, {}, planned->diagnostics);
  REQUIRE(sizes.size() == 1);
  REQUIRE(sizes[0].plan.tasks[0].stacks.size() == 1);  // the outer one is popped for the inner condition
  CHECK(sizes[0].plan.tasks[0].stacks[0].id == 0);
  REQUIRE(adstack::LowerAdstacks(*planned->module, *sizes[0].function, sizes[0].plan, planned->diagnostics));
  interp::Arguments arguments = interp::MakeArguments(*planned->module, *planned->kernel);
  arguments[0].tensor = interp::Tensor::Filled(ir::Scalar::F32, {3}, std::vector<double>{50.0, 7.0, 0.1});
  arguments[1].tensor = interp::Tensor::Zeros(ir::kF32, {3});
  int rounds = 0;
  std::vector<int64_t> counted = Count(*planned, sizes[0], arguments, &rounds);
  CHECK(counted == Need(*planned, arguments));
  CHECK(rounds == 2);
  CHECK(counted == std::vector<int64_t>{6, 4});
}

TEST_CASE("no size kernel where all is known, or where an atomic decides", "[counting]") {
  auto known = PlanText(
      "kernel @k(%x: buffer<f32, 1>, %n: i32) {\n  parallel %i in 0..shape(%x, 0) {\n    %s = stack.new f32\n"
      "    for %t in 0..%n { stack.push %s, 1.0 at %t }\n"
      "    for %u in 0..%n reversed { %p = stack.pop %s at %u\n atomic add %x[%i], %p }\n  }\n}\n");
  CHECK(
      counting::AddSizeKernels(*known->module, *known->kernel, known->plan, {}, known->diagnostics).empty());
  CHECK(known->plan.tasks[0].size_kernel.empty());
  auto atomic = PlanText(
      "kernel @k(%x: buffer<f32, 1>, %c: buffer<i32, 0>) {\n  parallel %i in 0..shape(%x, 0) {\n"
      "    %s = stack.new f32\n    %n = atomic add %c[], 1\n"
      "    for %t in 0..%n { stack.push %s, 1.0 at %t }\n"
      "    for %u in 0..%n reversed { %p = stack.pop %s at %u\n atomic add %x[%i], %p }\n  }\n}\n");
  CHECK(atomic->plan.tasks[0].stacks[0].capacity == artifact::kNoNode);
  CHECK(counting::AddSizeKernels(*atomic->module, *atomic->kernel, atomic->plan, {}, atomic->diagnostics)
            .empty());
}
