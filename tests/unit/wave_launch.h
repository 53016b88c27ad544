#pragma once
// Launches of lowered kernels on waves of threads of this process, and arguments for random ones.

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>

#include "../support/random_arguments.h"
#include "../support/random_kernel.h"
#include "interp/interpreter.h"
#include "wave_host.h"

namespace adc::test {

/// A kernel's arguments, and the heap and status of its launches.
class WaveLaunch {
 public:
  WaveLaunch(const LoweredModule& lowered, size_t kernel) : lowered_(lowered.kernels[kernel]) {}

  WaveLaunch& Arguments(const ir::Function& kernel, interp::Arguments& arguments) {
    for (size_t n = 0; n < kernel.params.size(); ++n) {
      ir::Type type = kernel.TypeOf(kernel.Params()[n]);
      if (!type.IsBuffer()) {
        for (uint64_t bits : arguments[n].bits) cells.push_back(bits);
        continue;
      }
      cells.push_back(reinterpret_cast<uint64_t>(arguments[n].tensor.data.data()));
      for (int64_t extent : arguments[n].tensor.extents) cells.push_back(static_cast<uint64_t>(extent));
    }
    return *this;
  }

  /// Words of a task whose stacks hold `capacity` elements of 8 bytes each, with `rows` rows in every group.
  std::vector<uint64_t> Words(size_t task, uint64_t total, uint64_t threads, uint64_t rows,
                              uint64_t capacity) {
    return Words(task, total, threads, std::vector<uint64_t>(lowered_.plan.tasks[task].groups.size(), rows),
                 capacity);
  }
  /// The same with a number of rows for each group.
  std::vector<uint64_t> Words(size_t task, uint64_t total, uint64_t threads,
                              const std::vector<uint64_t>& rows, uint64_t capacity) {
    std::vector<uint64_t> words = cells;
    const adstack::TaskPlan& plan = lowered_.plan.tasks[task];
    uint64_t stacks = 0;
    for (const auto& stack : plan.stacks) stacks += stack.storage == artifact::Storage::kRow;
    stride = stacks * capacity * 8;
    counters_at = 0;
    for (uint64_t of_group : rows) counters_at += (of_group + 31) / 32 * stride * 32;
    uint64_t at = 0;
    for (size_t group = 0; group < plan.groups.size(); ++group) {
      words.insert(words.end(), {at, stride, rows[group], counters_at + group * 4});
      at += (rows[group] + 31) / 32 * stride * 32;
    }
    for (uint64_t stack = 0; stack < stacks; ++stack)
      words.insert(words.end(), {stack * capacity * 8, capacity});
    memory.assign(counters_at + plan.groups.size() * 4 + 2 * kRowAlignment, 0);
    heap = memory.data() + (kRowAlignment - reinterpret_cast<uintptr_t>(memory.data()) % kRowAlignment);
    words.insert(words.end(),
                 {reinterpret_cast<uint64_t>(heap), reinterpret_cast<uint64_t>(status), total, threads});
    return words;
  }

  uint32_t Counter(size_t group) const {
    uint32_t count = 0;
    std::memcpy(&count, heap + counters_at + 4 * group, 4);
    return count;
  }

  std::vector<uint64_t> cells;
  std::vector<unsigned char> memory;
  unsigned char* heap = nullptr;
  uint64_t stride = 0, counters_at = 0;
  uint32_t status[16] = {};

 private:
  static constexpr uint64_t kRowAlignment = 256;

  const LoweredKernel& lowered_;
};

/// Elements of random kernels' buffers along each axis.
inline constexpr int64_t kExtent = 45;

}  // namespace adc::test
