#pragma once
// What the tests of the loader's CUDA and HIP parts share: everything from a bundle to launches, on a device
// whose driver runs on the host.

#include <string>
#include <vector>

#include "device_kernels.h"
#include "fake_streams.h"
#include "session.h"

namespace fixture {

/// Handles that release themselves. Nothing is required: each step may be made to fail.
struct StreamSession {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  std::vector<adrt_memory*> memory;
  std::vector<adrt_launch_plan*> plans;
  ErrorBox error;

  StreamSession() = default;
  StreamSession(const StreamSession&) = delete;
  StreamSession& operator=(const StreamSession&) = delete;
  ~StreamSession() {
    for (adrt_launch_plan* plan : plans) adrt_plan_release(plan);
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  /// `make` is adrt_device_open_cuda, adrt_device_wrap_hip or the like.
  template <class Desc>
  adrt_status Load(const std::vector<uint8_t>& file, const Desc& desc, const adrt_host& host,
                   adrt_status (*make)(const adrt_host*, const Desc*, adrt_device**, adrt_error*)) {
    adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error);
    if (status == ADRT_OK) status = make(&host, &desc, &device, &error);
    return status != ADRT_OK ? status : adrt_module_load(device, bundle, &module, &error);
  }

  /// Device memory with this content; null where that fails.
  template <class T>
  adrt_memory* Upload(const std::vector<T>& values, adrt_status* status) {
    adrt_memory* made = nullptr;
    *status = adrt_memory_create(device, values.size() * sizeof(T), &made, &error);
    if (*status != ADRT_OK) return nullptr;
    memory.push_back(made);
    *status = adrt_memory_write(made, 0, values.data(), values.size() * sizeof(T), &error);
    return *status == ADRT_OK ? made : nullptr;
  }
  template <class T>
  adrt_status Download(adrt_memory* from, std::vector<T>* values) {
    return adrt_memory_read(from, 0, values->data(), values->size() * sizeof(T), &error);
  }

  adrt_status Plan(const char* name, const std::vector<adrt_arg>& args, adrt_launch_plan** plan,
                   uint32_t workers = 0, uint64_t budget = 0) {
    const adrt_kernel* kernel = nullptr;
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    desc.workers = workers;
    desc.heap_budget = budget;
    adrt_status status = adrt_bundle_find_kernel(bundle, name, 0, &kernel, &error);
    if (status == ADRT_OK) status = adrt_plan(kernel, &desc, plan, &error);
    if (status == ADRT_OK) plans.push_back(*plan);
    return status;
  }

  void Must(adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  }
};

/// adrt_record_cuda, adrt_record_hip.
using RecordInto = adrt_status (*)(adrt_launch_plan* plan, void* stream, void* heap, uint64_t heap_size,
                                   void* status, adrt_error* error);

/// A launch whose stack is counted, one with scratch, and one that is recorded.
inline adrt_status WorkOfAllKinds(StreamSession& session, RecordInto record) {
  adrt_status status = ADRT_OK;
  std::vector<uint32_t> values(40, 3);
  std::vector<float> floats(40, 1.0f);
  adrt_memory* x = session.Upload(values, &status);
  if (!x) return status;
  adrt_memory* y = session.Upload(floats, &status);
  if (!y) return status;
  adrt_memory* z = session.Upload(floats, &status);
  if (!z) return status;
  adrt_launch_plan* plan = nullptr;
  status = session.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {40})}, &plan);
  if (status == ADRT_OK) status = adrt_run(plan, nullptr, &session.error);
  if (status != ADRT_OK) return status;
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(y), {40}),
                                BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(z), {40})};
  status = session.Plan("mean", args, &plan);
  if (status == ADRT_OK) status = adrt_run(plan, nullptr, &session.error);
  if (status != ADRT_OK) return status;
  adrt_memory* heap = session.Upload(std::vector<char>(1024), &status);
  if (!heap) return status;
  char* data = static_cast<char*>(adrt_memory_data(heap));
  status = record(plan, nullptr, data, 512, data + 512, &session.error);
  if (status != ADRT_OK) return status;
  status = session.Download(x, &values);
  if (status == ADRT_OK) REQUIRE(values[0] == 7);  // the steps from 3 to 1
  return status;
}

/// What a driver answers where it fails, and what the loader makes of it.
struct DriverFailure {
  int code;
  adrt_status status;
};
inline constexpr DriverFailure kDriverFailures[] = {{1, ADRT_ERROR_DRIVER},
                                                    {2, ADRT_ERROR_OUT_OF_DEVICE_MEMORY},
                                                    {719, ADRT_ERROR_DEVICE_LOST},
                                                    {12345, ADRT_ERROR_DRIVER}};

/// Does `work(fake, session)` as often as it makes calls, and lets one call after the other fail with
/// `failure`: each is reported by name and number and leaves nothing behind. `ends` tells whether a call only
/// ends something and may fail unheard; `moves`, whether its failure leaves no way to give anything back.
/// `allocates` names the call that takes memory.
template <class Fake, class Work, class Ends, class Moves>
void FailEveryCall(const DriverFailure& failure, const char* allocates, Work work, Ends ends, Moves moves) {
  long failures = 0;
  for (long at = 1;; ++at) {
    Fake fake;
    fake.fail_at = at;
    fake.fail_with = failure.code;
    adrt_status status = ADRT_OK;
    std::string text;
    int native = 0;
    {
      StreamSession session;
      status = work(fake, session);
      text = session.error.text;
      native = session.error.native_code;
    }
    INFO("call " << at << ", " << fake.failed << ": " << text);
    REQUIRE(fake.broken.empty());
    REQUIRE((fake.IsClean() || (status == ADRT_OK && moves(fake.failed))));
    if (fake.failed.empty()) break;
    if (status == ADRT_OK) {
      REQUIRE((ends(fake.failed) || moves(fake.failed)));
      continue;
    }
    ++failures;
    REQUIRE(status == failure.status);
    REQUIRE(native == failure.code);
    bool out_of_memory = failure.code == 2 && fake.failed == allocates;
    REQUIRE((out_of_memory || text.find(fake.failed + " failed") != std::string::npos));
  }
  CHECK(failures > 40);
}

}  // namespace fixture
