// Raised kernels compute what the lowered ones do: every program of tests/e2e/gradients, its gradient and
// what counts for it, in the interpreter, for each kind of target.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <filesystem>

#include "../support/folders.h"
#include "../support/random_arguments.h"
#include "driver/pipeline.h"
#include "interp/interpreter.h"
#include "ir/module.h"
#include "parse/parser.h"
#include "verify/verify.h"

using namespace adc;

namespace {

struct Compiled {
  diag::SourceManager sources;
  diag::Diagnostics diagnostics{0};
  driver::CompileOptions options;
  std::vector<target::Target> targets;
  std::unique_ptr<ir::Module> module;
  std::optional<driver::PipelineState> state;
};

/// Up to the end of raising; null for a program that is refused.
std::unique_ptr<Compiled> Compile(const std::string& path, const driver::CompileOptions& options) {
  auto compiled = std::make_unique<Compiled>();
  compiled->options = options;
  for (const char* name : {"cpu:x86-64-v3", "cuda:sm_80", "vulkan:1.2"})
    compiled->targets.push_back(target::FindTarget(name).value());
  compiled->module = parse::ParseFiles({path}, {}, compiled->sources, compiled->diagnostics);
  if (compiled->module == nullptr || compiled->diagnostics.HasErrors()) return nullptr;
  compiled->state.emplace(
      driver::PipelineState{*compiled->module, compiled->options, compiled->diagnostics, compiled->targets});
  using driver::Stage;
  for (Stage stage : {Stage::Normalise, Stage::Differentiate, Stage::Plan, Stage::Raise}) {
    if (!driver::RunStage(stage, *compiled->state)) return nullptr;
  }
  return compiled;
}

interp::Arguments ArgumentsOf(const ir::Module& module, const ir::Function& kernel) {
  constexpr int64_t kExtent = 4;
  interp::Arguments random = test::RandomArguments(module, kernel, 7, kExtent);
  interp::Arguments whole = interp::MakeArguments(module, kernel);
  for (size_t n = 0; n < kernel.params.size(); ++n) {
    if (!kernel.TypeOf(kernel.Params()[n]).IsLayout()) continue;
    random[n] = whole[n];
    std::memset(random[n].tensor.data.data(), 0x3E, random[n].tensor.data.size());
  }
  return random;
}

std::vector<interp::RowTask> RowsOf(const adstack::AdstackPlan& plan) {
  constexpr int64_t kCapacity = 4096;
  std::vector<interp::RowTask> tasks;
  for (const adstack::TaskPlan& task : plan.tasks) {
    interp::RowTask& rows = tasks.emplace_back();
    for (size_t n = 0; n < task.stacks.size(); ++n) {
      rows.stack_offset.push_back(static_cast<int64_t>(n) * kCapacity * 8);
      rows.stack_capacity.push_back(kCapacity);
    }
    rows.group_bytes.assign(task.groups.size(), static_cast<int64_t>(task.stacks.size()) * kCapacity * 8);
  }
  return tasks;
}

struct Counts {
  int ran = 0, changed = 0, reported = 0;
  int regrouped = 0;  ///< some sum of floats rounds otherwise
};

/// The same numbers, but for the rounding of floats.
bool AreNear(const interp::Tensor& got, const interp::Tensor& want) {
  if (!want.element.IsFloat() || got.ScalarCount() != want.ScalarCount()) return false;
  double limit = want.element.scalar == ir::Scalar::F64 ? 1e-12 : 1e-5;
  for (int64_t n = 0; n < want.ScalarCount(); ++n) {
    double a = got.Get(n), b = want.Get(n);
    bool is_near =
        a == b || (std::isnan(a) && std::isnan(b)) || std::abs(a - b) <= limit * std::max(1.0, std::abs(b));
    if (!is_near) return false;
  }
  return true;
}

/// `twin`: `planned` as it is raised.
void CheckKernel(const ir::Module& module, const product::PlannedKernel& planned, const ir::Module& raised,
                 const ir::Function& twin, bool is_checked, Counts* counts) {
  std::vector<interp::RowTask> rows = RowsOf(planned.plan);
  interp::RunOptions options;
  options.rows = rows;
  options.step_budget = 1u << 20;
  options.out_of_range = interp::OutOfRange::Skip;
  interp::Arguments want = ArgumentsOf(module, *planned.kernel);
  interp::Arguments got = want;
  interp::RunResult lowered_run = interp::Run(module, *planned.kernel, want, options);
  // What is checked makes no access that is out of range.
  if (is_checked) options.out_of_range = interp::OutOfRange::Stop;
  interp::RunResult raised_run = interp::Run(raised, twin, got, options);
  using interp::ErrorKind;
  // How many steps a run takes is no part of what it computes.
  if (lowered_run.error.kind == ErrorKind::StepBudget || raised_run.error.kind == ErrorKind::StepBudget)
    return;
  INFO(raised.Text(twin.name) << ": " << lowered_run.error.text << " / " << raised_run.error.text);
  CHECK(lowered_run.error.kind == raised_run.error.kind);
  CHECK((lowered_run.status.code != 0) == (raised_run.status.code != 0));
  bool is_regrouped = false;
  for (size_t n = 0; n < want.list.size(); ++n) {
    INFO("argument " << n);
    CHECK((got[n].bits == want[n].bits));
    if (got[n].tensor.data == want[n].tensor.data) continue;
    CHECK(AreNear(got[n].tensor, want[n].tensor));
    is_regrouped = true;
  }
  counts->regrouped += is_regrouped;
  ++counts->ran;
  counts->reported += raised_run.status.code != 0;
  counts->changed += ir::Print(module, *planned.kernel) != ir::Print(raised, twin);
}

Counts CheckPrograms(const driver::CompileOptions& options) {
  Counts counts;
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator(adc::test::SourceFolder() + "/tests/e2e/gradients")) {
    if (entry.path().extension() == ".ir") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  for (const std::filesystem::path& path : paths) {
    INFO(path.filename().string());
    std::unique_ptr<Compiled> compiled = Compile(path.string(), options);
    if (compiled == nullptr) continue;
    for (const driver::RaisedModule& raised : compiled->state->raised) {
      diag::Diagnostics found;
      INFO(ir::Print(*raised.module));
      REQUIRE(verify::Verify(*raised.module, found));
      const driver::LoweredModule& lowered = compiled->state->lowered[raised.lowered];
      for (const product::PlannedKernel& planned : lowered.kernels) {
        const ir::Function* twin = raised.module->Find(raised.module->Text(planned.kernel->name));
        REQUIRE(twin != nullptr);
        CheckKernel(*lowered.module, planned, *raised.module, *twin, options.check_bounds, &counts);
      }
    }
  }
  return counts;
}

}  // namespace

TEST_CASE("raised gradients compute what lowered ones do, bit by bit", "[raise]") {
  driver::CompileOptions options;
  options.float_mode = driver::FloatMode::Strict;
  Counts counts = CheckPrograms(options);
  CHECK(counts.ran > 500);
  CHECK(counts.changed > 50);
  CHECK(counts.regrouped == 0);
}

TEST_CASE("where sums may be regrouped, few raised gradients round otherwise", "[raise]") {
  Counts counts = CheckPrograms({});
  CHECK(counts.ran > 500);
  CHECK(counts.changed > 50);
  CHECK(counts.regrouped > 0);
  CHECK(counts.regrouped < 10);
}

TEST_CASE("raised checks leave out and report what the interpreter does", "[raise]") {
  driver::CompileOptions options;
  options.check_bounds = options.keep_asserts = true;
  Counts counts = CheckPrograms(options);
  CHECK(counts.ran > 500);
  CHECK(counts.changed > 300);
  CHECK(counts.reported > 20);
}
