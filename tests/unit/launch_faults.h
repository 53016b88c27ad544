#pragma once
// Launches on a device of streams through every fault of its driver: each call fails once, or takes the
// device with it, on a device that does queued work at once or late.

#include <string>
#include <vector>

#include "stream_session.h"

namespace fixture {

/// The kernels @mean (scratch) and @counted (counted rows) of a device, planned once and run again and again.
struct Launches {
  static constexpr size_t kCount = 40;
  StreamSession& session;
  adrt_memory *x = nullptr, *y = nullptr, *counted = nullptr;
  adrt_launch_plan *mean_plan = nullptr, *counted_plan = nullptr;

  explicit Launches(StreamSession& device) : session(device) {
    adrt_status status = ADRT_OK;
    x = device.Upload(Floats(), &status);
    y = device.Upload(Floats(), &status);
    counted = device.Upload(Numbers(), &status);
    device.Must(device.Plan("mean",
                            {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(x), {kCount}),
                             BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(y), {kCount})},
                            &mean_plan));
    device.Must(device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(counted), {kCount})},
                            &counted_plan));
  }
  static std::vector<float> Floats() {
    std::vector<float> values(kCount);
    for (size_t n = 0; n < kCount; ++n) values[n] = static_cast<float>(n);
    return values;
  }
  static std::vector<uint32_t> Numbers() { return std::vector<uint32_t>(kCount, 27); }

  /// Writes, launches twice, reads, and compares where all went well.
  adrt_status Run() {
    std::vector<float> floats = Floats();
    std::vector<uint32_t> numbers = Numbers();
    adrt_status status =
        adrt_memory_write(counted, 0, numbers.data(), kCount * sizeof(uint32_t), &session.error);
    if (status == ADRT_OK) status = adrt_run(mean_plan, nullptr, &session.error);
    if (status == ADRT_OK) status = adrt_run(counted_plan, nullptr, &session.error);
    if (status == ADRT_OK) status = session.Download(y, &floats);
    if (status == ADRT_OK) status = session.Download(counted, &numbers);
    if (status != ADRT_OK) return status;
    for (size_t n = 0; n < kCount; ++n) {
      REQUIRE(floats[n] == static_cast<float>(n) - 19.5f);
      REQUIRE(numbers[n] == 111);
    }
    return status;
  }
};

inline constexpr int kLost = 719;

/// Every call of two launches in turn fails, once or for good. `load` opens a session; `moves` says which
/// call's failure leaves no way to give something back.
template <class Fake, class Load, class Moves>
void LaunchThroughFaults(const Load& load, const Moves& moves) {
  for (bool late : {false, true}) {
    for (bool lost : {false, true}) {
      long faults = 0;
      for (long at = 1;; ++at) {
        Fake fake;
        {
          StreamSession session;
          session.Must(load(session, fake));
          Launches launches(session);
          fake.late = late;
          fake.lost = lost;
          fake.fail_with = lost ? kLost : 1;
          fake.calls = 0;
          fake.fail_at = at;
          adrt_status status = launches.Run();
          INFO("call " << at << ", " << fake.failed << ": " << session.error.text);
          REQUIRE(fake.broken.empty());
          if (fake.failed.empty()) {
            REQUIRE(status == ADRT_OK);
            break;
          }
          ++faults;
          if (status != ADRT_OK) REQUIRE(status == (lost ? ADRT_ERROR_DEVICE_LOST : ADRT_ERROR_DRIVER));
          status = launches.Run();
          INFO("afterwards: " << session.error.text);
          REQUIRE(status == (lost ? ADRT_ERROR_DEVICE_LOST : ADRT_OK));
          REQUIRE(fake.broken.empty());
        }
        REQUIRE((fake.IsClean() || moves(fake.failed)));
        REQUIRE(fake.broken.empty());
      }
      CHECK(faults > 30);
    }
  }
}

}  // namespace fixture
