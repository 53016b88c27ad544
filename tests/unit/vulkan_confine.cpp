#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "robust_vulkan.h"
#include "vulkan_fixture.h"

// Unverified code: what is loaded on a device with robust buffer access, what is refused by
// which name, and that the loaded stays in its buffers. The module is written by hand, and each hostile one
// is it with a few places changed.

using namespace fixture;

namespace {

/// y[i] = 2 * keep[min(i, 3)], where keep[min(i, 3)] was x[i]. Words: x, n, y, n, a, heap, status,
/// iterations, threads.
constexpr const char* kModule = R"(
OpCapability Shader
OpCapability Int64
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "adc_saxpy_t0" %gid %x %y %words %table
OpExecutionMode %main LocalSize 64 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
OpDecorate %floats ArrayStride 4
OpDecorate %Floats Block
OpMemberDecorate %Floats 0 Offset 0
OpDecorate %longs ArrayStride 8
OpDecorate %Longs Block
OpMemberDecorate %Longs 0 Offset 0
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 0
OpDecorate %y Binding 1
OpDecorate %words DescriptorSet 0
OpDecorate %words Binding 2
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%ulong = OpTypeInt 64 0
%float = OpTypeFloat 32
%uint3 = OpTypeVector %uint 3
%procedure = OpTypeFunction %void
%function = OpTypeFunction %float %float
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%four = OpConstant %uint 4
%seven = OpConstant %uint 7
%far = OpConstant %uint 1073741824
%two = OpConstant %float 2
%floats = OpTypeRuntimeArray %float
%Floats = OpTypeStruct %floats
%longs = OpTypeRuntimeArray %ulong
%Longs = OpTypeStruct %longs
%keep_type = OpTypeArray %float %four
%in_gid = OpTypePointer Input %uint3
%in_uint = OpTypePointer Input %uint
%to_Floats = OpTypePointer StorageBuffer %Floats
%to_float = OpTypePointer StorageBuffer %float
%to_Longs = OpTypePointer StorageBuffer %Longs
%to_ulong = OpTypePointer StorageBuffer %ulong
%to_keep = OpTypePointer Function %keep_type
%in_keep = OpTypePointer Function %float
%to_table = OpTypePointer Private %keep_type
%in_table = OpTypePointer Private %float
%numbers = OpConstantComposite %keep_type %two %two %two %two
%gid = OpVariable %in_gid Input
%x = OpVariable %to_Floats StorageBuffer
%y = OpVariable %to_Floats StorageBuffer
%words = OpVariable %to_Longs StorageBuffer
%table = OpVariable %to_table Private %numbers
%twice = OpFunction %float None %function
%what = OpFunctionParameter %float
%twice_begin = OpLabel
%at_table = OpAccessChain %in_table %table %three
%factor = OpLoad %float %at_table
%doubled = OpFMul %float %what %factor
OpReturnValue %doubled
OpFunctionEnd
%main = OpFunction %void None %procedure
%begin = OpLabel
%keep = OpVariable %to_keep Function
%at_gid = OpAccessChain %in_uint %gid %zero
%i = OpLoad %uint %at_gid
%at_total = OpAccessChain %to_ulong %words %zero %seven
%total = OpLoad %ulong %at_total
%wide = OpUConvert %ulong %i
%inside = OpULessThan %bool %wide %total
OpSelectionMerge %done None
OpBranchConditional %inside %body %done
%body = OpLabel
%at_x = OpAccessChain %to_float %x %zero %i
%read = OpLoad %float %at_x
%slot = OpExtInst %uint %glsl UMin %i %three
%at_keep = OpAccessChain %in_keep %keep %slot
OpStore %at_keep %read
%again = OpLoad %float %at_keep
%result = OpFunctionCall %float %twice %again
%at_y = OpAccessChain %to_float %y %zero %i
OpStore %at_y %result
OpBranch %done
%done = OpLabel
OpReturn
OpFunctionEnd
)";

struct Edit {
  const char* from;
  const char* to;
};

/// The module with each edit made once; each must be possible.
std::string Edited(const std::vector<Edit>& edits) {
  std::string text = kModule;
  for (const Edit& edit : edits) {
    size_t at = text.find(edit.from);
    INFO(edit.from);
    REQUIRE(at != std::string::npos);
    text.replace(at, std::string(edit.from).size(), edit.to);
  }
  return text;
}

