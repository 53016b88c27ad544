#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "../../artifact-format/src/payload.h"

using namespace adc::artifact;

namespace {

using Bytes = std::vector<uint8_t>;

void Put(Bytes& bytes, size_t at, uint64_t value, size_t size) {
  if (bytes.size() < at + size) bytes.resize(at + size);
  for (size_t index = 0; index < size; ++index)
    bytes[at + index] = static_cast<uint8_t>(value >> (8 * index));
}

Bytes FromText(std::string_view text) {
  return Bytes(text.begin(), text.end());
}

/// One kernel of one task with code for one target of the given kind.
Metadata For(const char* kind, const char* arch, std::initializer_list<const char*> features = {}) {
  Metadata metadata;
  TargetMeta target;
  target.name = "t";
  target.kind = kind;
  target.arch = arch;
  for (const char* feature : features) target.features.push_back(feature);
  metadata.targets.push_back(target);
  EntryMeta entry;
  entry.symbol = "adc_k_t0";
  if (target.kind == "vulkan") entry.far_symbol = "adc_k_t0_far";
  TaskMeta task;
  task.entries.push_back(entry);
  KernelMeta kernel;
  kernel.tasks.push_back(task);
  metadata.kernels.push_back(kernel);
  return metadata;
}

/// What is wrong with `bytes` as a section of the kind; empty where nothing is.
std::string Verdict(uint32_t kind, const Bytes& bytes, const Metadata& metadata) {
  Section item;
  item.kind = kind;
  item.target = 0;
  item.known = true;
  // A copy of exactly the length, so that a read beyond it is one that a sanitizer sees.
  std::vector<uint8_t> exact(bytes);
  exact.shrink_to_fit();
  Error error;
  bool good = CheckPayload(item, exact, metadata, &error);
  CHECK(good == error.ok());
  if (!good) CHECK(error.rule == Rule::kH10);
  return std::string(error.message());
}

bool Says(const std::string& verdict, std::string_view word) {
  INFO(verdict);
  return verdict.find(word) != std::string::npos;
}

struct Spirv {
  Bytes bytes;
  Spirv(uint32_t version = 0x10500) {
    for (uint32_t word : {0x07230203u, version, 0u, 100u, 0u}) Word(word);
  }
  void Word(uint32_t word) { Put(bytes, bytes.size(), word, 4); }
  Spirv& Inst(uint32_t opcode, const std::vector<uint32_t>& words) {
    Word(static_cast<uint32_t>((words.size() + 1) << 16) | opcode);
    for (uint32_t word : words) Word(word);
    return *this;
  }
  Spirv& Capability(uint32_t number) { return Inst(17, {number}); }
  Spirv& Entry(std::string_view name, uint32_t model = 5) {
    std::vector<uint32_t> words = {model, 1};
    for (size_t at = 0; at <= name.size(); at += 4) {
      uint32_t word = 0;
      for (size_t byte = at; byte < at + 4 && byte < name.size(); ++byte) {
        word |= static_cast<uint32_t>(static_cast<unsigned char>(name[byte])) << (8 * (byte - at));
      }
      words.push_back(word);
    }
    return Inst(15, words);
  }
  Spirv& Both() { return Entry("adc_k_t0").Entry("adc_k_t0_far"); }
};

/// A code object with dynamic symbols of these names, each of 64 bytes.
Bytes Hsaco(const std::vector<std::string>& symbols, uint32_t machine = 0x41, uint64_t size = 64) {
  Bytes bytes = {0x7F, 'E', 'L', 'F', 2, 1, 1, 64};
  Put(bytes, 16, 3, 2);
  Put(bytes, 18, 224, 2);
  Put(bytes, 48, machine, 4);
  Put(bytes, 58, 64, 2);
  Put(bytes, 60, 3, 2);
  std::string names(1, '\0');
  size_t at = 64;
  for (const std::string& symbol : symbols) {
    Put(bytes, at, names.size(), 4);
    Put(bytes, at + 16, size, 8);
    at += 24;
    names += symbol + '\0';
  }
  size_t text = at;
  for (char letter : names) Put(bytes, at++, static_cast<unsigned char>(letter), 1);
  size_t sections = (at + 7) / 8 * 8;
  Put(bytes, 40, sections, 8);
  auto section = [&](size_t number, uint32_t type, uint64_t offset, uint64_t length, uint32_t link) {
    size_t row = sections + 64 * number;
    Put(bytes, row + 4, type, 4);
    Put(bytes, row + 24, offset, 8);
    Put(bytes, row + 32, length, 8);
    Put(bytes, row + 40, link, 4);
    Put(bytes, row + 56, 0, 8);
  };
  section(0, 0, 0, 0, 0);
  section(1, 11, 64, 24 * symbols.size(), 2);
  section(2, 3, text, names.size(), 0);
  return bytes;
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
