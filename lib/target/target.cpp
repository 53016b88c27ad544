#include "target/target.h"

#include <charconv>

namespace adc::target {
namespace {

constexpr uint32_t kBlockSize = 128;
/// Starting a block takes an NVIDIA device longer than 128 threads of a counting kernel take.
constexpr uint32_t kCudaCountingBlockSize = 512;
constexpr uint32_t kLanes = 32;
constexpr uint32_t kDevicePrivateBytes = 16u << 10;
/// Tapes in private memory. A thread of NVIDIA's and of AMD's devices has some 256 registers of four bytes: a
/// quarter of them, which is the default. The devices of shaders may have 64: half of these.
constexpr uint32_t kShaderTapeBytes = 128;
constexpr uint32_t kNewestPtx = 85;  // that LLVM 19 writes

Target DeviceTarget(Kind kind, Arch arch, std::string name) {
  Target t;
  t.name = std::move(name);
  t.kind = kind;
  t.arch = arch;
  t.row_lanes = t.wave = kLanes;
  t.block_size = t.counting_block_size = kBlockSize;
  t.private_bytes = kDevicePrivateBytes;
  return t;
}

Target CudaTarget(std::string processor, uint32_t level, uint32_t ptx) {
  Target t = DeviceTarget(Kind::Cuda, Arch::Nvptx, "cuda:" + processor);
  t.triple = "nvptx64-nvidia-cuda";
  t.processor = std::move(processor);
  t.features = "+ptx" + std::to_string(ptx);
  t.level = level;
  t.counting_block_size = kCudaCountingBlockSize;
  t.half_conversion = t.round_to_even = true;
  // The constant memory of NVIDIA's devices holds 64 KiB and serves one address at a time.
  t.spaces = {.global = 1, .constant = 1, .local = 5, .shared = 3};
  return t;
}

Target HipTarget(std::string processor, uint32_t wave) {
  Target t = DeviceTarget(Kind::Hip, Arch::Amdgcn, "hip:" + processor);
  t.triple = "amdgcn-amd-amdhsa";
  t.processor = std::move(processor);
  t.row_lanes = t.wave = wave;
  t.half_conversion = t.round_to_even = true;
  t.spaces = {.global = 1, .constant = 4, .local = 5, .shared = 3};
  return t;
}

std::vector<Target> MakeTable() {
  std::vector<Target> table;
#define ADC_CPU_TARGET(target_name, target_arch, target_triple, target_processor, target_features, \
                       target_level, target_half, target_round)                                    \
  {                                                                                                \
    Target t;                                                                                      \
    t.name = target_name;                                                                          \
    t.arch = Arch::target_arch;                                                                    \
    t.triple = target_triple;                                                                      \
    t.processor = target_processor;                                                                \
    t.features = target_features;                                                                  \
    t.level = target_level;                                                                        \
    t.half_conversion = target_half;                                                               \
    t.round_to_even = target_round;                                                                \
    table.push_back(t);                                                                            \
  }
#define ADC_CUDA_TARGET(target_processor, target_level, ptx) \
  table.push_back(CudaTarget(target_processor, target_level, ptx));
#define ADC_HIP_TARGET(target_processor, target_wave) \
  table.push_back(HipTarget(target_processor, target_wave));
#define ADC_SHADER_TARGET(target_name, target_kind, target_arch, target_level, target_f64, target_features) \
  {                                                                                                         \
    Target t = DeviceTarget(Kind::target_kind, Arch::target_arch, target_name);                             \
    t.level = target_level;                                                                                 \
    t.tape_bytes = kShaderTapeBytes;                                                                        \
    t.features = target_features;                                                                           \
    t.f64 = target_f64;                                                                                     \
    table.push_back(t);                                                                                     \
  }
#include "target/targets.def"
  return table;
}

/// The full name for a short one.
std::string FullName(std::string_view text) {
  if (text == "cpu") return "cpu:x86-64";
  if (text == "cuda") return "cuda:sm_80";
  if (text == "hip") return "hip:gfx1100";
  if (text == "vulkan") return "vulkan:1.2";
  if (text == "metal") return "metal:2.4";
  if (text.starts_with("cpu:v")) return "cpu:x86-64-" + std::string(text.substr(4));
  return std::string(text);
}

/// Takes ":ptx75" off the end of `name`; 0 where it does not end so.
uint32_t TakePtxVersion(std::string& name) {
  constexpr std::string_view kMark = ":ptx";
  size_t at = name.rfind(kMark);
  if (at == std::string::npos || !name.starts_with("cuda:")) return 0;
  const char* first = name.data() + at + kMark.size();
  const char* last = name.data() + name.size();
  uint32_t version = 0;
  auto [end, failure] = std::from_chars(first, last, version);
  if (failure != std::errc() || end != last) return 0;
  name.resize(at);
  return version;
}

}  // namespace

std::string_view Target::KindName() const {
  switch (kind) {
    case Kind::Cpu:
      return "cpu";
    case Kind::Cuda:
      return "cuda";
    case Kind::Hip:
      return "hip";
    case Kind::Vulkan:
      return "vulkan";
    case Kind::Metal:
      return "metal";
  }
  return "";
}

std::string Target::ArchName() const {
  switch (arch) {
    case Arch::X86_64:
      return "x86-64";
    case Arch::AArch64:
      return "aarch64";
    case Arch::Nvptx:
    case Arch::Amdgcn:
      return processor;
    case Arch::Spirv:
    case Arch::Msl:
      return std::to_string(level / 10) + "." + std::to_string(level % 10);
  }
  return "";
}

std::string_view Target::AbiName() const {
  switch (kind) {
    case Kind::Cpu:
      return "elf";
    case Kind::Cuda:
      return "ptx";
    case Kind::Hip:
      return "hsaco";
    case Kind::Vulkan:
      return "spirv";
    case Kind::Metal:
      return "msl";
  }
  return "";
}

const std::vector<Target>& AllTargets() {
  static const std::vector<Target> table = MakeTable();
  return table;
}

std::string HostTarget() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return "cpu:x86-64-v4";
  if (__builtin_cpu_supports("x86-64-v3")) return "cpu:x86-64-v3";
  if (__builtin_cpu_supports("x86-64-v2")) return "cpu:x86-64-v2";
  return "cpu:x86-64";
#elif defined(__aarch64__)
  return "cpu:aarch64";
#else
#error "adc runs on x86-64 and AArch64"
#endif
}

std::optional<Target> FindTarget(std::string_view text) {
  std::string full = FullName(text);
  uint32_t ptx = TakePtxVersion(full);
  for (const Target& t : AllTargets()) {
    if (t.name != full) continue;
    if (ptx == 0) return t;
    std::string features = "+ptx" + std::to_string(ptx);
    if (features < t.features || ptx > kNewestPtx) return std::nullopt;
    Target asked = t;
    asked.name += ":ptx" + std::to_string(ptx);
    asked.features = features;
    return asked;
  }
  return std::nullopt;
}

}  // namespace adc::target
