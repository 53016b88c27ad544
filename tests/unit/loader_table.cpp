#include <adrt/adrt_sequence.h>

#include "artifact/gpu_abi.h"
#include "cuda_session.h"
#include "fake_hip.h"

// Launches with more words than parameters on CUDA and HIP: the others lie in a table in the heap, which
// launches of an entry without a task write.

using namespace fixture;

namespace {

constexpr size_t kCount = 100;
/// All words are parameters; the first that are not; a full chunk of the table, and one word more; many.
constexpr uint32_t kWide[] = {511, 512, 638, 639, 1500};

adc::artifact::Metadata WithWide() {
  adc::artifact::Metadata metadata = MakeMetadata();
  for (uint32_t words : kWide) metadata.kernels.push_back(WideKernel(words));
  FinishMetadata(&metadata);
  return metadata;
}

std::vector<uint8_t> CodeFor(const char* kind, bool has_feature) {
  adc::artifact::Metadata metadata = WithWide();
  adc::artifact::TargetMeta target;
  bool cuda = std::string(kind) == "cuda";
  target.name = cuda ? "cuda:sm_70" : "hip:gfx90a";
  target.kind = kind;
  target.arch = cuda ? "sm_70" : "gfx90a";
  target.abi = cuda ? "ptx" : "hsaco";
  if (has_feature) target.features.push_back(adc::artifact::String(ADRT_GPU_TABLE_FEATURE));
  AddDeviceTarget(&metadata, target);
  uint32_t number = static_cast<uint32_t>(metadata.targets.size()) - 1;
  if (!cuda)
    return MakeDeviceBundle(metadata, adc::artifact::section::kHsaco, MakeHsaco(metadata, number, 0x3F));
  std::string text = MakePtx(metadata, number);
  return MakeDeviceBundle(metadata, adc::artifact::section::kPtx, {text.begin(), text.end()});
}

adrt_status LoadWide(StreamSession& session, FakeCuda& fake, bool has_feature = true) {
  return Load(session, fake, CodeFor("cuda", has_feature));
}

adrt_status LoadWide(StreamSession& session, FakeHip& fake, bool has_feature = true) {
  return session.Load(CodeFor("hip", has_feature), fake.Desc(), TrustingHost(), adrt_device_wrap_hip);
}

/// Arguments of @wideN, and the sum that it makes of them.
struct Wide {
  uint32_t words;
  std::string name;
  std::vector<uint64_t> numbers;
  std::vector<std::string> names;
  std::vector<uint64_t> y;
  adrt_memory* memory = nullptr;
  adrt_launch_plan* plan = nullptr;

  Wide(StreamSession& device, uint32_t word_count, uint64_t factor = 11)
      : words(word_count), name("wide" + std::to_string(word_count)), y(kCount) {
    adrt_status status = ADRT_OK;
    memory = device.Upload(y, &status);
    device.Must(status);
    numbers.push_back(words);
    names.push_back("words");
    for (uint32_t number = 1; number + 2 + 4 < words; ++number) {
      numbers.push_back(factor * number + 1);
      names.push_back("p" + std::to_string(number));
    }
    std::vector<adrt_arg> args = {BufferArg("y", ADRT_TYPE_U64, adrt_memory_data(memory), {kCount})};
    for (size_t n = 0; n < numbers.size(); ++n)
      args.push_back(ScalarArg(names[n].c_str(), ADRT_TYPE_U64, &numbers[n]));
    device.Must(device.Plan(name.c_str(), args, &plan));
  }
  /// Words beyond the last that is a parameter, but for those of every launch.
  size_t InTable() const { return words > 511 ? words - 510 : 0; }
  size_t Chunks() const { return (InTable() + 127) / 128; }

