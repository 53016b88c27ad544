#include "fake_hip.h"
#include "launch_faults.h"
#include "stream_session.h"

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

adrt_status Load(StreamSession& session, FakeHip& fake, const std::vector<uint8_t>& file, bool open = false) {
  adrt_hip_desc desc = fake.Desc();
  desc.index = static_cast<uint32_t>(fake.device);
  return session.Load(file, desc, TrustingHost(), open ? adrt_device_open_hip : adrt_device_wrap_hip);
}

}  // namespace

TEST_CASE("a HIP device says what it is and judges targets", "[loader][hip]") {
  FakeHip fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeHipBundle()));
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
    StreamSession device;
    CHECK(Load(device, fake, MakeHipBundle("gfx1100", kGfx1100)) == ADRT_ERROR_NO_TARGET);
    CHECK(device.error.Says("is for gfx1100, the device is gfx90a"));
  }
  {
    StreamSession device;
    CHECK(Load(device, fake, MakeHipBundle("gfx90a", kGfx90a, "xnack")) == ADRT_ERROR_NO_TARGET);
    CHECK(device.error.Says("needs 'xnack'"));
  }
  fake.arch = "gfx1100";
  {
    StreamSession device;
    CHECK(Load(device, fake, MakeHipBundle("gfx1100", kGfx1100)) == ADRT_ERROR_DRIVER);
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
    StreamSession device;
    device.Must(Load(device, fake, MakeHipBundle()));
    device.Must(WorkOfAllKinds(device, adrt_record_hip));
    REQUIRE(fake.launches.size() == 6);
    CHECK(fake.launches[0].symbol == "adc_counted_2Esize0_t0");
    CHECK(fake.launches[1].symbol == "adc_counted_t0");
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
    StreamSession device;
    device.Must(Load(device, fake, MakeHipBundle()));
    fake.current = 2;
    device.Must(WorkOfAllKinds(device, adrt_record_hip));
    CHECK(fake.current == 2);
  }
  CHECK(fake.current == 2);
  {
    StreamSession device;
    device.Must(Load(device, fake, MakeHipBundle(), true));
    CHECK(fake.current == 2);
    device.Must(WorkOfAllKinds(device, adrt_record_hip));
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
  StreamSession device;
  device.Must(Load(device, fake, MakeHipBundle()));
  adrt_memory* memory = nullptr;
  CHECK(adrt_memory_create(device.device, 4096, &memory, &device.error) == ADRT_ERROR_OUT_OF_DEVICE_MEMORY);
  CHECK(device.error.Says("cannot allocate 4096 bytes: 1000 of its 1000 bytes are free"));
  CHECK(device.error.needed_bytes == 4096);
  CHECK(device.error.native_code == 2);
}

TEST_CASE("every call of the HIP runtime may fail", "[loader][hip]") {
  std::vector<uint8_t> file = MakeHipBundle();
  // What cannot be made current takes all with it, and what was current cannot be made so again.
  auto moves = [](const std::string& call) { return call == "hipGetDevice" || call == "hipSetDevice"; };
  auto ends = [](const std::string& call) {
    return call == "hipFree" || call == "hipModuleUnload" || call == "hipStreamDestroy";
  };
  for (bool open : {false, true}) {
    for (bool other_current : {false, true}) {
      auto work = [&](FakeHip& fake, StreamSession& session) {
        fake.device_count = 2;
        adrt_status status = Load(session, fake, file, open);
        if (status == ADRT_OK && other_current) fake.current = 1;
        return status != ADRT_OK ? status : WorkOfAllKinds(session, adrt_record_hip);
      };
      for (const DriverFailure& failure : kDriverFailures)
        FailEveryCall<FakeHip>(failure, "hipMalloc", work, ends, moves);
    }
  }
}

TEST_CASE("HIP launches go on after each fault, late or lost", "[loader][hip][faults]") {
  std::vector<uint8_t> file = MakeHipBundle();
  LaunchThroughFaults<FakeHip>(
      [&](StreamSession& session, FakeHip& fake) { return Load(session, fake, file); },
      [](const std::string& call) { return call == "hipGetDevice" || call == "hipSetDevice"; });
}
