#pragma once
// The description of a target, for everything that generates code: names, processor, lanes, address spaces,
// limits.
//
// The description holds the properties of a target; its folder under codegen writes its code.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace adc::target {

/// The kinds of device that bundles hold code for. One back end and one part of the loader each.
enum class Kind : uint8_t { Cpu, Cuda, Hip, Vulkan, Metal };
enum class Arch : uint8_t { X86_64, AArch64, Nvptx, Amdgcn, Spirv, Msl };

/// Numbers of LLVM's address spaces for the kinds of memory that kernels touch.
struct AddressSpaces {
  uint32_t global = 0;
  uint32_t constant = 0;
  uint32_t local = 0;
  uint32_t shared = 0;  ///< by the threads of a block
};

struct Target {
  std::string name;  ///< "cpu:x86-64-v3", "cuda:sm_80"
  Kind kind = Kind::Cpu;
  Arch arch = Arch::X86_64;
  std::string_view triple;  ///< as LLVM names it; empty where LLVM writes no code for it
  std::string processor;    ///< as LLVM names it: "x86-64-v3", "sm_80", "gfx1100"
  std::string features;     ///< as LLVM lists them: "+ptx70"; of shaders: "-bufferDeviceAddress" or none
  /// x86-64: micro-architecture level, 1 to 4. NVIDIA: number of the sm. Vulkan, Metal: version times ten
  /// (12, 24). 0 elsewhere.
  uint32_t level = 0;
  bool half_conversion = false;
  bool round_to_even = false;
  uint32_t row_lanes = 1;   ///< rows of an adstack heap lie interleaved in blocks of this many
  uint32_t wave = 1;        ///< threads that run in step; 32 where the device decides
  uint32_t block_size = 0;  ///< threads of a block where the kernel does not say; 0 on a CPU
  /// The same of kernels that only count, all of whose blocks end with atomic updates of the same few words.
  uint32_t counting_block_size = 0;
  bool f64 = true;                      ///< has 64-bit floats
  uint32_t private_bytes = 256u << 10;  ///< limit on the local arrays of one task
  /// Adstacks of constant size, up to this many bytes per task in all, live in registers or private memory.
  uint32_t tape_bytes = 256;
  AddressSpaces spaces = {};

  std::string_view KindName() const;  ///< "cpu", "cuda", "hip", "vulkan", "metal"
  std::string ArchName() const;       ///< "x86-64", "aarch64", "sm_80", "gfx1100", "1.2"
  std::string_view AbiName() const;   ///< "elf", "ptx", "hsaco", "spirv", "msl"
  bool IsCpu() const { return kind == Kind::Cpu; }
  /// Whether f32 and f64 are added to in memory at once. On Vulkan that came with the devices of 1.3, though
  /// no version promises it: code for 1.3 asks for the feature, code for 1.2 does without.
  bool AddsFloats() const { return kind != Kind::Vulkan || level >= 13; }
};

/// The target named `text`: a full name, or a short one: "cpu" for the baseline, "cpu:v3" for
/// "cpu:x86-64-v3", a kind alone ("cuda") for its default. A name of an NVIDIA target may end in the version
/// of PTX
/// ("cuda:sm_80:ptx75"), from the smallest that the processor needs to 8.5.
std::optional<Target> FindTarget(std::string_view text);
/// The best CPU target for the machine that this runs on.
std::string HostTarget();
/// Every target, in the order of the table.
const std::vector<Target>& AllTargets();

}  // namespace adc::target
