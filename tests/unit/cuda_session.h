#pragma once
// A bundle for CUDA, loaded over a driver that runs on the host, and a kernel with a tape to launch.

#include <string>
#include <vector>

#include "fake_cuda.h"
#include "stream_session.h"

namespace fixture {

/// A bundle with a target of this name and architecture, in PTX of this version.
inline std::vector<uint8_t> MakeCudaBundleOf(adc::artifact::Metadata metadata, const char* version = "6.0",
                                             const char* arch = "sm_70", const char* name = "cuda:sm_70") {
  adc::artifact::TargetMeta target;
  target.name = name;
  target.kind = "cuda";
  target.arch = arch;
  target.abi = "ptx";
  AddDeviceTarget(&metadata, target);
  std::string text = MakePtx(metadata, static_cast<uint32_t>(metadata.targets.size()) - 1, version);
  return MakeDeviceBundle(metadata, adc::artifact::section::kPtx, {text.begin(), text.end()});
}

/// The fixture's.
inline std::vector<uint8_t> MakeCudaBundle(const char* version = "6.0", const char* arch = "sm_70",
                                           const char* name = "cuda:sm_70") {
  return MakeCudaBundleOf(MakeMetadata(), version, arch, name);
}

inline adrt_status Load(StreamSession& session, FakeCuda& fake, const std::vector<uint8_t>& file,
                        bool open = false, const adrt_host& host = TrustingHost()) {
  return session.Load(file, fake.Desc(), host, open ? adrt_device_open_cuda : adrt_device_wrap_cuda);
}

inline adrt_plan_report PlanReport(const adrt_launch_plan* plan) {
  adrt_plan_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_info(plan, &report, nullptr) == ADRT_OK);
  return report;
}

inline adrt_task_report TaskReport(const adrt_launch_plan* plan, uint32_t task) {
  adrt_task_report report = {};
  report.struct_size = sizeof report;
  REQUIRE(adrt_plan_task(plan, task, &report, nullptr) == ADRT_OK);
  return report;
}

/// Arguments of the kernel @tape, whose tape has %n values an iteration, and what it must compute.
struct TapeArgs {
  std::vector<double> x, y;
  int32_t n;
  adrt_memory *x_memory = nullptr, *y_memory = nullptr;

  TapeArgs(size_t count, int32_t steps) : x(count), y(count, -1), n(steps) {
    for (size_t index = 0; index < count; ++index) x[index] = 0.5 + 0.001 * static_cast<double>(index);
  }
  std::vector<adrt_arg> Make(StreamSession& device) {
    adrt_status status = ADRT_OK;
    x_memory = device.Upload(x, &status);
    device.Must(status);
    y_memory = device.Upload(y, &status);
    device.Must(status);
    int64_t count = static_cast<int64_t>(x.size());
    return {BufferArg("x", ADRT_TYPE_F64, adrt_memory_data(x_memory), {count}),
            BufferArg("y", ADRT_TYPE_F64, adrt_memory_data(y_memory), {count}),
            ScalarArg("n", ADRT_TYPE_I32, &n)};
  }
  double Expected(size_t index) const {
    double power = 1, sum = 0;
    for (int32_t t = 0; t < n; ++t, power *= x[index]) sum += t * power;
    return sum;
  }
  void Check(StreamSession& device) {
    device.Must(device.Download(y_memory, &y));
    for (size_t index = 0; index < x.size(); ++index) REQUIRE(y[index] == Approx(Expected(index)));
  }
};

}  // namespace fixture
