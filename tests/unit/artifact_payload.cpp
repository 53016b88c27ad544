#include <catch2/catch.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "../../artifact-format/src/payload.h"
#include "../support/payloads.h"

using namespace adc::artifact;
using namespace payloads;

namespace {

/// What is wrong with `bytes` as a section of the kind; empty where nothing is.
std::string Verdict(uint32_t kind, const Bytes& bytes, const Metadata& metadata) {
  Section item;
  item.kind = kind;
  item.target = 0;
  item.known = true;
  // A copy of exactly the length, so that a read beyond it is one that a sanitizer sees.
  std::vector<uint8_t> exact(bytes);
  exact.shrink_to_fit();
  OpenBudget budget(nullptr, {}, exact.size());
  Error error;
  bool good = CheckPayload(item, exact, metadata, &budget, &error);
  CHECK(good == error.ok());
  if (!good) CHECK(error.rule == Rule::kH10);
  return std::string(error.message());
}

bool Says(const std::string& verdict, std::string_view word) {
  INFO(verdict);
  return verdict.find(word) != std::string::npos;
}

/// Every prefix and every flipped bit gets a verdict; no prefix is taken.
void Maul(uint32_t kind, const Bytes& bytes, const Metadata& metadata, bool prefixes_are_bad) {
  size_t taken = 0;
  for (size_t length = 0; length < bytes.size(); ++length) {
    Bytes cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(length));
    taken += Verdict(kind, cut, metadata).empty();
  }
  if (prefixes_are_bad) CHECK(taken == 0);
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    Bytes flipped = bytes;
    flipped[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    Verdict(kind, flipped, metadata);
  }
}

}  // namespace

TEST_CASE("SPIR-V has the entry points, the version and the capabilities that its target states",
          "[payload]") {
  Metadata plain = For("vulkan", "1.2"), doubles = For("vulkan", "1.2", {"shaderFloat64"});
  auto verdict = [](const Spirv& module, const Metadata& metadata) {
    return Verdict(section::kSpirv, module.bytes, metadata);
  };
  CHECK(verdict(Spirv().Capability(1).Both(), plain).empty());
  CHECK(verdict(Spirv().Capability(10).Both(), doubles).empty());
  CHECK(Says(verdict(Spirv().Capability(10).Both(), plain), "'shaderFloat64'"));
  CHECK(Says(verdict(Spirv().Capability(6).Both(), plain), "capability 6"));
  CHECK(verdict(Spirv().Capability(4466).Both(),
                For("vulkan", "1.2", {"shaderSignedZeroInfNanPreserveFloat32"}))
            .empty());
  CHECK(Says(verdict(Spirv().Capability(4466).Both(), plain), "SignedZeroInfNanPreserve"));
  CHECK(Says(verdict(Spirv().Entry("adc_k_t0"), plain), "'adc_k_t0_far'"));
  CHECK(Says(verdict(Spirv().Entry("adc_k_t0_far"), plain), "'adc_k_t0'"));
  CHECK(Says(verdict(Spirv().Both().Entry("other", 4), plain), "no kernel"));
  CHECK(Says(verdict(Spirv().Both().Inst(15, {5, 1, 0x61616161}), plain), "no end"));
  CHECK(Says(verdict(Spirv(0x10600).Both(), plain), "version"));
  CHECK(verdict(Spirv(0x10600).Both(), For("vulkan", "1.3")).empty());
  CHECK(Says(verdict(Spirv().Both().Inst(14, {1, 1}), plain), "memory model"));
  Spirv endless = Spirv().Both();
  endless.Word(5u << 16 | 61);
  CHECK(Says(verdict(endless, plain), "without an end"));
  endless = Spirv().Both();
  endless.Word(0);
  CHECK(Says(verdict(endless, plain), "without an end"));
  CHECK_FALSE(Verdict(section::kSpirv, Spirv().Both().bytes, For("cuda", "sm_80")).empty());
  Maul(section::kSpirv, Spirv().Capability(1).Both().bytes, plain, true);
}