std::vector<uint8_t> Assemble(const std::string& text) {
  std::string folder = std::filesystem::temp_directory_path() / "adrt_confine_XXXXXX";
  REQUIRE(mkdtemp(folder.data()) != nullptr);
  std::ofstream(folder + "/code.txt") << text;
  std::string command = std::string(ADRT_SPIRV_AS) + " --preserve-numeric-ids --target-env vulkan1.2 " +
                        folder + "/code.txt -o " + folder + "/code.spv";
  int code = std::system(command.c_str());
  std::vector<uint8_t> bytes;
  {
    std::ifstream file(folder + "/code.spv", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::filesystem::remove_all(folder);
  INFO(text);
  REQUIRE(code == 0);
  return bytes;
}

/// The kernel saxpy alone, for a target without device addresses; its entry reaches the words by binding 2.
adc::artifact::Metadata NearMetadata() {
  using namespace adc::artifact;
  Metadata metadata = MakeVulkanMetadata();
  metadata.targets[0].name = "vulkan:1.2-near";
  metadata.targets[0].features.clear();
  metadata.targets[0].features.push_back("shaderInt64");
  KernelMeta saxpy = metadata.kernels[2];
  metadata.kernels.clear();
  EntryMeta& entry = saxpy.tasks[0].entries[0];
  entry.far_symbol = "";
  BindingMeta words;
  words.number = 2;
  words.of = BindingOf::kWords;
  words.type = ScalarType::kU64;
  entry.bindings.push_back(words);
  metadata.kernels.push_back(saxpy);
  return metadata;
}

adrt_host Untrusting() {
  adrt_host host = {};
  host.struct_size = sizeof host;
  return host;
}

/// A device that confines unless told otherwise.
struct Judge : RobustVulkan {
  adrt_device* device = nullptr;
  ErrorBox error;

  ~Judge() { adrt_device_release(device); }

  /// Whether the loader called this function of the driver.
  bool Asked(const char* function) const {
    return std::find(driver.functions.begin(), driver.functions.end(), function) != driver.functions.end();
  }

  /// What comes of loading the bundle.
  adrt_status Load(const adc::artifact::Metadata& metadata, const std::vector<uint8_t>& code,
                   const adrt_host& host = Untrusting()) {
    if (!device) REQUIRE(adrt_device_wrap_vk(&host, &desc, &device, &error) == ADRT_OK);
    std::vector<uint8_t> file = MakeVulkanBundle(metadata, code);
    adrt_bundle* bundle = nullptr;
    adrt_module* module = nullptr;
    adrt_status status =
        adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &error);
    if (status == ADRT_OK) status = adrt_module_load(device, bundle, &module, &error);
    adrt_module_release(module);
    adrt_bundle_release(bundle);
    return status;
  }
};

}  // namespace

TEST_CASE("unverified code is loaded where it is confined", "[vulkan][confine]") {
  Judge judge;
  std::vector<uint8_t> code = Assemble(kModule);
  INFO(judge.error.text);
  CHECK(judge.Load(NearMetadata(), code) == ADRT_OK);
  CHECK(judge.Asked("vkCreateShaderModule"));
  CHECK(judge.driver.live == 0);
}

TEST_CASE("without robust buffer access nothing is confined", "[vulkan][confine]") {
  Judge judge;
  judge.features.features.robustBufferAccess = VK_FALSE;
  std::vector<uint8_t> code = Assemble(kModule);
  CHECK(judge.Load(NearMetadata(), code) == ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("'robustBufferAccess'"));
  CHECK(!judge.Asked("vkCreateShaderModule"));
  CHECK(judge.Load(NearMetadata(), code, TrustingHost()) == ADRT_OK);
}

TEST_CASE("what confines is said of the device", "[vulkan][confine]") {
  VkPhysicalDeviceRobustness2FeaturesEXT robustness2 = {};
  robustness2.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ROBUSTNESS_2_FEATURES_EXT;
  auto features_of = [&](bool robust, bool robust2) {
    Judge judge;
    judge.features.features.robustBufferAccess = robust;
    robustness2.robustBufferAccess2 = robust2;
    robustness2.pNext = judge.features.pNext;
    judge.features.pNext = &robustness2;
    adrt_host host = Untrusting();
    REQUIRE(adrt_device_wrap_vk(&host, &judge.desc, &judge.device, &judge.error) == ADRT_OK);
    adrt_device_report report = {};
    report.struct_size = sizeof report;
    REQUIRE(adrt_device_info(judge.device, &report, &judge.error) == ADRT_OK);
    return " " + std::string(report.features) + " ";
  };
  CHECK(features_of(true, false).find(" robustBufferAccess ") != std::string::npos);
  CHECK(features_of(true, false).find("robustBufferAccess2") == std::string::npos);
  CHECK(features_of(true, true).find(" robustBufferAccess robustBufferAccess2 ") != std::string::npos);
  CHECK(features_of(false, false).find("robust") == std::string::npos);
  // One turns on nothing without the other.
  CHECK(features_of(false, true).find("robust") == std::string::npos);
}

