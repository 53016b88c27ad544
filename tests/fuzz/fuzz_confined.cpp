// Any metadata over code that was compiled for other metadata, unverified, on a driver that computes nothing
// and knows the range of each descriptor: whatever the loader lets run stays in what the caller gave, and
// writes nothing that the metadata calls read. What the code reaches is read from it here once more, by
// other code than the loader's.

#include <adrt/adrt_vk.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>

#include "../loader/robust_vulkan.h"
#include "../support/bare_argument.h"
#include "../support/hostile_bundles.h"
#include "seeds.h"

namespace {

using namespace adc::artifact;
using fixture::FakeVulkan;

void Demand(bool condition, const char* what, const char* details = "") {
  if (condition) return;
  std::fprintf(stderr, "fuzz_confined: %s %s\n", what, details);
  std::abort();
}

/// Compiled bundles, each taken apart.
struct Compiled {
  std::string json, symbol;  ///< the symbol of its first entry
  std::vector<uint8_t> code;
};

std::vector<Compiled> ReadCompiled() {
  std::vector<Compiled> all;
  std::set<std::filesystem::path> names;
  for (const auto& entry : std::filesystem::directory_iterator(FUZZ_BUNDLES)) names.insert(entry.path());
  for (const std::filesystem::path& name : names) {
    std::ifstream file(name, std::ios::binary);
    std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::span<const uint8_t> content(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
    BundleIndex index;
    Error error;
    Compiled compiled;
    Demand(ReadIndex(content, Limits(), nullptr, &index, &error), "no bundle:", name.c_str());
    for (uint32_t number = 0; number < index.sections.size(); ++number) {
      Vector<uint8_t> section;
      Demand(ReadSection(content, index, number, Limits(), &section, &error), "no section:", name.c_str());
      if (index.sections[number].kind == section::kMeta) compiled.json.assign(section.begin(), section.end());
      if (index.sections[number].kind == section::kSpirv)
        compiled.code.assign(section.begin(), section.end());
    }
    size_t at = compiled.json.find("\"symbol\":\"");
    Demand(at != std::string::npos && !compiled.code.empty(), "no code:", name.c_str());
    at += std::strlen("\"symbol\":\"");
    compiled.symbol = compiled.json.substr(at, compiled.json.find('"', at) - at);
    all.push_back(compiled);
  }
  Demand(!all.empty(), "no bundles in", FUZZ_BUNDLES);
  return all;
}

const std::vector<Compiled>& AllCompiled() {
  static const std::vector<Compiled> all = ReadCompiled();
  return all;
}

/// The bindings that an entry point reaches, and those that it may change.
struct Reach {
  std::set<uint32_t> used, written;
};

/// One look at every instruction of a module.
class Module {
 public:
  explicit Module(const std::vector<uint32_t>& code) {
    uint32_t function = 0;
    for (size_t at = 5; at < code.size(); at += code[at] >> 16) {
      const uint32_t* word = &code[at];
      uint32_t op = word[0] & 0xFFFF;
      Demand(word[0] >> 16 != 0 && at + (word[0] >> 16) <= code.size(), "a torn module");
      if (op == 15) entries_[reinterpret_cast<const char*>(word + 3)] = word[2];
      if (op == 71 && word[2] == 33) binding_of_[word[1]] = word[3];
      if (op == 65 || op == 66) base_of_[word[2]] = word[3];
      if (op == 54) function = word[2];
      if (op == 57) calls_[function].insert(word[3]);
      if (op == 61 || op == 68 || op == 227) Touch(function, word[3], false);
      if (op == 62 || op == 228) Touch(function, word[1], true);
      if ((op >= 229 && op <= 242) || op == 6035 || op == 5614 || op == 5615) Touch(function, word[3], true);
    }
  }

  bool Has(const std::string& symbol) const { return entries_.contains(symbol); }
  Reach Of(const std::string& symbol) const {
    Reach reach;
    std::set<uint32_t> seen, left = {entries_.at(symbol)};
    while (!left.empty()) {
      uint32_t function = *left.begin();
      left.erase(left.begin());
      if (!seen.insert(function).second) continue;
      if (auto made = touches_.find(function); made != touches_.end()) {
        reach.used.insert(made->second.used.begin(), made->second.used.end());
        reach.written.insert(made->second.written.begin(), made->second.written.end());
      }
      if (auto made = calls_.find(function); made != calls_.end())
        left.insert(made->second.begin(), made->second.end());
    }
    return reach;
  }

 private:
  void Touch(uint32_t function, uint32_t pointer, bool writes) {
    while (base_of_.contains(pointer)) pointer = base_of_.at(pointer);
    auto binding = binding_of_.find(pointer);
    if (binding == binding_of_.end()) return;  // the thread's own memory, or an input
    touches_[function].used.insert(binding->second);
    if (writes) touches_[function].written.insert(binding->second);
  }

  std::map<std::string, uint32_t> entries_;
  std::map<uint32_t, uint32_t> binding_of_, base_of_;
  std::map<uint32_t, std::set<uint32_t>> calls_;
  std::map<uint32_t, Reach> touches_;
};

/// Memory that the test gives a launch, one buffer each.
struct Region {
  adrt_vk_buffer place;
  bool writable;
};

/// A driver with robust buffer access, and what must hold of each dispatch.
class Shadow {
 public:
  Shadow() {
    vulkan_.driver.subgroup_arithmetic = true;
    vulkan_.driver.on_dispatch = [this](const FakeVulkan::Dispatch& dispatch) { Check(dispatch); };
    adrt_host host = {};
    host.struct_size = sizeof host;
    error_.struct_size = sizeof error_;
    Demand(adrt_device_wrap_vk(&host, &vulkan_.desc, &device_, &error_) == ADRT_OK, error_.text);
  }
  ~Shadow() { adrt_device_release(device_); }

  /// Loads the bundle, and records each kernel that can be planned with small arguments.
  void Try(const std::vector<uint8_t>& file) {
    adrt_host host = {};
    host.struct_size = sizeof host;
    adrt_bundle* bundle = nullptr;
    adrt_module* module = nullptr;
    adrt_status status =
        adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error_);
    if (status == ADRT_OK) status = adrt_module_load(device_, bundle, &module, &error_);
    Demand(status == ADRT_OK || error_.text[0] != 0, "a refusal without a reason");
    adrt_bundle_report report = {};
    report.struct_size = sizeof report;
    if (status == ADRT_OK && adrt_bundle_info(bundle, &report, &error_) == ADRT_OK) {
      ++loaded;
      constexpr uint32_t kMostKernels = 8;
      for (uint32_t index = 0; index < report.kernel_count && index < kMostKernels; ++index) {
        const adrt_kernel* kernel = nullptr;
        if (adrt_bundle_kernel(bundle, index, &kernel, &error_) == ADRT_OK) Launch(module, kernel);
      }
    }
    adrt_module_release(module);
    adrt_bundle_release(bundle);
    vulkan_.driver.functions.clear();
    vulkan_.driver.commands.clear();
    vulkan_.driver.pipelines.clear();
    vulkan_.driver.names.clear();
  }

  uint64_t loaded = 0, recorded = 0, dispatched = 0;

 private:
  adrt_memory* NewRegion(uint64_t bytes, bool writable) {
    adrt_memory* memory = nullptr;
    Demand(adrt_memory_create(device_, bytes > 0 ? bytes : 4, &memory, &error_) == ADRT_OK, error_.text);
    regions_.push_back({*static_cast<const adrt_vk_buffer*>(adrt_memory_data(memory)), writable});
    return memory;
  }

  void Launch(adrt_module* module, const adrt_kernel* kernel) {
    static constexpr int64_t kExtents[8] = {7, 3, 2, 1, 1, 1, 1, 1};
    static const uint64_t kNumbers[16] = {3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3};
    std::vector<adrt_arg> args;
    std::vector<adrt_memory*> memory;
    std::vector<std::unique_ptr<adrt_vk_buffer>> places;
    regions_.clear();
    adrt_param_report param = {};
    param.struct_size = sizeof param;
    for (uint32_t index = 0; adrt_kernel_param(kernel, index, &param, &error_) == ADRT_OK; ++index) {
      bool is_layout = param.kind == ADRT_PARAM_LAYOUT;
      if (param.kind != ADRT_PARAM_BUFFER && param.kind != ADRT_PARAM_SCALAR && !is_layout) continue;
      adrt_arg arg = adc::test::BareArgument(param, index);
      arg.data = const_cast<uint64_t*>(kNumbers);
      if (param.kind != ADRT_PARAM_SCALAR) {
        uint64_t bytes = is_layout ? 4096 : adrt_type_size(param.type);
        for (uint32_t extent : {param.rows, param.columns}) bytes *= extent > 0 && !is_layout ? extent : 1;
        for (uint32_t axis = 0; axis < param.rank && axis < 8; ++axis) {
          arg.extents[axis] = kExtents[axis];
          bytes *= static_cast<uint64_t>(kExtents[axis]);
        }
        if (is_layout) arg.size = bytes;
        constexpr uint64_t kMost = 1 << 20;
        memory.push_back(NewRegion(bytes < kMost ? bytes : kMost, (param.access & ADRT_ACCESS_WRITE) != 0));
        places.push_back(std::make_unique<adrt_vk_buffer>(regions_.back().place));
        arg.data = places.back().get();
      }
      args.push_back(arg);
    }
    Record(module, kernel, args, &memory);
    for (adrt_memory* one : memory) adrt_memory_release(one);
  }

  void Record(adrt_module* module, const adrt_kernel* kernel, const std::vector<adrt_arg>& args,
              std::vector<adrt_memory*>* memory) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    desc.workers = 256;
    desc.size_budget = 1 << 20;
    adrt_launch_plan* plan = nullptr;
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    bool good = adrt_plan(kernel, &desc, &plan, &error_) == ADRT_OK;
    constexpr uint64_t kCap = 1 << 20;
    if (good) good = adrt_plan_info(plan, &report, &error_) == ADRT_OK;
    if (good && report.resolved == 0) {
      good = adrt_plan_with_cap(plan, kCap, &error_) == ADRT_OK &&
             adrt_plan_info(plan, &report, &error_) == ADRT_OK;
    }
    if (good && report.heap_bytes <= kCap) {
      adrt_vk_launch launch = {};
      launch.struct_size = sizeof launch;
      memory->push_back(NewRegion(report.heap_bytes, true));
      memory->push_back(NewRegion(ADRT_STATUS_BYTES, true));
      adrt_vk_buffer heap = regions_[regions_.size() - 2].place, status = regions_.back().place;
      launch.heap = &heap;
      launch.status = &status;
      recorded += adrt_record_vk(plan, reinterpret_cast<VkCommandBuffer>(this), &launch, &error_) == ADRT_OK;
    }
    adrt_plan_release(plan);
  }

