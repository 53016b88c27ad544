#include <catch2/catch.hpp>
#include <string>

#include "../../runtime-loader/src/cpu/features.h"
#include "artifact/cpu_features.h"
#include "session.h"

using namespace fixture;
using adc::artifact::Metadata, adc::artifact::TargetMeta;

namespace {

TargetMeta Level(uint32_t level) {
  TargetMeta target;
  target.name = std::string_view("cpu:x86-64-v" + std::to_string(level));
  target.kind = "cpu";
  target.arch = "x86-64";
  target.abi = "elf";
  target.features = adc::artifact::X86LevelFeatures(level);
  return target;
}

uint64_t FeaturesOf(uint32_t level) {
  uint64_t bits = 0;
  for (const adc::artifact::String& name : adc::artifact::X86LevelFeatures(level)) {
    adc::artifact::X86Feature feature;
    REQUIRE(adc::artifact::X86FeatureFromName(name, &feature));
    bits |= uint64_t{1} << static_cast<uint32_t>(feature);
  }
  return bits;
}

}  // namespace

TEST_CASE("a processor runs its level and those below, the highest best", "[loader]") {
  for (uint32_t has = 1; has <= 4; ++has) {
    uint32_t last_rank = 0;
    for (uint32_t needs = 1; needs <= 4; ++needs) {
      char text[160];
      adc::artifact::TextWriter reason(text, sizeof text);
      uint32_t rank = 0;
      bool runs = adrt::JudgeCpuTarget(FeaturesOf(has), "x86-64", Level(needs), &rank, reason);
      INFO("has " << has << ", needs " << needs << ": " << text);
      CHECK(runs == (needs <= has));
      if (runs) CHECK((needs == 1 || rank > last_rank));
      if (!runs) CHECK(std::string(text).find("needs ") == 0);
      last_rank = rank;
    }
  }
}

TEST_CASE("each refused target has its reason", "[loader]") {
  auto reason_of = [](const TargetMeta& target) {
    char text[160];
    adc::artifact::TextWriter reason(text, sizeof text);
    uint32_t rank = 0;
    CHECK_FALSE(adrt::JudgeCpuTarget(~uint64_t{0}, "x86-64", target, &rank, reason));
    return std::string(text);
  };
  TargetMeta target = Level(3);
  target.arch = "aarch64";
  CHECK(reason_of(target) == "is for aarch64, this processor is x86-64");
  target = Level(3);
  target.features.push_back("zzz");
  CHECK(reason_of(target) == "needs 'zzz', which this loader does not know");
  target = Level(3);
  target.abi = "macho";
  CHECK(reason_of(target).find("macho") != std::string::npos);
}

TEST_CASE("levels are nested and sorted by name", "[loader]") {
  CHECK(adc::artifact::X86LevelFeatures(1).empty());
  size_t last = 0;
  for (uint32_t level = 2; level <= 4; ++level) {
    adc::artifact::Vector<adc::artifact::String> names = adc::artifact::X86LevelFeatures(level);
    CHECK(names.size() > last);
    last = names.size();
    for (size_t index = 1; index < names.size(); ++index)
      CHECK(names[index - 1].view() < names[index].view());
  }
  CHECK((FeaturesOf(3) & FeaturesOf(2)) == FeaturesOf(2));
}

