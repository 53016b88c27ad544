#pragma once
// Kernels of the SPIR-V back end on a Vulkan device, with the interpreter's arguments.

#include <cmath>
#include <iostream>

#include "interp/interpreter.h"
#include "spirv_runner.h"
#include "spirv_support.h"

namespace adc::test {

inline constexpr uint64_t kRowLanes = 32;

/// The runner, or null and a word about it where there is no device.
inline VulkanRunner* Runner() {
  VulkanRunner* runner = VulkanRunner::Get();
  if (runner == nullptr) std::cerr << "SKIPPED: no Vulkan device here, so that no kernel is run\n";
  return runner;
}

struct RunStatus {
  uint32_t code = 0, task = 0, index = 0;
  uint64_t needed = 0, iteration = 0;
};

struct RunConfig {
  std::vector<uint64_t> iterations = {1};  ///< of each parallel task; the last one of those that follow
  uint64_t threads = 64;                   ///< that take part
  uint64_t rows = 0;                       ///< of every claim group; 0: as many as threads
  uint64_t stack_bytes = 8192;
  uint64_t blocks = 0;  ///< of threads that are started; 0: as many as it takes
};

/// Runs the tasks of `kernel` on the device.
inline RunStatus RunKernel(VulkanRunner& runner, const LoweredKernel& kernel,
                           const std::vector<codegen::EntryCode>& entries, interp::Arguments& arguments,
                           bool near, const RunConfig& config) {
  runner.Reset();
  std::vector<uint64_t> cells;
  std::vector<VulkanRunner::Range> places;
  for (size_t n = 0; n < kernel.kernel->params.size(); ++n) {
    ir::Type type = kernel.kernel->TypeOf(kernel.kernel->Params()[n]);
    if (!type.IsBuffer() && !type.IsLayout()) {
      cells.insert(cells.end(), arguments[n].bits.begin(), arguments[n].bits.end());
      places.push_back({});
      continue;
    }
    const auto& data = arguments[n].tensor.data;
    if (arguments[n].shares >= 0) {
      places.push_back(places[static_cast<size_t>(arguments[n].shares)]);
    } else {
      places.push_back({runner.Take(data.size()), data.size()});
      std::memcpy(runner.At(places.back().place), data.data(), data.size());
    }
    cells.push_back(runner.AddressOf(places.back().place));
    for (int64_t extent : arguments[n].tensor.extents) cells.push_back(static_cast<uint64_t>(extent));
  }
  uint64_t status_at = runner.Take(64);
  size_t parallel_tasks = 0;
  for (size_t number = 0; number < entries.size(); ++number) {
    const codegen::EntryCode& entry = entries[number];
    bool parallel = entry.block_size != 1;
    uint64_t stacks = 0, groups = 0, counters = 256;
    if (number < kernel.plan.tasks.size()) {
      const adstack::TaskPlan& task = kernel.plan.tasks[number];
      groups = task.groups.size();
      for (const auto& stack : task.stacks) stacks += stack.storage == artifact::Storage::kRow;
    }
    uint64_t asked = config.rows != 0 ? config.rows : config.threads;
    uint64_t rows = (asked + kRowLanes - 1) / kRowLanes * kRowLanes, stride = stacks * config.stack_bytes;
    uint64_t heap = runner.Take(counters + groups * stride * rows);
    std::vector<uint64_t> words = cells;
    for (uint64_t group = 0; group < groups; ++group)
      words.insert(words.end(), {counters + group * stride * rows, stride, asked, group * 4});
    for (uint64_t stack = 0; stack < stacks; ++stack)
      words.insert(words.end(), {stack * config.stack_bytes, config.stack_bytes / 8});
    uint64_t threads = parallel ? config.threads : 1;
    uint64_t iterations =
        parallel ? config.iterations[std::min(parallel_tasks++, config.iterations.size() - 1)] : 1;
    words.insert(words.end(), {runner.AddressOf(heap), runner.AddressOf(status_at), iterations, threads});
    std::vector<VulkanRunner::Range> ranges;
    for (const codegen::Binding& binding : entry.bindings) {
      if (near) ranges.push_back(places[binding.param]);
    }
    uint64_t blocks =
        config.blocks != 0 ? config.blocks : (threads + entry.block_size - 1) / entry.block_size;
    runner.Run(near ? entry.symbol : entry.far_symbol, ranges, words, static_cast<uint32_t>(blocks));
  }
  for (size_t n = 0; n < places.size(); ++n) {
    auto& data = arguments[n].tensor.data;
    if (!data.empty()) std::memcpy(data.data(), runner.At(places[n].place), data.size());
  }
  RunStatus status;
  std::memcpy(&status.code, runner.At(status_at), 12);
  std::memcpy(&status.needed, runner.At(status_at + 16), 16);
  return status;
}

}  // namespace adc::test