  void Check(StreamSession& device) {
    INFO(words << " words");
    uint64_t sum = 0;
    for (uint64_t number : numbers) sum = 3 * sum + number;
    device.Must(device.Download(memory, &y));
    for (size_t i = 0; i < kCount; ++i) REQUIRE(y[i] == sum + i);
  }
};

template <class Fake>
void RunAll() {
  Fake fake;
  {
    StreamSession device;
    device.Must(LoadWide(device, fake));
    for (uint32_t words : kWide) {
      Wide wide(device, words);
      INFO(words << " words");
      CHECK(PlanReport(wide.plan).heap_bytes == wide.Chunks() * 1024);
      size_t before = fake.launches.size();
      device.Must(adrt_run(wide.plan, nullptr, &device.error));
      wide.Check(device);
      REQUIRE(fake.launches.size() == before + wide.Chunks() + 1);
      for (size_t chunk = 0; chunk < wide.Chunks(); ++chunk) {
        const FakeStreams::Launched& writer = fake.launches[before + chunk];
        CHECK(writer.symbol == ADRT_GPU_TABLE_WRITER);
        CHECK(writer.blocks == 1);
        CHECK(writer.block_size == 1);
        CHECK(writer.words[0] == fake.launches[before].words[0] + 1024 * chunk);
      }
      const std::vector<uint64_t>& parameters = fake.launches.back().words;
      CHECK(parameters.size() == 511);
      CHECK(parameters[505] == 11 * (505 - 2) + 1);
      if (wide.InTable() > 0) CHECK(parameters[506] == fake.launches[before].words[0]);
      CHECK(parameters[509] == kCount);
    }
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

/// Two launches recorded into one queue that runs late, each with words in a heap of its own.
template <class Fake>
void RecordTwo(RecordInto record) {
  Fake fake;
  {
    StreamSession device;
    device.Must(LoadWide(device, fake));
    Wide first(device, 1500), second(device, 1500, 13);
    adrt_status status = ADRT_OK;
    adrt_memory* memory = device.Upload(std::vector<char>(32768), &status);
    device.Must(status);
    char* data = static_cast<char*>(adrt_memory_data(memory));
    CHECK(record(first.plan, nullptr, data, 1024, data + 16384, &device.error) == ADRT_ERROR_HEAP_TOO_SMALL);
    CHECK(device.error.needed_bytes == 8 * 1024);
    CHECK(fake.launches.empty());
    fake.late = true;
    device.Must(record(first.plan, nullptr, data, 8192, data + 16384, &device.error));
    device.Must(record(second.plan, nullptr, data + 8192, 8192, data + 16640, &device.error));
    first.Check(device);
    second.Check(device);
  }
  CHECK(fake.broken.empty());
}

template <class Fake>
void RunInSequence() {
  Fake fake;
  {
    StreamSession device;
    device.Must(LoadWide(device, fake));
    Wide one(device, 639), other(device, 639, 17);
    adrt_status status = ADRT_OK;
    adrt_memory* memory = device.Upload(std::vector<char>(8192), &status);
    device.Must(status);
    char* data = static_cast<char*>(adrt_memory_data(memory));
    adrt_sequence* sequence = nullptr;
    device.Must(adrt_sequence_create(device.device, &sequence, &device.error));
    // One heap: the second launch waits until the first has read its table.
    device.Must(adrt_sequence_add(sequence, one.plan, data, 2048, data + 4096, &device.error));
    device.Must(adrt_sequence_add(sequence, other.plan, data, 2048, data + 6144, &device.error));
    adrt_status recorded = adrt_sequence_record(sequence, nullptr, &device.error);
    adrt_sequence_release(sequence);
    device.Must(recorded);
    one.Check(device);
    other.Check(device);
  }
  CHECK(fake.broken.empty());
}

template <class Fake>
void RefuseWithoutWriter(const char* call) {
  Fake fake;
  {
    StreamSession device;
    CHECK(LoadWide(device, fake, false) == ADRT_ERROR_DRIVER);
    CHECK(device.error.Says(call));
  }
  CHECK(fake.IsClean());
  CHECK(fake.broken.empty());
}

}  // namespace

TEST_CASE("words beyond the parameters reach code through a table", "[loader][cuda][hip]") {
  RunAll<FakeCuda>();
  RunAll<FakeHip>();
}

TEST_CASE("recorded launches have their tables in the caller's memory", "[loader][cuda][hip]") {
  RecordTwo<FakeCuda>(adrt_record_cuda);
  RecordTwo<FakeHip>(adrt_record_hip);
}

TEST_CASE("tables are written within a sequence", "[loader][cuda][hip]") {
  RunInSequence<FakeCuda>();
  RunInSequence<FakeHip>();
}

TEST_CASE("code that needs a table and cannot write one is refused when it is loaded",
          "[loader][cuda][hip]") {
  RefuseWithoutWriter<FakeCuda>("cuModuleGetFunction");
  RefuseWithoutWriter<FakeHip>("hipModuleGetFunction");
}

TEST_CASE("code without such a task asks for no writer", "[loader][cuda]") {
  FakeCuda fake;
  StreamSession device;
  device.Must(Load(device, fake, MakeCudaBundle()));
  for (const auto& [module, name] : fake.functions) CHECK(name != ADRT_GPU_TABLE_WRITER);
}
