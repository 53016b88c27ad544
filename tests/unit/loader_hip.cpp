#include "device_kernels.h"
#include "fake_hip.h"
#include "session.h"

// The loader's HIP part over a runtime that runs on the host. What it shares with CUDA is tried there at
// length (loader_cuda.cpp); here it is that it is called by HIP's names and rules.

using namespace fixture;

namespace {

constexpr uint32_t kGfx90a = 0x3F, kGfx1100 = 0x41;

std::vector<uint8_t> MakeHipBundle(const char* arch = "gfx90a", uint32_t processor = kGfx90a,
                                   const char* feature = nullptr) {
  adc::artifact::Metadata metadata = MakeMetadata();
  adc::artifact::TargetMeta target;
  std::string name = std::string("hip:") + arch;
  target.name = name;
  target.kind = "hip";
  target.arch = arch;
  target.abi = "hsaco";
  if (feature) REQUIRE(target.features.TryPush(adc::artifact::String(feature)));
  AddDeviceTarget(&metadata, target);
  return MakeDeviceBundle(metadata, adc::artifact::section::kHsaco,
                          MakeHsaco(metadata, static_cast<uint32_t>(metadata.targets.size()) - 1, processor));
}

struct Device {
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  std::vector<adrt_memory*> memory;
  std::vector<adrt_launch_plan*> plans;
  ErrorBox error;

  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device() {
    for (adrt_launch_plan* plan : plans) adrt_plan_release(plan);
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_device_release(device);
    adrt_bundle_release(bundle);
  }

  adrt_status Load(FakeHip& fake, const std::vector<uint8_t>& file, bool open = false) {
    adrt_host host = TrustingHost();
    adrt_hip_desc desc = fake.Desc();
    desc.index = static_cast<uint32_t>(fake.device);
    adrt_status status = adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error);
    if (status != ADRT_OK) return status;
    status = open ? adrt_device_open_hip(&host, &desc, &device, &error)
                  : adrt_device_wrap_hip(&host, &desc, &device, &error);
    return status != ADRT_OK ? status : adrt_module_load(device, bundle, &module, &error);
  }
  template <class T>
  adrt_memory* Upload(const std::vector<T>& values, adrt_status* status) {
    adrt_memory* made = nullptr;
    *status = adrt_memory_create(device, values.size() * sizeof(T), &made, &error);
    if (*status != ADRT_OK) return nullptr;
    memory.push_back(made);
    *status = adrt_memory_write(made, 0, values.data(), values.size() * sizeof(T), &error);
    return *status == ADRT_OK ? made : nullptr;
  }
  adrt_status Plan(const char* name, const std::vector<adrt_arg>& args, adrt_launch_plan** plan) {
    const adrt_kernel* kernel = nullptr;
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
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

// A launch with a counted stack, one with scratch, and one that is recorded.
adrt_status Work(Device& device) {
  adrt_status status = ADRT_OK;
  std::vector<uint32_t> values(40, 3);
  std::vector<float> floats(40, 1.0f);
  adrt_memory* x = device.Upload(values, &status);
  if (!x) return status;
  adrt_memory* y = device.Upload(floats, &status);
  if (!y) return status;
  adrt_memory* z = device.Upload(floats, &status);
  if (!z) return status;
  adrt_launch_plan* plan = nullptr;
  status = device.Plan("counted", {BufferArg("x", ADRT_TYPE_U32, adrt_memory_data(x), {40})}, &plan);
  if (status == ADRT_OK) status = adrt_run(plan, nullptr, &device.error);
  if (status != ADRT_OK) return status;
  std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(y), {40}),
                                BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(z), {40})};
  status = device.Plan("mean", args, &plan);
  if (status == ADRT_OK) status = adrt_run(plan, nullptr, &device.error);
  if (status != ADRT_OK) return status;
  adrt_memory* heap = device.Upload(std::vector<char>(1024), &status);
  if (!heap) return status;
  char* data = static_cast<char*>(adrt_memory_data(heap));
  status = adrt_record_hip(plan, nullptr, data, 512, data + 512, &device.error);
  if (status != ADRT_OK) return status;
  status = adrt_memory_read(x, 0, values.data(), values.size() * 4, &device.error);
  if (status == ADRT_OK) REQUIRE(values[0] == 7);  // the steps from 3 to 1
  return status;
}

}  // namespace

TEST_CASE("a HIP device says what it is and judges targets", "[loader][hip]") {
  FakeHip fake;
  Device device;
  device.Must(device.Load(fake, MakeHipBundle()));
  adrt_device_report report = {};
  report.struct_size = sizeof report;
  device.Must(adrt_device_info(device.device, &report, &device.error));
  CHECK(std::string(report.kind) == "hip");
  CHECK(std::string(report.arch) == "gfx90a");
  CHECK(std::string(report.name) == "Fake Instinct");
  CHECK(std::string(report.features) == "sramecc+ xnack-");
  CHECK(report.worker_count == 2 * 2048);
  CHECK(fake.broken.empty());
}