TEST_CASE("descriptors that are not pushed are sets, and what none reaches leaves nothing recorded",
          "[vulkan][confine]") {
  Judge judge;
  judge.desc.extension_count = 0;
  adrt_host host = Untrusting();
  std::vector<uint8_t> file = MakeVulkanBundle(NearMetadata(), Assemble(kModule));
  adrt_bundle* bundle = nullptr;
  adrt_module* module = nullptr;
  const adrt_kernel* kernel = nullptr;
  auto must = [&](adrt_status status) {
    INFO(judge.error.text);
    REQUIRE(status == ADRT_OK);
  };
  must(adrt_device_wrap_vk(&host, &judge.desc, &judge.device, &judge.error));
  must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_BORROW, &bundle, &judge.error));
  must(adrt_module_load(judge.device, bundle, &module, &judge.error));
  must(adrt_bundle_find_kernel(bundle, "saxpy", 0, &kernel, &judge.error));
  long loaded = judge.driver.live;
  adrt_memory *memory = nullptr, *heap = nullptr;
  must(adrt_memory_create(judge.device, 8192, &memory, &judge.error));
  must(adrt_memory_create(judge.device, 8192, &heap, &judge.error));
  VkCommandBuffer commands = reinterpret_cast<VkCommandBuffer>(&judge);
  for (uint64_t from : {24, 32}) {
    adrt_vk_buffer all = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(memory)), x = all, y = all;
    x.offset += from;
    x.address += from;
    x.size -= from;
    y.offset += 4096;
    y.address += 4096;
    y.size -= 4096;
    float a = 1;
    adrt_arg args[] = {BufferArg("x", ADRT_TYPE_F32, &x, {256}), BufferArg("y", ADRT_TYPE_F32, &y, {256}),
                       ScalarArg("a", ADRT_TYPE_F32, &a)};
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args;
    desc.arg_count = 3;
    desc.module = module;
    adrt_launch_plan* plan = nullptr;
    must(adrt_plan(kernel, &desc, &plan, &judge.error));
    adrt_vk_buffer status = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(heap));
    adrt_vk_buffer rest = status;
    rest.offset += 4096;
    rest.address += 4096;
    rest.size -= 4096;
    adrt_vk_launch launch = {};
    launch.struct_size = sizeof launch;
    launch.heap = &rest;
    launch.status = &status;
    judge.driver.commands.clear();
    long before = judge.driver.live;
    if (from % 16 != 0) {
      CHECK(adrt_record_vk(plan, commands, &launch, &judge.error) == ADRT_ERROR_DEVICE_FEATURE);
      CHECK(judge.error.Says("kernel 'saxpy', task 0"));
      CHECK(judge.error.Says("no descriptor reaches 'x': it begins at byte 24"));
      CHECK(judge.driver.commands.empty());
      CHECK(judge.driver.live == before);
    } else {
      for (int turn = 0; turn < 2; ++turn) must(adrt_record_vk(plan, commands, &launch, &judge.error));
      CHECK(judge.driver.Recorded("vkCmdBindDescriptorSets 1"));
      CHECK(judge.driver.live == before + 2);  // a pool with a set for each launch
      must(adrt_run(plan, nullptr, &judge.error));
    }
    adrt_plan_release(plan);
  }
  adrt_memory_release(memory);
  adrt_memory_release(heap);
  adrt_module_release(module);
  adrt_bundle_release(bundle);
  CHECK(loaded > 0);
  adrt_device_release(judge.device);
  judge.device = nullptr;
  CHECK(judge.driver.live == 0);
}

TEST_CASE("code of more buffers than the device binds is refused before any of it is made",
          "[vulkan][confine]") {
  Judge judge;
  adc::artifact::Metadata metadata = NearMetadata();
  adc::artifact::EntryMeta& entry = metadata.kernels[0].tasks[0].entries[0];
  std::string module = kModule, table = "%words %table";
  for (uint32_t more = 3; more < 20; ++more) {
    adc::artifact::BindingMeta binding = entry.bindings.back();
    binding.number = more;
    entry.bindings.push_back(binding);
    std::string id = "%more" + std::to_string(more);
    module.replace(module.find("OpDecorate %words Binding 2"), 0,
                   "OpDecorate " + id + " DescriptorSet 0\nOpDecorate " + id + " Binding " +
                       std::to_string(more) + "\n");
    module.replace(module.find("%words = OpVariable"), 0, id + " = OpVariable %to_Longs StorageBuffer\n");
  }
  adrt_host host = TrustingHost();
  CHECK(judge.Load(metadata, Assemble(module), host) == ADRT_ERROR_DEVICE_FEATURE);
  INFO(judge.error.text);
  CHECK(judge.error.Says("'adc_saxpy_t0' takes 20 storage buffers, the device has at most 16"));
  CHECK(!judge.Asked("vkCreateShaderModule"));
}

