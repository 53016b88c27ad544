#pragma once
// Sizes hold unless what they were computed from has changed: what a launch computes is right, or it is
// reported.

#include "../support/numbers.h"
#include "../support/on_device.h"
#include "guard_inputs.h"

namespace adc::test {

/// Nests whose bounds lie in the buffers %a and %b; every level's values are taped.
inline std::string RandomNest(uint64_t seed, uint32_t number) {
  const char* kBounds[] = {"(load %a[%i])",
                           "(sub (load %b[%i]), (load %a[%i]))",
                           "(min (load %a[%i]), (load %b[%i]))",
                           "(div (load %b[%i]), 2)",
                           "(load %a[(mod (load %b[%i]), shape(%a, 0))])",
                           "(add (load %a[%i]), OUTER)",
                           "OUTER"};
  uint64_t state = seed * 977 + number * 131 + 7;
  auto pick = [&](uint32_t count) {
    internal::RandomNumber(state);
    return static_cast<uint32_t>(state >> 33) % count;
  };
  uint32_t depth = 1 + pick(3);
  std::string name = "nest" + std::to_string(number);
  std::string text =
      "kernel @" + name +
      "(%x: buffer<f32, 1> diff, %a: buffer<i32, 1> readonly, %b: buffer<i32, 1> readonly, %y: "
      "buffer<f32, 1> diff) {\n  parallel %i in 0..shape(%x, 0) {\n    %v0 = load %x[%i]\n";
  bool gated = pick(3) == 0;
  if (gated) text += "    if (gt (load %a[%i]), 1) {\n";
  for (uint32_t level = 1; level <= depth; ++level) {
    std::string bound = kBounds[pick(level == 1 ? 5 : 7)], outer = "%t" + std::to_string(level - 1);
    for (size_t at = bound.find("OUTER"); at != std::string::npos; at = bound.find("OUTER"))
      bound.replace(at, 5, outer);
    std::string l = std::to_string(level), below = std::to_string(level - 1);
    text += "    %r" + l + " = for %t" + l + " in 0.." + bound + " carry(%v" + l + " = %v" + below + ") {\n";
  }
  text += "    %s = add (sin %v" + std::to_string(depth) +
          "), 0.2\n    yield (mul %s, (sub 1.1, (mul %s, 0.1)))\n    }\n";
  for (uint32_t level = depth; level-- > 1;)
    text += "    yield (sin %r" + std::to_string(level + 1) + ")\n    }\n";
  text += "    store %y[%i], %r1\n";
  if (gated) text += "    }\n";
  return text + "  }\n}\n";
}

/// Random nests of these numbers: sized for some contents they run, launched on others they are right or
/// reported, and never write where they should not.
inline void CheckRightOrReported(OnDevice& device, const std::string& path, uint32_t first, uint32_t end,
                                 uint64_t seed, uint32_t* reported, uint32_t* right) {
  constexpr int64_t kCount = 70;
  for (uint32_t number = first; number < end; ++number) {
    std::string name = "nest" + std::to_string(number);
    auto program = Program::OfFile(path, name);
    uint64_t state = seed + number;
    auto contents = [&](double low, double high) {
      std::vector<double> a = RandomNumbers(kCount, 0, high, ++state * 31),
                          b = RandomNumbers(kCount, low, high + 3, ++state * 57);
      for (double& value : a) value = std::floor(value);
      for (double& value : b) value = std::floor(value);
      program->Buffer("x", {kCount}, RandomNumbers(kCount, 0.1, 1, 3));
      program->Buffer("a", {kCount}, a);
      program->Buffer("b", {kCount}, b);
      program->Zeros("y", {kCount});
      return Seeded(program->arguments(), kCount);
    };
    interp::Arguments sized = contents(0, 4);
    OnDevice::Launch launch(device, name + ".grad", sized);
    OnDevice::Launch follows(device, name + ".grad", sized);
    follows.Plan();
    for (uint32_t n : {1u, 2u}) launch.SetVersion(n, 1);
    launch.Plan();
    Resolve(device, launch, sized);
    uint64_t heap_bytes = launch.Report().heap_bytes;
    WatchedHeap heap(device, heap_bytes);
    adrt_run_desc desc = heap.Desc();
    for (int round = 0; round < 6; ++round) {
      bool unchanged = round % 3 == 0;
      interp::Arguments now = unchanged ? sized : contents(0, round % 3 == 1 ? 4 : 7);
      launch.Write(sized);
      launch.Plan();
      Resolve(device, launch, sized);
      launch.Write(now);
      follows.Write(now);
      follows.MustRun();
      adrt_status status = launch.Run(heap_bytes > 0 ? &desc : nullptr);
      std::string said = device.text();
      heap.Changed();
      INFO(name << " on " << device.kind() << ", round " << round << ": " << said);
      if (unchanged) REQUIRE(status == ADRT_OK);
      if (status != ADRT_OK) {
        REQUIRE(status == ADRT_ERROR_ADSTACK_OVERFLOW);
        REQUIRE(said.find("has changed between sizing and launch: the content of '") != std::string::npos);
        ++*reported;
        continue;
      }
      interp::Arguments expected = now, found = now;
      follows.Read(expected);
      launch.Read(found);
      REQUIRE(Difference(expected, found) < 1e-6);
      ++*right;
    }
  }
}

}  // namespace adc::test
