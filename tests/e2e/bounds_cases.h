#pragma once
// Tapes whose length stands in large buffers: a device counts them and reads none of the buffers back; what
// was counted is what launches take.

#include <algorithm>

#include "../support/native.h"
#include "../support/on_device.h"
#include "../support/program.h"
#include "sample_cases.h"

namespace adc::test {

/// What a plan says of its readback: buffers that it brings to the host, and whether counts come with them.
struct Readback {
  uint32_t buffers = 0;
  bool counts = false;
};

inline Readback ReadbackOf(OnDevice& device, const adrt_launch_plan* plan) {
  Readback all;
  adrt_readback_report piece = {};
  piece.struct_size = sizeof piece;
  device.Must(adrt_plan_readback(plan, 0, &piece, device.Error()));
  for (uint32_t index = 0; index < piece.count; ++index) {
    device.Must(adrt_plan_readback(plan, index, &piece, device.Error()));
    bool is_counts = piece.param == ADRT_READBACK_COUNTS;
    all.counts = all.counts || is_counts;
    all.buffers += is_counts ? 0 : 1;
  }
  return all;
}

inline uint64_t FirstCapacity(OnDevice& device, const adrt_launch_plan* plan) {
  adrt_stack_report stack = {};
  stack.struct_size = sizeof stack;
  device.Must(adrt_plan_stack(plan, 0, 0, &stack, device.Error()));
  return stack.capacity;
}

/// `size` iterations of both kernels of rows/bounds.ir; bounds are in 4 * `size` bytes each.
inline void CompareBounds(OnDevice& device, const std::string& path, int64_t size) {
  INFO(size << " iterations");
  std::vector<double> begin, end, open;
  std::vector<double> numbers = RandomNumbers(static_cast<size_t>(size), 0, 1, 21);
  int64_t longest = 0, last_open = 0;
  for (int64_t i = 0; i < size; ++i) {
    double number = numbers[static_cast<size_t>(i)];
    begin.push_back(static_cast<double>((i * 7) % 90));
    end.push_back(begin.back() + static_cast<double>(static_cast<int64_t>(number * 14) - 2));
    longest = std::max(longest, static_cast<int64_t>(end.back() - begin.back()));
    // Only iterations of the first half pass.
    open.push_back(i < size / 2 ? number : 0.0);
    if (open.back() > 0.5) last_open = i;
  }
  Native native(path, 2);
  bool is_cpu = device.kind() == "cpu";
  for (bool behind : {false, true}) {
    std::string kernel = behind ? "behind" : "between", gradient = kernel + ".grad";
    INFO(kernel);
    auto program = Program::OfFile(path, kernel);
    program->Buffer("x", {size}, RandomNumbers(static_cast<size_t>(size), 0.1, 1, 22));
    program->Zeros("y", {size});
    program->Buffer("begin", {size}, begin);
    program->Buffer("end", {size}, end);
    program->Buffer("open", {size}, open);
    interp::Arguments value = program->arguments();
    native.Run(kernel, value);
    interp::Arguments start = GradientArguments(native, gradient, value), expected = start;
    native.Run(gradient, expected);
    OnDevice::Launch launch(device, gradient, start, {.threshold = 1});
    launch.Plan();
    if (!is_cpu) {
      Readback readback = ReadbackOf(device, launch.plan());
      bool large = size * 4 > (64 << 10);
      CHECK(readback.buffers == (behind || large ? 0u : 2u));
      CHECK(readback.counts == (behind || large));
    }
    uint64_t need = static_cast<uint64_t>(behind ? last_open / 64 : longest);
    uint64_t bound = behind ? static_cast<uint64_t>((size - 1) / 64) : need;
    if (behind) CHECK(FirstCapacity(device, launch.plan()) == bound);
    for (int turn = 0; turn < 2; ++turn) {
      launch.Write(start);
      launch.MustRun();
      interp::Arguments backward = start;
      launch.Read(backward);
      CHECK(Difference(expected, backward) < 1e-5);
      CHECK(FirstCapacity(device, launch.plan()) == need);
    }
  }
}

}  // namespace adc::test
