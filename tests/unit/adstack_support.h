#pragma once
// Helpers of the adstack tests: text to plan, a plan's capacities at a launch, a lowered kernel run over
// rows.

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "adstack/lower.h"
#include "adstack/plan.h"
#include "counting/size_kernel.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "parse/parser.h"

namespace adc::test {

struct Planned {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics{0};
  std::unique_ptr<ir::Module> module;
  ir::Function* kernel = nullptr;
  adstack::AdstackPlan plan;

  std::string Messages() { return diag::PrintDiagnostics(diagnostics, sources, false); }
  std::string PlanText() { return adstack::PrintPlan(*module, *kernel, plan, sources); }
  std::string Text() { return ir::Print(*module, *kernel); }
};

/// Parses `text` and plans its first kernel.
inline std::unique_ptr<Planned> PlanText(const std::string& text, adstack::PlanConfig config = {}) {
  auto planned = std::make_unique<Planned>();
  planned->module = parse::ParseText("test.ir", text, {}, planned->sources, planned->diagnostics);
  INFO(text << planned->Messages());
  REQUIRE(planned->module);
  REQUIRE_FALSE(planned->diagnostics.HasErrors());
  for (const auto& function : planned->module->functions) {
    if (function->IsKernel() && planned->kernel == nullptr) planned->kernel = function.get();
  }
  REQUIRE(planned->kernel);
  planned->module->phase = ir::Phase::Differentiated;
  planned->plan = adstack::PlanAdstacks(*planned->module, *planned->kernel, config, planned->diagnostics);
  return planned;
}

/// What size expressions see of interpreter arguments.
class LaunchEnv {
 public:
  LaunchEnv(const ir::Function& kernel, const interp::Arguments& arguments) : arguments_(arguments) {
    params_.resize(kernel.params.size());
    for (size_t n = 0; n < params_.size(); ++n) {
      const interp::Argument& argument = arguments[n];
      ir::Type type = kernel.TypeOf(kernel.Params()[n]);
      if (type.IsScalar() && !ir::IsFloat(type.scalar)) {
        params_[n].has_scalar = true;
        params_[n].scalar = static_cast<int64_t>(argument.bits[0]);
      }
      params_[n].extents = argument.tensor.extents.data();
      params_[n].rank = static_cast<uint32_t>(argument.tensor.extents.size());
    }
    env_.params = params_;
    env_.user = this;
    env_.read = [](void* user, uint32_t param, std::span<const int64_t> indices, int64_t* value) {
      const interp::Tensor& tensor = static_cast<LaunchEnv*>(user)->arguments_[param].tensor;
      int64_t position = 0;
      for (size_t axis = 0; axis < indices.size(); ++axis) {
        if (indices[axis] < 0 || indices[axis] >= tensor.extents[axis]) return false;
        position = position * tensor.extents[axis] + indices[axis];
      }
      *value = static_cast<int64_t>(tensor.Get(position));
      return true;
    };
  }
  artifact::EvalResult Evaluate(const artifact::SizeExprPool& pool, artifact::NodeId node) const {
    return artifact::Evaluate(pool, node, env_);
  }