TEST_CASE("code with device addresses is never confined", "[vulkan][confine]") {
  Judge judge;
  CHECK(judge.Load(MakeVulkanMetadata(), ReadSpirv()) == ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("code without device addresses needs none of that, and 'vulkan:1.2' is none"));
  CHECK(judge.Load(MakeVulkanMetadata(), ReadSpirv(), TrustingHost()) == ADRT_OK);

  // The same code under metadata that does not say so is malformed; far entries are named.
  adc::artifact::Metadata metadata = MakeVulkanMetadata();
  metadata.targets[0].features.clear();
  for (const char* feature : {"shaderFloat64", "shaderInt64"})
    metadata.targets[0].features.push_back(feature);
  CHECK(judge.Load(metadata, ReadSpirv()) == ADRT_ERROR_MALFORMED);
  CHECK(judge.error.Says("PhysicalStorageBufferAddresses"));
  metadata = NearMetadata();
  metadata.kernels[0].tasks[0].entries[0].far_symbol = "adc_other";
  std::vector<uint8_t> code =
      Assemble(Edited({{"OpExecutionMode %main",
                        "OpEntryPoint GLCompute %main \"adc_other\" %gid %x %y %words %table\n"
                        "OpExecutionMode %main"}}));
  CHECK(judge.Load(metadata, code) == ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("has far entries"));
}

TEST_CASE("the caller's own check of modules has the last word", "[vulkan][confine]") {
  Judge judge;
  struct Answer {
    int valid;
    size_t words;
  } answer = {0, 0};
  judge.desc.user = &answer;
  judge.desc.check_spirv = [](void* user, const uint32_t* words, size_t count) {
    Answer& asked = *static_cast<Answer*>(user);
    asked.words = words[0] == 0x07230203 ? count : 0;
    return asked.valid;
  };
  std::vector<uint8_t> code = Assemble(kModule);
  CHECK(judge.Load(NearMetadata(), code) == ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("check_spirv refused it"));
  answer.valid = 1;
  CHECK(judge.Load(NearMetadata(), code) == ADRT_OK);
  CHECK(answer.words == judge.driver.code.size());  // what the driver gets, with its bounds
}