TEST_CASE("a code object is for its processor and has a descriptor for each kernel", "[payload]") {
  Metadata metadata = For("hip", "gfx1100");
  auto verdict = [&](const Bytes& bytes) { return Verdict(section::kHsaco, bytes, metadata); };
  Bytes good = Hsaco({"adc_k_t0", "adc_k_t0.kd"});
  CHECK(verdict(good).empty());
  CHECK(Says(verdict(Hsaco({"adc_k_t0"})), "'adc_k_t0'"));
  CHECK(Says(verdict(Hsaco({"adc_k_t0.kd"}, 0x36)), "another processor"));
  CHECK(Says(verdict(Hsaco({"adc_k_t0.kd"}, 0x41, 63)), "descriptor"));
  Bytes far = good;
  Put(far, 40, UINT64_MAX - 63, 8);
  CHECK(Says(verdict(far), "sections outside"));
  Bytes other = good;
  Put(other, 18, 62, 2);
  CHECK(Says(verdict(other), "no AMD code object"));
  Maul(section::kHsaco, good, metadata, true);
}

TEST_CASE("a processor's object and image have a function for each entry point", "[payload]") {
  Metadata metadata = For("cpu", "x86-64");
  for (bool is_object : {true, false}) {
    INFO((is_object ? "object" : "image"));
    uint32_t kind = is_object ? section::kObject : section::kImage;
    auto verdict = [&](const std::vector<ElfSymbol>& symbols) {
      return Verdict(kind, CpuElf(is_object, symbols), metadata);
    };
    CHECK(verdict({{"other"}, {"adc_k_t0"}}).empty());
    CHECK(Says(verdict({{"adc_k_t1"}, {"adc_k_t"}, {"adc_k_t01"}}), "has no entry point 'adc_k_t0'"));
    CHECK(Says(verdict({}), "'adc_k_t0'"));
    // A local one, data, one that is not defined, one of a section that does not exist or holds no code, one
    // beyond the code.
    CHECK(Says(verdict({{"adc_k_t0", 0x02}}), "'adc_k_t0'"));
    CHECK(Says(verdict({{"adc_k_t0", 0x11}}), "'adc_k_t0'"));
    CHECK(Says(verdict({{"adc_k_t0", 0x12, 0}}), "'adc_k_t0'"));
    CHECK(Says(verdict({{"adc_k_t0", 0x12, 4}}), "'adc_k_t0'"));
    CHECK(Says(verdict({{"adc_k_t0", 0x12, 0xFFF1}}), "'adc_k_t0'"));
    CHECK(Says(verdict({{"adc_k_t0", 0x12, 2}}), "'adc_k_t0'"));
    CHECK(verdict({{"adc_k_t0", 0x12, 3, 15}}).empty());
    CHECK(Says(verdict({{"adc_k_t0", 0x12, 3, 16}}), "'adc_k_t0'"));
    Bytes good = CpuElf(is_object, {{"adc_k_t0"}});
    CHECK_FALSE(Verdict(is_object ? section::kImage : section::kObject, good, metadata).empty());
    CHECK_FALSE(Verdict(kind, good, For("cpu", "aarch64")).empty());
    Maul(kind, good, metadata, true);
  }
}

TEST_CASE("code for a target for which no kernel states an entry point is refused", "[payload]") {
  for (auto [kind, name, arch] :
       {std::tuple{section::kObject, "cpu", "x86-64"}, std::tuple{section::kPtx, "cuda", "sm_80"},
        std::tuple{section::kMsl, "metal", "2.4"}}) {
    INFO(name);
    Metadata metadata = For(name, arch);
    Bytes code =
        kind == section::kObject ? CpuElf(true, {{"adc_k_t0"}})
        : kind == section::kPtx
            ? FromText(".version 7.0\n.target sm_80\n.visible .entry adc_k_t0(.param .u64 a) { ret; }")
            : FromText("kernel void adc_k_t0() {}");
    CHECK(Verdict(kind, code, metadata).empty());
    metadata.kernels[0].tasks[0].entries.clear();
    CHECK(Says(Verdict(kind, code, metadata), "states no entry point for it"));
    // A module without kernels is code too.
    metadata.kernels.clear();
    CHECK(Verdict(kind, code, metadata).empty());
  }
}

