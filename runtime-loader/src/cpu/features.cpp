#include "cpu/features.h"

#include "artifact/cpu_features.h"
#include "artifact/processor.h"

// A feature counts only where the operating system saves the registers that it needs: the AVX features need
// XMM and YMM state in XCR0, the AVX-512 features also the mask and ZMM state.

namespace adrt {

namespace artifact = adc::artifact;

#if defined(ADC_X86_64)
namespace {

constexpr uint8_t kYmm = 0x6, kZmm = 0xE6;
enum Word : uint8_t { kLeaf1C, kLeaf7B, kExtendedC };
/// The register in which the processor says that it has a feature, and the state that the system has to save
/// for it.
struct Sign {
  Word word;
  uint8_t bit;
  uint8_t saved;
};
/// In the order of x86_features.def.
constexpr Sign kSigns[] = {
    {kLeaf1C, 28, kYmm},  // avx
    {kLeaf7B, 5, kYmm},   // avx2
    {kLeaf7B, 30, kZmm},  // avx512bw
    {kLeaf7B, 28, kZmm},  // avx512cd
    {kLeaf7B, 17, kZmm},  // avx512dq
    {kLeaf7B, 16, kZmm},  // avx512f
    {kLeaf7B, 31, kZmm},  // avx512vl
    {kLeaf7B, 3, 0},      // bmi
    {kLeaf7B, 8, 0},      // bmi2
    {kLeaf1C, 13, 0},     // cx16
    {kLeaf1C, 29, kYmm},  // f16c
    {kLeaf1C, 12, kYmm},  // fma
    {kExtendedC, 5, 0},   // lzcnt
    {kLeaf1C, 22, 0},     // movbe
    {kLeaf1C, 23, 0},     // popcnt
    {kExtendedC, 0, 0},   // sahf
    {kLeaf1C, 0, 0},      // sse3
    {kLeaf1C, 19, 0},     // sse4.1
    {kLeaf1C, 20, 0},     // sse4.2
    {kLeaf1C, 9, 0},      // ssse3
};
static_assert(sizeof kSigns / sizeof *kSigns == artifact::kX86FeatureCount);

}  // namespace

uint64_t ProcessorFeatures() {
  const uint32_t words[] = {artifact::AskProcessor(1).c, artifact::AskProcessor(7).b,
                            artifact::AskProcessor(0x80000001u).c};
  constexpr uint32_t kSystemSaves = 1u << 27;
  uint64_t saved = words[kLeaf1C] & kSystemSaves ? artifact::SavedRegisters() : 0, found = 0;
  for (uint32_t index = 0; index < artifact::kX86FeatureCount; ++index) {
    const Sign& sign = kSigns[index];
    bool has = (words[sign.word] >> sign.bit & 1) != 0 && (saved & sign.saved) == sign.saved;
    found |= uint64_t{has} << index;
  }
  return found;
}

const char* ProcessorArch() {
  return "x86-64";
}

#elif defined(ADC_AARCH64)

uint64_t ProcessorFeatures() {
  return 0;
}
const char* ProcessorArch() {
  return "aarch64";
}

#else

uint64_t ProcessorFeatures() {
  return 0;
}
const char* ProcessorArch() {
  return "";
}

#endif

bool JudgeCpuTarget(uint64_t features, const char* arch, const artifact::TargetMeta& target, uint32_t* rank,
                    artifact::TextWriter& reason) {
  if (target.arch != arch) {
    reason << "is for " << target.arch.view() << ", this processor is " << (*arch ? arch : "unknown");
    return false;
  }
  if (target.abi != "elf") {
    reason << "has the unknown binary interface '" << target.abi.view() << "'";
    return false;
  }
  *rank = 0;
  for (const artifact::String& name : target.features) {
    artifact::X86Feature feature;
    if (!artifact::X86FeatureFromName(name, &feature)) {
      reason << "needs '" << name.view() << "', which this loader does not know";
      return false;
    }
    if (!(features >> static_cast<uint32_t>(feature) & 1)) {
      reason << "needs " << name.view() << ", which this processor or its operating system lacks";
      return false;
    }
    ++*rank;
  }
  return true;
}

}  // namespace adrt
