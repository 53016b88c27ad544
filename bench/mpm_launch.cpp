// mpm_grid_op at the sizes of the push test: a launch of the gradient against a launch of the kernel.
//
//   mpm_launch [--scale=S] [--geoms=N] [--pass-fraction=F] [--threads=N] [--repeats=N]
//
// Exit code 1 where the gradient takes more than 3 times the kernel.

#include <algorithm>

#include "../tests/support/folders.h"
#include "../tests/support/native.h"
#include "mpm_state.h"
#include "timing.h"

using namespace adc;

namespace {

/// The state as arguments, by position: the state lists every parameter in order.
interp::Arguments MakeArguments(const std::vector<samples::StateArray>& state,
                                const std::vector<adrt_param_report>& params) {
  interp::Arguments arguments;
  for (size_t n = 0; n < state.size(); ++n) {
    const samples::StateArray& array = state[n];
    interp::Argument argument;
    ir::Scalar scalar = array.is_float ? ir::Scalar::F32 : ir::Scalar::I32;
    if (array.is_number) {
      for (double value : array.values)
        argument.bits.push_back(interp::NumberArgument(ir::Type::Of(scalar), value).bits[0]);
    } else {
      ir::Type element = ir::Type::Of(scalar);
      if (params[n].rows > 1) element = ir::Type::Vec(scalar, params[n].rows);
      if (params[n].columns > 1) element = ir::Type::Mat(scalar, params[n].rows, params[n].columns);
      argument.tensor = interp::Tensor::Zeros(
          element, {array.extents.begin(), array.extents.begin() + static_cast<ptrdiff_t>(params[n].rank)});
      std::string bytes = samples::ArrayBytes(array, false);
      std::memcpy(argument.tensor.data.data(), bytes.data(), bytes.size());
    }
    arguments.list.push_back(std::move(argument));
  }
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  samples::MpmStateConfig config;
  config.scale = bench::Option(argc, argv, "scale", 1);
  config.geoms = static_cast<uint32_t>(bench::Option(argc, argv, "geoms", 3));
  config.pass_fraction = bench::Option(argc, argv, "pass-fraction", 0);
  auto threads = static_cast<uint32_t>(bench::Option(argc, argv, "threads", 2));
  auto repeats = static_cast<int>(bench::Option(argc, argv, "repeats", 50));

  std::vector<samples::StateArray> state = samples::MakeMpmState(config);
  test::Native native(adc::test::SamplesFolder() + "/mpm_grid_op.ir", threads);
  interp::Arguments arguments = MakeArguments(state, native.Params("mpm_grid_op"));
  auto forward = native.Plan("mpm_grid_op", arguments);
  forward.Run();
  bench::Time primal = bench::BestOf(repeats, [&] { forward.Run(); });

  interp::Arguments derived = native.DerivedArguments("mpm_grid_op.grad", arguments);
  interp::Tensor& seed = derived[native.Companion("mpm_grid_op.grad", 2)].tensor;
  auto backward = native.Plan("mpm_grid_op.grad", derived);
  // A launch consumes the adjoints of what the kernel overwrote: each gets fresh ones, outside of its time,
  // or it would propagate zeros.
  std::span<float> adjoints = seed.As<float>();
  bench::Time gradient = bench::BestOf(
      repeats, [&] { std::fill(adjoints.begin(), adjoints.end(), 1.0f); }, [&] { backward.Run(); });

  std::printf("mpm_grid_op: %zu iterations, %llu pass the gate, %u geoms, %u threads, best of %d\n",
              samples::FindArray(state, "mass").values.size(),
              static_cast<unsigned long long>(samples::CountPassing(state)), config.geoms, threads, repeats);
  adrt_plan_report report = backward.Report();
  uint32_t stacks = 0;
  for (uint32_t task = 0; task < report.task_count; ++task) stacks += backward.Task(task).stack_count;
  bench::PrintTime("forward launch", primal);
  bench::PrintTime("gradient launch", gradient);
  std::printf("%-28s %10llu bytes, %u stacks\n", "heap of the gradient",
              static_cast<unsigned long long>(report.heap_bytes), stacks);
  return bench::PrintRatio("gradient / forward", gradient, primal, 3) ? 0 : 1;
}