 private:
  const interp::Arguments& arguments_;
  std::vector<artifact::SizeParam> params_;
  artifact::SizeEnv env_;
};

/// Rows as a loader lays them out: stacks in order, each aligned to its element, those that share at one
/// place. `caps` replaces capacities by stack (-1: the plan's); unknown ones without a cap get `fallback`.
inline std::vector<interp::RowTask> LayRows(const Planned& planned, const LaunchEnv& env,
                                            std::vector<int64_t> caps = {}, int64_t fallback = 0) {
  std::vector<interp::RowTask> tasks;
  for (const adstack::TaskPlan& task : planned.plan.tasks) {
    interp::RowTask rows;
    rows.group_bytes.resize(task.groups.size());
    std::vector<int64_t> bytes;
    for (size_t n = 0; n < task.stacks.size(); ++n) {
      int64_t capacity = fallback;
      if (task.stacks[n].capacity != artifact::kNoNode) {
        artifact::EvalResult value = env.Evaluate(planned.plan.exprs, task.stacks[n].capacity);
        REQUIRE(value.ok());
        capacity = value.value;
      }
      if (n < caps.size() && caps[n] >= 0) capacity = caps[n];
      rows.stack_capacity.push_back(capacity);
      rows.stack_offset.push_back(0);
      bytes.push_back(task.stacks[n].IsBits() ? (capacity + 31) / 32 * 4
                                              : capacity * ir::ByteSize(task.stacks[n].scalar));
    }
    for (size_t n = 0; n < task.stacks.size(); ++n) {
      const adstack::PlannedStack& stack = task.stacks[n];
      if (stack.storage == artifact::Storage::kPrivate) continue;
      int64_t own = bytes[n], alignment = 8;
      bool placed = false;
      for (size_t other = 0; other < task.stacks.size() && stack.share != artifact::kNoIndex; ++other) {
        if (task.stacks[other].share != stack.share || task.stacks[other].group != stack.group) continue;
        if (other < n && !placed) {
          rows.stack_offset[n] = rows.stack_offset[other];
          placed = true;
        }
        own = std::max(own, bytes[other]);
      }
      if (placed) continue;
      int64_t& cursor = rows.group_bytes[stack.group];
      cursor = (cursor + alignment - 1) / alignment * alignment;
      rows.stack_offset[n] = cursor;
      cursor += own;
    }
    tasks.push_back(rows);
  }
  return tasks;
}

/// Bits of an integer argument.
inline void SetInteger(interp::Arguments& arguments, size_t parameter, int64_t value) {
  arguments[parameter].bits = {static_cast<uint64_t>(value)};
}

/// Counts with the size kernel of a task as a launcher does: again, until nothing that it keeps grows.
inline std::vector<int64_t> Count(const Planned& planned, const counting::SizeKernel& size,
                                  const interp::Arguments& arguments, int* rounds, size_t task_number = 0) {
  size_t stacks = planned.plan.tasks[task_number].stacks.size();
  interp::Arguments own = interp::MakeArguments(*planned.module, *size.function);
  for (size_t n = 0; n < arguments.list.size(); ++n) own[n] = arguments[n];
  size_t groups = planned.plan.tasks[task_number].groups.size();
  own.list.back().tensor = interp::Tensor::Zeros(ir::kI64, {static_cast<int64_t>(stacks + groups)});
  std::vector<int64_t> known(stacks, 0);
  LaunchEnv env(*planned.kernel, arguments);
  for (*rounds = 1; *rounds < 20; ++*rounds) {
    std::vector<interp::RowTask> rows;
    bool again = false;
    for (const adstack::TaskPlan& task : size.plan.tasks) {
      interp::RowTask& row = rows.emplace_back();
      row.group_bytes.resize(task.groups.size());
      for (const adstack::PlannedStack& stack : task.stacks) {
        bool in_row = stack.storage == artifact::Storage::kRow;
        row.stack_offset.push_back(in_row ? row.group_bytes[stack.group] : 0);
        int64_t capacity = known[stack.id];
        if (stack.capacity != artifact::kNoNode) {
          artifact::EvalResult value = env.Evaluate(size.plan.exprs, stack.capacity);
          REQUIRE(value.ok());
          capacity = value.value;
        }
        row.stack_capacity.push_back(capacity);
        if (in_row) row.group_bytes[stack.group] += capacity * 8;
      }
    }
    interp::RunOptions options;
    options.rows = rows;
    interp::RunResult result = interp::Run(*planned.module, *size.function, own, options);
    INFO(interp::Describe(result.error, planned.sources) << ir::Print(*planned.module, *size.function));
    REQUIRE(result.Ok());
    REQUIRE(result.status.code == 0);
    for (const adstack::PlannedStack& stack :
         size.plan.tasks.empty() ? std::vector<adstack::PlannedStack>() : size.plan.tasks[0].stacks)
      again = again || own.list.back().tensor.Get(stack.id) > static_cast<double>(known[stack.id]);
    for (size_t n = 0; n < stacks; ++n)
      known[n] = static_cast<int64_t>(own.list.back().tensor.Get(static_cast<int64_t>(n)));
    if (!again) break;
  }
  return known;
}

}  // namespace adc::test