TEST_CASE("each way out of a launch's buffers is refused by name", "[vulkan][confine]") {
  struct Row {
    const char* says;
    std::vector<Edit> edits;
  };
  const Row rows[] = {
      {"uses device addresses", {{"OpMemoryModel Logical", "OpMemoryModel PhysicalStorageBuffer64"}}},
      {"memory of class 5349",
       {{"%in_table = OpTypePointer Private", "%in_table = OpTypePointer PhysicalStorageBuffer"}}},
      {"memory of class 4", {{"%in_table = OpTypePointer Private", "%in_table = OpTypePointer Workgroup"}}},
      {"memory of class 9",
       {{"%in_table = OpTypePointer Private", "%in_table = OpTypePointer PushConstant"}}},
      {"an extension", {{"%glsl =", "OpExtension \"SPV_KHR_physical_storage_buffer\"\n%glsl ="}}},
      {"what is not GLSL", {{"\"GLSL.std.450\"", "\"OpenCL.std\""}, {"UMin", "u_min"}}},
      // Arrays of a thread.
      {"an index that is no integer", {{"%x %zero %i\n", "%x %zero %two\n"}}},
      {"an index that is no integer", {{"%keep %slot", "%keep %two"}}},
      {"an index that is no integer", {{"OpExtInst %uint %glsl UMin %i %three", "OpConvertUToF %float %i"}}},
      {"an unsupported access", {{"%keep %slot", "%keep %slot %slot"}}},
      {"too large arrays",
       {{"OpTypeArray %float %four", "OpTypeArray %float %big"},
        {"%two =", "%big = OpConstant %uint 20000\n%two ="},
        {"%to_table Private %numbers", "%to_table Private"}}},
      {"an unsupported length", {{"OpTypeArray %float %four", "OpTypeArray %float %far"}}},
      // Pointers.
      {"passes a pointer on", {{"OpUConvert %ulong %i", "OpBitcast %ulong %at_gid"}}},
      {"passes a pointer on",
       {{"OpFunctionCall %float %twice %again", "OpFunctionCall %float %twice %at_keep"}}},
      {"passes a pointer on", {{"OpStore %at_y %result", "OpStore %at_y %at_x"}}},
      {"passes a pointer on", {{"%x %zero %i\n", "%x %zero %at_gid\n"}}},
      {"makes a pointer in an unknown way",
       {{"%again = OpLoad %float %at_keep", "%again = OpLoad %in_keep %at_keep"}}},
      {"makes a pointer in an unknown way", {{"OpUConvert %ulong", "OpUConvert %to_float"}}},
      {"has instruction 120", {{"OpUConvert %ulong %i", "OpConvertUToPtr %to_float %total"}}},
      {"has instruction 117", {{"OpUConvert %ulong %i", "OpConvertPtrToU %ulong %at_gid"}}},
      {"has instruction 83", {{"OpUConvert %ulong %i", "OpCopyObject %ulong %total"}}},
      {"begin at a variable",
       {{"%at_x = OpAccessChain %to_float %x %zero %i",
         "%at_x = OpAccessChain %to_float %at_total %zero %i"}}},
      {"not to an element", {{"%total = OpLoad %ulong %at_total", "%total = OpLoad %ulong %words"}}},
      {"pointers to pointers",
       {{"%in_table = OpTypePointer Private %float", "%in_table = OpTypePointer Private %in_keep"}}},
      {"a function of pointers",
       {{"OpTypeFunction %float %float\n", "OpTypeFunction %float %later\n"},
        {"%procedure =", "%later = OpTypePointer Function %float\n%procedure ="}}},
      {"an unsupported access", {{"%words %zero %seven", "%words %one %seven"}}},
      {"an unsupported access", {{"%words %zero %seven", "%words %zero"}}},
      // Bindings.
      {"writes binding 0, which is only read", {{"OpStore %at_y", "OpStore %at_x"}}},
      {"writes binding 2, which is only read", {{"OpStore %at_y %result", "OpStore %at_total %total"}}},
      {"binding 3, which the metadata does not state", {{"Binding 1", "Binding 3"}}},
      {"outside of set 0", {{"%y DescriptorSet 0", "%y DescriptorSet 1"}}},
      {"outside of set 0", {{"OpDecorate %y Binding 1\n", ""}}},
      {"decorates an id twice",
       {{"OpDecorate %y Binding 1", "OpDecorate %y Binding 1\nOpDecorate %y Binding 3"}}},
      {"its interface does not list", {{"%gid %x %y %words", "%gid %x %y"}}},
      {"its interface does not list", {{"%words %table", "%words"}}},
      {"writes an input", {{"OpStore %at_y %result", "OpStore %at_gid %i"}}},
      {"an unknown built-in", {{"BuiltIn GlobalInvocationId", "BuiltIn LocalInvocationId"}}},
      {"an unknown built-in",
       {{"OpDecorate %floats", "OpDecorate %size BuiltIn WorkgroupSize\nOpDecorate %floats"},
        {"%two =", "%size = OpConstantComposite %uint3 %seven %one %one\n%two ="}}},
      {"an unknown input", {{"OpDecorate %gid BuiltIn GlobalInvocationId\n", ""}}},
      {"a decoration of a member",
       {{"OpMemberDecorate %Longs 0 Offset 0", "OpMemberDecorate %Longs 0 Offset 8"}}},
      {"a decoration of a member",
       {{"OpMemberDecorate %Longs 0 Offset 0",
         "OpMemberDecorate %Longs 0 Offset 0\nOpMemberDecorate %Longs 0 BuiltIn GlobalInvocationId"}}},
      {"has decoration 5", {{"OpDecorate %y Binding 1", "OpDecorate %y Binding 1\nOpDecorate %y ColMajor"}}},
      // The launch.
      {"a block of another size", {{"LocalSize 64", "LocalSize 65"}}},
      {"a block of another size", {{"LocalSize 64 1 1", "LocalSize 64 2 1"}}},
      {"a block of another size", {{"OpExecutionMode %main LocalSize 64 1 1\n", ""}}},
      {"the block of an entry twice",
       {{"OpExecutionMode %main", "OpExecutionMode %main LocalSize 128 1 1\nOpExecutionMode %main"}}},
      {"the block of what is no entry",
       {{"OpEntryPoint", "OpExecutionMode %main LocalSize 128 1 1\nOpEntryPoint"}}},
      {"no function above",
       {{"%doubled = OpFMul %float %what %factor", "%doubled = OpFunctionCall %float %twice %what"}}},
      {"has instruction 224", {{"OpBranch %done\n", "OpControlBarrier %one %one %zero\nOpBranch %done\n"}}},
      {"has instruction 252", {{"OpReturn\n", "OpKill\n"}}},
      {"above its definition",
       {{"%at_keep = OpAccessChain %in_keep %keep %slot", "%at_keep = OpAccessChain %in_keep %keep %later"}}},
  };
  Judge judge;
  for (const Row& row : rows) {
    std::string text = Edited(row.edits);
    INFO(row.says << ": " << row.edits[0].to);
    adrt_status status = judge.Load(NearMetadata(), Assemble(text));
    INFO(judge.error.text);
    CHECK(status == ADRT_ERROR_UNTRUSTED);
    CHECK(judge.error.Says(row.says));
  }
  CHECK(!judge.Asked("vkCreateShaderModule"));  // nothing of them came to the driver
}