TEST_CASE("a query gives a verdict per target", "[loader]") {
  Session session;
  ErrorBox error;
  uint32_t count = 0;
  REQUIRE(adrt_bundle_query_targets(session.bundle, session.device, nullptr, 0, &count, &error) == ADRT_OK);
  REQUIRE(count == 2);
  adrt_target_report reports[2] = {};
  reports[0].struct_size = reports[1].struct_size = sizeof(adrt_target_report);
  CHECK(adrt_bundle_query_targets(session.bundle, session.device, reports, 1, &count, &error) ==
        ADRT_ERROR_ARGUMENT);
  reports[0].struct_size = sizeof(adrt_target_report) - 4;  // the second one would not lie at a multiple of 8
  CHECK(adrt_bundle_query_targets(session.bundle, session.device, reports, 2, &count, &error) ==
        ADRT_ERROR_ARGUMENT);
  CHECK(error.Says("struct_size"));
  reports[0].struct_size = sizeof(adrt_target_report);
  REQUIRE(adrt_bundle_query_targets(session.bundle, session.device, reports, 2, &count, &error) == ADRT_OK);
  CHECK(reports[0].verdict == ADRT_TARGET_CHOSEN);
  CHECK(reports[1].verdict == ADRT_TARGET_REFUSED);
  CHECK(std::string(reports[1].name) == "cpu:other");
  CHECK(std::string(reports[1].reason).find("riscv64") != std::string::npos);
  CHECK(adrt_module_target(session.module) == 0);

  adrt_module* module = nullptr;
  CHECK(adrt_module_load_target(session.device, session.bundle, 1, &module, &error) ==
        ADRT_ERROR_DEVICE_FEATURE);
  CHECK(error.Says("riscv64"));
  CHECK(adrt_module_load_target(session.device, session.bundle, 2, &module, &error) == ADRT_ERROR_ARGUMENT);
  adrt_device_report device = {};
  device.struct_size = sizeof device;
  REQUIRE(adrt_device_info(session.device, &device, &error) == ADRT_OK);
  CHECK(std::string(device.kind) == "cpu");
  CHECK(device.worker_count == 1);
}

TEST_CASE("a bundle without code for this device says so", "[loader]") {
  Metadata metadata = MakeMetadata();
  metadata.targets[0].features.push_back("nothing-has-this");
  std::vector<uint8_t> file = MakeBundle(metadata, ReadImage());
  adrt_host host = TrustingHost();
  adrt_bundle* bundle = nullptr;
  adrt_device* device = nullptr;
  adrt_module* module = nullptr;
  ErrorBox error;
  REQUIRE(adrt_bundle_open(&host, file.data(), file.size(), 0, &bundle, &error) == ADRT_OK);
  REQUIRE(adrt_device_wrap_cpu(&host, nullptr, &device, &error) == ADRT_OK);
  CHECK(adrt_module_load(device, bundle, &module, &error) == ADRT_ERROR_NO_TARGET);
  CHECK(error.Says("nothing-has-this"));
  CHECK(error.Says("riscv64"));
  adrt_device_release(device);
  adrt_bundle_release(bundle);
}

TEST_CASE("of several usable targets the one that uses most of the device is loaded", "[loader]") {
  if (std::string(adrt::ProcessorArch()) != "x86-64" ||
      (adrt::ProcessorFeatures() & FeaturesOf(2)) != FeaturesOf(2)) {
    WARN("this processor has no features to choose by");
    return;
  }
  Metadata metadata = MakeMetadata();
  metadata.targets[1] = Level(2);
  for (adc::artifact::KernelMeta& kernel : metadata.kernels) {
    for (adc::artifact::TaskMeta& task : kernel.tasks) {
      adc::artifact::EntryMeta entry = task.entries[0];
      entry.target = 1;
      task.entries.push_back(entry);
    }
  }
  std::vector<uint8_t> image = ReadImage();
  adc::artifact::String json;
  adc::artifact::Error reason;
  REQUIRE(WriteMetadata(metadata, &json, &reason));
  std::vector<adc::artifact::SectionInput> sections(3);
  sections[0].kind = adc::artifact::section::kMeta;
  sections[0].bytes = {reinterpret_cast<const uint8_t*>(json.data()), json.size()};
  for (uint32_t target = 0; target < 2; ++target) {
    sections[1 + target].kind = adc::artifact::section::kImage;
    sections[1 + target].target = target;
    sections[1 + target].bytes = {image.data(), image.size()};
  }
  adc::artifact::Vector<uint8_t> file;
  REQUIRE(WriteBundle({sections.data(), 3}, &file, &reason));
  Session session(1, std::vector<uint8_t>(file.begin(), file.end()));
  CHECK(adrt_module_target(session.module) == 1);
  adrt_target_report reports[2] = {};
  reports[0].struct_size = reports[1].struct_size = sizeof(adrt_target_report);
  uint32_t count = 0;
  REQUIRE(adrt_bundle_query_targets(session.bundle, session.device, reports, 2, &count, &session.error) ==
          ADRT_OK);
  CHECK(reports[0].verdict == ADRT_TARGET_USABLE);
  CHECK(std::string(reports[0].reason).find("x86-64-v2") != std::string::npos);
}