TEST_CASE("code for another architecture is refused with the reason", "[loader][hip]") {
  FakeHip fake;
  {
    Device device;
    CHECK(device.Load(fake, MakeHipBundle("gfx1100", kGfx1100)) == ADRT_ERROR_NO_TARGET);
    CHECK(device.error.Says("is for gfx1100, the device is gfx90a"));
  }
  {
    Device device;
    CHECK(device.Load(fake, MakeHipBundle("gfx90a", kGfx90a, "xnack")) == ADRT_ERROR_NO_TARGET);
    CHECK(device.error.Says("needs 'xnack'"));
  }
  fake.arch = "gfx1100";
  {
    Device device;
    CHECK(device.Load(fake, MakeHipBundle("gfx1100", kGfx1100)) == ADRT_ERROR_DRIVER);
    CHECK(device.error.Says("hipModuleLoadData failed: hipErrorFake (209): as the test wanted"));
    CHECK(device.error.native_code == 209);
    CHECK(device.error.section != 0xFFFFFFFFu);
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("launches run with their words, in the stream that is given", "[loader][hip]") {
  FakeHip fake;
  {
    Device device;
    device.Must(device.Load(fake, MakeHipBundle()));
    device.Must(Work(device));
    REQUIRE(fake.launches.size() == 6);
    CHECK(fake.launches[0].symbol == "adc_counted_2Esize0_t0");
    CHECK(fake.launches[1].symbol == "adc_collatz_t0");
    CHECK(fake.launches[2].symbol == "adc_mean_t0");
    CHECK(fake.launches[5].symbol == "adc_mean_t1");
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("wrapping takes the current device, opening a number, and the current device stays",
          "[loader][hip]") {
  FakeHip fake;
  fake.device_count = 3;
  fake.device = 1;
  fake.current = 1;
  {
    Device device;
    device.Must(device.Load(fake, MakeHipBundle()));
    fake.current = 2;
    device.Must(Work(device));
    CHECK(fake.current == 2);
  }
  CHECK(fake.current == 2);
  {
    Device device;
    device.Must(device.Load(fake, MakeHipBundle(), true));
    CHECK(fake.current == 2);
    device.Must(Work(device));
  }
  CHECK(fake.current == 2);
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

TEST_CASE("a HIP device that is not there, or a runtime that is too old, is told", "[loader][hip]") {
  FakeHip fake;
  adrt_host host = TrustingHost();
  adrt_hip_desc desc = fake.Desc();
  ErrorBox error;
  adrt_device* device = nullptr;
  desc.index = 1;
  CHECK(adrt_device_open_hip(&host, &desc, &device, &error) == ADRT_ERROR_NOT_FOUND);
  CHECK(error.Says("no device 1: there are 1"));
  fake.missing = "hipGetDevicePropertiesR0600";
  CHECK(adrt_device_open_hip(&host, &desc, &device, &error) == ADRT_ERROR_DRIVER);
  CHECK(error.Says("the HIP runtime has no function 'hipGetDevicePropertiesR0600'"));
  desc.struct_size = 0;
  CHECK(adrt_device_open_hip(&host, &desc, &device, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_device_wrap_hip(&host, &desc, nullptr, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(adrt_record_hip(nullptr, nullptr, nullptr, 0, nullptr, &error) == ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("record_hip"));
  CHECK(device == nullptr);
}

TEST_CASE("a HIP device without room says what was asked and what would fit", "[loader][hip]") {
  FakeHip fake;
  fake.memory_bytes = 1000;
  Device device;
  device.Must(device.Load(fake, MakeHipBundle()));
  adrt_memory* memory = nullptr;
  CHECK(adrt_memory_create(device.device, 4096, &memory, &device.error) == ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(device.error.Says("no room for 4096 bytes: 1000 of its 1000 bytes are free"));
  CHECK(device.error.needed_bytes == 4096);
  CHECK(device.error.native_code == 2);
}

TEST_CASE("every call of the HIP runtime may fail", "[loader][hip]") {
  struct Failure {
    int code;
    adrt_status status;
  };
  std::vector<uint8_t> file = MakeHipBundle();
  for (bool open : {false, true}) {
    for (bool other_current : {false, true}) {
      for (const Failure& failure :
           {Failure{1, ADRT_ERROR_DRIVER}, Failure{2, ADRT_ERROR_OUT_OF_DEVICE_MEMORY},
            Failure{719, ADRT_ERROR_DEVICE_LOST}, Failure{12345, ADRT_ERROR_DRIVER}}) {
        long failures = 0;
        for (long at = 1;; ++at) {
          FakeHip fake;
          fake.device_count = 2;
          fake.fail_at = at;
          fake.fail_with = failure.code;
          adrt_status status = ADRT_OK;
          std::string text;
          int native = 0;
          {
            Device device;
            status = device.Load(fake, file, open);
            if (status == ADRT_OK && other_current) fake.current = 1;
            if (status == ADRT_OK) status = Work(device);
            text = device.error.text;
            native = device.error.native_code;
          }
          INFO("call " << at << ", " << fake.failed << ": " << text);
          REQUIRE(fake.broken.empty());
          // What cannot be made current takes all with it, and what was current cannot be made so again.
          bool moves = fake.failed == "hipGetDevice" || fake.failed == "hipSetDevice";
          REQUIRE((fake.IsClean() || (status == ADRT_OK && moves)));
          if (fake.failed.empty()) break;
          if (status == ADRT_OK) {
            REQUIRE((moves || fake.failed == "hipFree" || fake.failed == "hipModuleUnload" ||
                     fake.failed == "hipStreamDestroy"));
            continue;
          }
          ++failures;
          REQUIRE(status == failure.status);
          REQUIRE(native == failure.code);
          bool room = failure.code == 2 && fake.failed == "hipMalloc";
          REQUIRE((room || text.find(fake.failed + " failed") != std::string::npos));
        }
        CHECK(failures > 60);
      }
    }
  }
}