namespace {

/// The index of the access to the array %keep in the code that came to the driver: "constant"; "at most N",
/// of the smaller of something and a constant; "free".
std::string IndexOfKeep(const std::vector<uint32_t>& code) {
  std::map<uint32_t, std::vector<uint32_t>> made;  // instructions by result, those that have a type
  std::string found = "no access";
  uint32_t keep = 0;
  for (size_t at = 5; at < code.size(); at += code[at] >> 16) {
    std::vector<uint32_t> words(code.begin() + static_cast<ptrdiff_t>(at),
                                code.begin() + static_cast<ptrdiff_t>(at + (code[at] >> 16)));
    uint32_t op = words[0] & 0xFFFF;
    if (words.size() > 2) made[words[2]] = words;
    if (op == 59 && words[3] == 7) keep = words[2];                   // OpVariable, Function
    if (op != 65 || words.size() != 5 || words[3] != keep) continue;  // OpAccessChain
    const std::vector<uint32_t>& index = made[words[4]];
    uint32_t by = index[0] & 0xFFFF;
    bool is_least = by == 12 && index[4] == 38;  // UMin
    found = by == 43 ? "constant" : is_least ? "at most " + std::to_string(made[index[6]][3]) : "free";
  }
  return found;
}

}  // namespace

// An access chain reads an index with a sign, in the index's own width: a constant is in range only if it
// then has no sign bit. %keep has 200 elements here; %small is the type of the index.
TEST_CASE("an index is a constant in range, or gets a bound", "[vulkan][confine]") {
  const char* kItself = "OpExtInst %uint %glsl UMin %i %three\n";  // %bound is the index
  const char* kLeast = "OpExtInst %small %glsl UMin %narrow %bound\n";
  struct Row {
    const char* type;
    const char* bound;
    const char* slot;
    bool is_constant;
  };
  const Row rows[] = {
      {"8 0", "127", kItself, true},
      {"8 0", "128", kItself, false},  // is -128
      {"8 1", "-57", kItself, false},
      {"16 0", "199", kItself, true},
      {"16 0", "200", kItself, false},
      {"16 0", "65535", kItself, false},
      {"32 0", "199", kItself, true},
      {"32 0", "200", kItself, false},
      {"32 0", "2147483648", kItself, false},
      {"32 1", "199", kItself, true},
      {"32 1", "-1", kItself, false},
      {"64 0", "199", kItself, true},
      {"64 0", "4294967296", kItself, false},
      {"64 0", "18446744073709551615", kItself, false},
      {"8 0", "100", kLeast, false},
      {"16 1", "199", kLeast, false},
      {"32 1", "199", kLeast, false},
      {"64 0", "4294967296", kLeast, false},
      {"8 0", "100", "OpSConvert %uint %bound\n", false},
      {"8 0", "100", "OpIAdd %small %bound %bound\n", false},
      {"8 0", "100", "OpShiftLeftLogical %small %bound %bound\n", false},
      {"32 1", "100", "OpBitcast %small %bound\n", false},
  };
  Judge judge;
  for (const Row& row : rows) {
    std::string small = std::string("%small = OpTypeInt ") + row.type;
    std::string types =
        small + "\n%many = OpConstant %uint 200\n%bound = OpConstant %small " + row.bound + "\n%two =";
    std::string slot = std::string("%narrow = OpUConvert %small %i\n%slot = ") + row.slot;
    std::vector<Edit> edits = {{"OpTypeArray %float %four", "OpTypeArray %float %many"},
                               {"%two =", types.c_str()},
                               {"%slot = OpExtInst %uint %glsl UMin %i %three\n", slot.c_str()}};
    if (row.slot == kItself) edits.push_back({"%keep %slot", "%keep %bound"});
    INFO(row.type << ", " << row.bound << ", " << row.slot);
    adrt_status status = judge.Load(NearMetadata(), Assemble(Edited(edits)));
    INFO(judge.error.text);
    REQUIRE(status == ADRT_OK);
    CHECK(IndexOfKeep(judge.driver.code) == (row.is_constant ? "constant" : "at most 199"));
  }
}

TEST_CASE("bounds need no import and no type that the module has", "[vulkan][confine]") {
  Judge judge;
  // Without functions of GLSL, and with signed integers alone.
  std::string text =
      Edited({{"%glsl = OpExtInstImport \"GLSL.std.450\"\n", ""},
              {"%slot = OpExtInst %uint %glsl UMin %i %three\n", "%slot = OpIAdd %uint %i %i\n"},
              {"%uint = OpTypeInt 32 0", "%uint = OpTypeInt 32 1"}});
  INFO(judge.error.text);
  REQUIRE(judge.Load(NearMetadata(), Assemble(text)) == ADRT_OK);
  CHECK(IndexOfKeep(judge.driver.code) == "at most 3");
}

