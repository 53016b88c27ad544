#pragma once
// Counting on a CPU, whose loops have a budget of trips, and callers that lose patience.

#include <atomic>

#include "../support/on_device.h"
#include "guard_inputs.h"

namespace adc::test {

/// A walk whose steps lie in data; `work` operations decide about each. In the body, and in a task by itself.
inline std::string WalkKernels(int work) {
  std::string step = "        %d0 = load %s[(and %t, 7)]\n";
  for (int n = 0; n < work; ++n) {
    std::string from = "%d" + std::to_string(n), to = "%d" + std::to_string(n + 1);
    step += "        " + to + " = xor " + from + ", (add (and " + from + ", 1), (and %t, " +
            std::to_string(2 * n) + "))\n";
  }
  std::string last = "%d" + std::to_string(work);
  std::string walk = "%v, %t = while carry(%v = 0.5, %t = 0) { continue_if (lt %t, %n) } do {\n" + step +
                     "        yield (sin (mul %v, (load %x[0]))), (add %t, (add 1, (load %s[(and " + last +
                     ", 7)])))\n      }\n";
  std::string params = "(%x: buffer<f32, 1> diff, %y: buffer<f32, 1> diff, %s: buffer<i32, 1>, %n: i32) {\n";
  return "kernel @walk" + params + "  parallel %i in 0..shape(%y, 0) {\n      " + walk +
         "    store %y[%i], %v\n  }\n}\nkernel @alone" + params + "      " + walk + "  store %y[0], %v\n}\n";
}

inline int Impatient(void* asked) {
  return static_cast<std::atomic<int>*>(asked)->fetch_add(1) >= 3;
}

inline void CheckBudget(OnDevice& device, const std::string& path) {
  constexpr int64_t kCount = 16;
  for (const std::string kernel : {"walk", "alone"}) {
    INFO(kernel);
    auto program = Program::OfFile(path, kernel);
    for (const char* name : {"x", "y"}) program->Zeros(name, {kCount});
    program->Zeros("s", {8});
    for (bool endless : {false, true}) {
      program->Number("n", endless ? 2147483647.0 : 1000.0);
      interp::Arguments given = Seeded(program->arguments(), kCount);
      std::atomic<int> asked = 0;
      OnDevice::Launch small(device, kernel + ".grad", given, {.size_budget = 4000}),
          patient(device, kernel + ".grad", given, {.is_cancelled = Impatient, .cancel_user = &asked});
      small.Plan();
      patient.Plan();
      adrt_status status = adrt_plan_resolve(small.plan(), nullptr, 0, device.Error());
      CHECK(status == (endless ? ADRT_ERROR_OVER_LIMIT : ADRT_OK));
      if (endless) CHECK(device.text().find("adrt_plan_desc.size_budget") != std::string::npos);
      CHECK(small.Report().steps <= 4000);
      status = adrt_plan_resolve(patient.plan(), nullptr, 0, device.Error());
      CHECK(status == (endless ? ADRT_ERROR_CANCELLED : ADRT_OK));
      if (!endless) continue;
      CHECK(asked > 3);
      CHECK(patient.Run() == ADRT_ERROR_CANCELLED);
    }
  }
}

}  // namespace adc::test