  void Check(const FakeVulkan::Dispatch& dispatch) {
    ++dispatched;
    Module module(*dispatch.code);
    Demand(module.Has(dispatch.symbol), "no entry point", dispatch.symbol.c_str());
    Reach reach = module.Of(dispatch.symbol);
    for (uint32_t binding : reach.used) {
      auto found = dispatch.bound.find(binding);
      Demand(found != dispatch.bound.end(), "a binding without a descriptor in", dispatch.symbol.c_str());
      const FakeVulkan::Bound& bound = found->second;
      Demand(bound.offset <= bound.buffer_bytes && bound.bytes <= bound.buffer_bytes - bound.offset,
             "a descriptor beyond its buffer in", dispatch.symbol.c_str());
      const Region* inside = nullptr;
      for (const Region& region : regions_) {
        uint64_t begin = region.place.offset, end = begin + region.place.size;
        bool same = reinterpret_cast<VkBuffer>(region.place.buffer) == bound.buffer;
        if (same && bound.offset >= begin && bound.offset + bound.bytes <= end) inside = &region;
      }
      Demand(inside != nullptr, "a descriptor outside of what was given in", dispatch.symbol.c_str());
      Demand(inside->writable || !reach.written.contains(binding),
             "what the metadata calls read is written in", dispatch.symbol.c_str());
    }
  }