TEST_CASE("lengths of arrays have no sign bit, and constants the words of their types", "[vulkan][confine]") {
  auto with_length = [](const char* type, const char* length) {
    std::string made = std::string("%small = OpTypeInt ") + type + "\n%many = OpConstant %small " + length;
    return Assemble(Edited(
        {{"OpTypeArray %float %four", "OpTypeArray %float %many"}, {"%two =", (made + "\n%two =").c_str()}}));
  };
  Judge judge;
  CHECK(judge.Load(NearMetadata(), with_length("8 0", "127")) == ADRT_OK);
  for (const char* type : {"8 0", "16 0"}) {
    const char* length = type[0] == '8' ? "200" : "40000";
    CHECK(judge.Load(NearMetadata(), with_length(type, length)) == ADRT_ERROR_UNTRUSTED);
    CHECK(judge.error.Says("an unsupported length"));
  }
  // A number of 64 bits without its upper word: a driver would read the next instruction's first one.
  std::vector<uint8_t> code = with_length("64 0", "200");
  uint32_t word = 0, next = 0;
  for (size_t at = 20; at + 20 <= code.size(); at += 4) {
    std::memcpy(&word, &code[at], 4);
    std::memcpy(&next, &code[at + 12], 4);
    if (word != (5u << 16 | 43) || next != 200) continue;
    code[at + 2] = 4;
    code.erase(code.begin() + static_cast<ptrdiff_t>(at + 16),
               code.begin() + static_cast<ptrdiff_t>(at + 20));
  }
  CHECK(judge.Load(NearMetadata(), code) == ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("longer or shorter than its type"));
}

TEST_CASE("calls that grow without end are refused before they are inlined", "[vulkan][confine]") {
  // Each function calls the one above it ten times: 10^20 calls, in a few hundred lines.
  std::string functions;
  for (int level = 0; level < 20; ++level) {
    std::string name = "%f" + std::to_string(level);
    std::string callee = level == 0 ? "%twice" : "%f" + std::to_string(level - 1);
    functions += name + " = OpFunction %float None %function\n" + name + "p = OpFunctionParameter %float\n" +
                 name + "l = OpLabel\n";
    for (int call = 0; call < 10; ++call)
      functions +=
          name + "c" + std::to_string(call) + " = OpFunctionCall %float " + callee + " " + name + "p\n";
    functions += "OpReturnValue " + name + "p\nOpFunctionEnd\n";
  }
  functions += "%main = OpFunction";
  Judge judge;
  CHECK(judge.Load(NearMetadata(), Assemble(Edited({{"%main = OpFunction", functions.c_str()}}))) ==
        ADRT_ERROR_UNTRUSTED);
  CHECK(judge.error.Says("calls functions too often"));
}

TEST_CASE("modules with any word changed are judged", "[vulkan][confine]") {
  std::vector<uint8_t> code = Assemble(kModule);
  Judge judge;
  std::map<adrt_status, int> seen;
  for (size_t at = 0; at + 4 <= code.size(); at += 4) {
    uint32_t old = 0;
    std::memcpy(&old, &code[at], 4);
    for (uint32_t value : {old + 1, old - 1, old ^ 0x10000, 0u, UINT32_MAX, old << 1}) {
      std::vector<uint8_t> changed = code;
      std::memcpy(&changed[at], &value, 4);
      adrt_status status = judge.Load(NearMetadata(), changed);
      ++seen[status];
      if (status == ADRT_OK || status == ADRT_ERROR_UNTRUSTED || status == ADRT_ERROR_MALFORMED) continue;
      FAIL("word " << at / 4 << " as " << value << ": " << judge.error.text);
    }
  }
  // Constants, types of numbers and arithmetic may be others; most of what decides is refused.
  CHECK(seen[ADRT_ERROR_UNTRUSTED] > seen[ADRT_OK]);
  CHECK(seen[ADRT_OK] > 0);
}

