#pragma once
// Many threads, and many launches, at once.

#include <thread>

#include "../support/on_device.h"
#include "guard_report.h"

namespace adc::test {

/// A row is claimed once by a thread and is nobody else's: gates that all threads pass together, every other
/// one, one in 64, none but the last; with more iterations than threads, so that threads come again.
inline void CheckClaims(OnDevice& device, const std::vector<uint32_t>& workers) {
  constexpr int64_t kCount = 3000;
  for (uint32_t most : workers) {
    for (int64_t step : {1, 2, 64, 2999}) {
      INFO(most << " workers, one in " << step << " on " << device.kind());
      std::vector<double> open = Many(kCount, 0);
      for (int64_t i = kCount - 1; i >= 0; i -= step) open[static_cast<size_t>(i)] = 1;
      interp::Arguments given = GradientOf("gated", kCount, 0, open);
      for (int64_t i = 0; i < kCount; ++i) given[0].tensor.Set(i, 0.1 + 0.0003 * static_cast<double>(i));
      OnDevice::Launch launch(device, "gated.grad", given, {.threshold = 1, .workers = most});
      launch.Plan();
      for (int turn = 0; turn < 3; ++turn) {
        launch.Write(given);
        launch.MustRun();
        interp::Arguments found = given;
        launch.Read(found);
        for (int64_t i = 0; i < kCount; ++i) {
          bool passes = given[1].tensor.Get(i) > 0.5;
          double wanted = passes ? WaveDerivative(given[0].tensor.Get(i), 5) : 0;
          REQUIRE(std::abs(found[4].tensor.Get(i) - wanted) < 1e-4);
        }
      }
      CountedRows rows = ReadCountedRows(launch.plan());
      if (rows.groups.empty() || !rows.groups[0].counted) continue;
      uint64_t passing = (kCount - 1) / static_cast<uint64_t>(step) + 1;
      CHECK(rows.groups[0].iterations == passing);
      CHECK(rows.groups[0].rows == (std::min(passing, rows.threads) + 31) / 32 * 32);
    }
  }
}

/// Two plans that run at once with a heap each, one of which overflows: each has its own report.
inline void CheckTwoAtOnce(OnDevice& device) {
  constexpr int64_t kCount = 500;
  constexpr int kTurns = 12;
  interp::Arguments fits = GradientOf("waves", kCount, 0.5, Many(kCount, 20)),
                    grown = GradientOf("waves", kCount, 0.5, Many(kCount, 21));
  OnDevice::Launch good(device, "waves.grad", fits), bad(device, "waves.grad", fits);
  std::vector<adrt_heap*> heaps;
  for (OnDevice::Launch* launch : {&good, &bad}) {
    launch->SetVersion(1, 1);
    launch->Plan();
    heaps.push_back(nullptr);
    device.Must(adrt_heap_create_on(device.device(), &heaps.back(), device.Error()));
    adrt_run_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.heap = heaps.back();
    launch->MustRun(&desc);
  }
  auto run = [](OnDevice::Launch& launch, adrt_heap* heap, adrt_status first, int* mistakes) {
    for (int turn = 0; turn < kTurns; ++turn) {
      adrt_error error = {};
      error.struct_size = sizeof error;
      adrt_run_desc desc = {};
      desc.struct_size = sizeof desc;
      desc.heap = heap;
      // After an overflow sizes are computed again: the launches behind it are right.
      *mistakes += adrt_run(launch.plan(), &desc, &error) != (turn == 0 ? first : ADRT_OK);
    }
  };
  int wrong[2] = {0, 0};
  good.Write(fits);
  bad.Write(grown);
  std::thread other([&] { run(bad, heaps[1], ADRT_ERROR_ADSTACK_OVERFLOW, &wrong[1]); });
  run(good, heaps[0], ADRT_OK, &wrong[0]);
  other.join();
  CHECK(wrong[0] == 0);
  CHECK(wrong[1] == 0);
  for (OnDevice::Launch* launch : {&good, &bad}) {
    int trips = launch == &good ? 20 : 21;
    interp::Arguments given = launch == &good ? fits : grown, found = given;
    launch->Write(given);
    launch->MustRun();
    launch->Read(found);
    for (int64_t i = 0; i < kCount; ++i)
      REQUIRE(std::abs(found[3].tensor.Get(i) - WaveDerivative(0.5, trips)) < 1e-4);
  }
  for (adrt_heap* heap : heaps) adrt_heap_release(heap);
}

/// What a program does that catches an overflow and ends without giving anything back: `device` stays.
inline void OverflowAndLeave(OnDevice* device) {
  auto* waves = new Waves(std::vector<double>(16, 4));
  auto* launch = new OnDevice::Launch(*device, "waves.grad", waves->arguments());
  launch->SetVersion(Waves::kBounds, 1);
  launch->Plan();
  launch->MustRun();
  waves->SetBounds(std::vector<double>(16, 9));
  launch->Write(waves->arguments());
  CHECK(launch->Run() == ADRT_ERROR_ADSTACK_OVERFLOW);
}

}  // namespace adc::test