  fixture::RobustVulkan vulkan_;
  adrt_device* device_ = nullptr;
  adrt_error error_ = {};
  std::vector<Region> regions_;
};

struct Counted : Shadow {
  uint64_t inputs = 0;
  ~Counted() {
    std::fprintf(stderr, "%llu inputs: %llu loaded, %llu launches recorded, %llu dispatches looked at\n",
                 static_cast<unsigned long long>(inputs), static_cast<unsigned long long>(loaded),
                 static_cast<unsigned long long>(recorded), static_cast<unsigned long long>(dispatched));
  }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Counted shadow;
  if (size == 0) return 0;  // no section is empty
  std::string json(reinterpret_cast<const char*>(data), size);
  const Compiled* compiled = &AllCompiled()[0];
  for (const Compiled& one : AllCompiled()) {
    if (json.find("\"" + one.symbol + "\"") != std::string::npos) compiled = &one;
  }
  SectionInput code;
  code.kind = section::kSpirv;
  code.target = 0;
  code.compress = false;
  code.bytes = {compiled->code.data(), compiled->code.size()};
  ++shadow.inputs;
  shadow.Try(hostile::Pack(json, {code}));
  return 0;
}

std::vector<std::string> FuzzSeeds() {
  std::vector<std::string> seeds;
  for (const Compiled& one : AllCompiled()) seeds.push_back(one.json);
  return seeds;
}