TEST_CASE("two entries of a target with one symbol are refused", "[payload]") {
  // What a launch binds, and what a device lets the code do, is looked up by the symbol.
  Metadata vulkan = For("vulkan", "1.2"), cuda = For("cuda", "sm_80");
  const Bytes code = Spirv().Both().Entry("adc_k_t1").bytes;
  const Bytes ptx = FromText(".version 7.0\n.target sm_80\n.visible .entry adc_k_t0() { ret; }");
  CHECK(Verdict(section::kSpirv, code, vulkan).empty());
  CHECK(Verdict(section::kPtx, ptx, cuda).empty());
  auto add = [](Metadata metadata, bool other_kernel, const char* symbol, const char* far_symbol) {
    TaskMeta task = metadata.kernels[0].tasks[0];
    task.entries[0].symbol = symbol;
    task.entries[0].far_symbol = far_symbol;
    if (other_kernel) metadata.kernels.push_back(metadata.kernels[0]);
    Vector<TaskMeta>& tasks = metadata.kernels.back().tasks;
    if (other_kernel) tasks.clear();
    tasks.push_back(task);
    return metadata;
  };
  const std::string_view says = "two entries for target 't' have the symbol 'adc_k_t0'";
  for (bool other_kernel : {false, true}) {
    CHECK(Verdict(section::kSpirv, code, add(vulkan, other_kernel, "adc_k_t1", "")).empty());
    CHECK(Says(Verdict(section::kSpirv, code, add(vulkan, other_kernel, "adc_k_t0", "")), says));
    CHECK(Says(Verdict(section::kSpirv, code, add(vulkan, other_kernel, "adc_k_t1", "adc_k_t0")), says));
    CHECK(Says(Verdict(section::kPtx, ptx, add(cuda, other_kernel, "adc_k_t0", "")), says));
  }
  vulkan.kernels[0].tasks[0].entries[0].far_symbol = "adc_k_t0";
  CHECK(Says(Verdict(section::kSpirv, code, vulkan), says));
}

TEST_CASE("text has the entry points that the metadata states", "[payload]") {
  Metadata metal = For("metal", "2.4"), cuda = For("cuda", "sm_80");
  auto msl = [&](std::string_view text) { return Verdict(section::kMsl, FromText(text), metal); };
  CHECK(msl("using namespace metal;\nkernel void adc_k_t0(device float* x [[buffer(0)]]) {}\n").empty());
  CHECK(msl("kernel [[max_total_threads_per_threadgroup(128)]] void\nadc_k_t0() {}").empty());
  CHECK(Says(msl("kernel void adc_k_t01() {}"), "'adc_k_t0'"));
  CHECK(Says(msl("notkernel void adc_k_t0() {}"), "'adc_k_t0'"));
  CHECK(Says(msl("kernel [[ void adc_k_t0() {}"), "'adc_k_t0'"));
  CHECK(Says(msl("kernel void adc_k_t0() {}\xFF"), "not text"));
  auto ptx = [&](std::string_view text) { return Verdict(section::kPtx, FromText(text), cuda); };
  CHECK(ptx(".version 7.0\n.target sm_80\n.visible .entry adc_k_t0(.param .u64 a) { ret; }").empty());
  CHECK(Says(ptx(".version 7.0\n.target sm_80\n.visible .entry adc_k_t1() { ret; }"), "'adc_k_t0'"));
  CHECK(Says(ptx(".entry adc_k_t0"), "no PTX"));
  CHECK(Says(ptx(".version 7.0\n.target sm_90\n.visible .entry adc_k_t0() { ret; }"), "is PTX for 'sm_90'"));
  CHECK(Says(ptx(".version 7.0\n.entry adc_k_t0() { ret; }\n.target"), "is PTX for ''"));
  Maul(section::kMsl, FromText("kernel void adc_k_t0() {}"), metal, false);
}