TEST_CASE("accesses out of range stay in their buffers", "[vulkan][confine]") {
  adrt_host host = Untrusting();
  ErrorBox error;
  adrt_device* device = nullptr;
  adrt_vk_open_desc open = {};
  open.struct_size = sizeof open;
  open.flags = ADRT_VK_ROBUST;
  auto must = [&](adrt_status status) {
    INFO(error.text);
    REQUIRE(status == ADRT_OK);
  };
  must(adrt_device_open_vk(&host, &open, &device, &error));
  constexpr int64_t kCount = 100;
  // As it stands; writes far above, below in 32 bits and in 64; reads far above; an array of the thread whose
  // element 3 is read by indices above and below it.
  const Edit kKeepThree = {"%keep %slot", "%keep %three"};
  auto read_keep = [](const char* index) {
    static std::deque<std::string> texts;
    texts.push_back(std::string(index) + "\n%at_read = OpAccessChain %in_keep %keep %index\n" +
                    "%again = OpLoad %float %at_read");
    return Edit{"%again = OpLoad %float %at_keep", texts.back().c_str()};
  };
  const std::vector<Edit> programs[] = {
      {},
      {{"%y %zero %i\n", "%y %zero %beyond\n"}, {"%at_y =", "%beyond = OpIAdd %uint %i %far\n%at_y ="}},
      {{"%y %zero %i\n", "%y %zero %beyond\n"}, {"%at_y =", "%beyond = OpISub %uint %zero %i\n%at_y ="}},
      {{"%y %zero %i\n", "%y %zero %beyond\n"},
       {"%at_y =",
        "%scaled = OpShiftLeftLogical %ulong %wide %seven\n%beyond = OpISub %ulong %total %scaled\n%at_y ="}},
      {{"%x %zero %i\n", "%x %zero %beyond\n"}, {"%at_x =", "%beyond = OpIAdd %uint %i %far\n%at_x ="}},
      {kKeepThree, read_keep("%index = OpIAdd %uint %i %three")},
      {kKeepThree, read_keep("%less = OpISub %uint %zero %i\n%index = OpISub %uint %less %one")},
      {kKeepThree, read_keep("%index = OpISub %ulong %wide %total")},
  };
  for (size_t number = 0; number < std::size(programs); ++number) {
    std::vector<uint8_t> file = MakeVulkanBundle(NearMetadata(), Assemble(Edited(programs[number])));
    adrt_bundle* bundle = nullptr;
    adrt_module* module = nullptr;
    must(adrt_bundle_open(&host, file.data(), file.size(), ADRT_BUNDLE_COPY, &bundle, &error));
    must(adrt_module_load(device, bundle, &module, &error));
    // Canaries on both sides of each buffer, of a page each.
    std::vector<adrt_memory*> memory;
    std::vector<float> canary(1024, 7.5f), values(kCount), got(kCount);
    for (int64_t n = 0; n < kCount; ++n) values[static_cast<size_t>(n)] = static_cast<float>(n);
    for (int n = 0; n < 5; ++n) {
      adrt_memory* made = nullptr;
      const std::vector<float>& content = n % 2 == 0 ? canary : values;
      must(adrt_memory_create(device, content.size() * sizeof(float), &made, &error));
      must(adrt_memory_write(made, 0, content.data(), content.size() * sizeof(float), &error));
      memory.push_back(made);
    }
    float a = 1;
    const adrt_kernel* kernel = nullptr;
    must(adrt_bundle_find_kernel(bundle, "saxpy", 0, &kernel, &error));
    std::vector<adrt_arg> args = {BufferArg("x", ADRT_TYPE_F32, adrt_memory_data(memory[1]), {kCount}),
                                  BufferArg("y", ADRT_TYPE_F32, adrt_memory_data(memory[3]), {kCount}),
                                  ScalarArg("a", ADRT_TYPE_F32, &a)};
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module;
    adrt_launch_plan* plan = nullptr;
    must(adrt_plan(kernel, &desc, &plan, &error));
    must(adrt_run(plan, nullptr, &error));
    adrt_plan_release(plan);
    INFO("program " << number);
    for (size_t n : {0u, 2u, 4u}) {
      std::vector<float> now(canary.size());
      must(adrt_memory_read(memory[n], 0, now.data(), now.size() * sizeof(float), &error));
      CHECK(now == canary);
    }
    must(adrt_memory_read(memory[1], 0, got.data(), got.size() * sizeof(float), &error));
    CHECK(got == values);
    must(adrt_memory_read(memory[3], 0, got.data(), got.size() * sizeof(float), &error));
    for (size_t n = 0; n < got.size(); ++n) {
      // What is written out of range goes to the last element, what is read there comes from it.
      auto element = static_cast<float>(n);
      if (number == 0 || number > 4) CHECK(got[n] == 2 * element);
      if (number > 0 && number < 4 && n > 0 && n + 1 < got.size()) CHECK(got[n] == element);
      if (number == 4) CHECK(got[n] == 2 * (kCount - 1));
    }
    for (adrt_memory* one : memory) adrt_memory_release(one);
    adrt_module_release(module);
    adrt_bundle_release(bundle);
  }
  adrt_device_release(device);
}
