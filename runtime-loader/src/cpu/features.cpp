#include "cpu/features.h"

#include "artifact/cpu_features.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

// A feature counts only where the operating system saves the registers that it needs: the AVX features need
// XMM and YMM state in XCR0, the AVX-512 features also the mask and ZMM state.

namespace adrt {

namespace artifact = adc::artifact;

#if defined(__x86_64__)
namespace {

uint64_t Xcr0() {
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
}

class Collector {
 public:
  void Add(artifact::X86Feature feature, bool present) {
    if (present) bits_ |= uint64_t{1} << static_cast<uint32_t>(feature);
  }
  uint64_t bits() const { return bits_; }

 private:
  uint64_t bits_ = 0;
};

bool Bit(uint32_t word, int bit) {
  return word >> bit & 1;
}

}  // namespace

uint64_t ProcessorFeatures() {
  using artifact::X86Feature;
  uint32_t a = 0, b = 0, c = 0, d = 0;
  uint32_t leaf1_c = 0, leaf7_b = 0, extended_c = 0;
  if (__get_cpuid(1, &a, &b, &c, &d)) leaf1_c = c;
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) leaf7_b = b;
  if (__get_cpuid(0x80000001u, &a, &b, &c, &d)) extended_c = c;

  constexpr uint64_t kYmmState = 0x6, kZmmState = 0xE6;
  uint64_t saved = Bit(leaf1_c, 27) ? Xcr0() : 0;
  bool ymm = (saved & kYmmState) == kYmmState, zmm = (saved & kZmmState) == kZmmState;

  Collector found;
  found.Add(X86Feature::kSse3, Bit(leaf1_c, 0));
  found.Add(X86Feature::kSsse3, Bit(leaf1_c, 9));
  found.Add(X86Feature::kCx16, Bit(leaf1_c, 13));
  found.Add(X86Feature::kSse41, Bit(leaf1_c, 19));
  found.Add(X86Feature::kSse42, Bit(leaf1_c, 20));
  found.Add(X86Feature::kMovbe, Bit(leaf1_c, 22));
  found.Add(X86Feature::kPopcnt, Bit(leaf1_c, 23));
  found.Add(X86Feature::kSahf, Bit(extended_c, 0));
  found.Add(X86Feature::kLzcnt, Bit(extended_c, 5));
  found.Add(X86Feature::kBmi, Bit(leaf7_b, 3));
  found.Add(X86Feature::kBmi2, Bit(leaf7_b, 8));
  found.Add(X86Feature::kAvx, ymm && Bit(leaf1_c, 28));
  found.Add(X86Feature::kFma, ymm && Bit(leaf1_c, 12));
  found.Add(X86Feature::kF16c, ymm && Bit(leaf1_c, 29));
  found.Add(X86Feature::kAvx2, ymm && Bit(leaf7_b, 5));
  found.Add(X86Feature::kAvx512f, zmm && Bit(leaf7_b, 16));
  found.Add(X86Feature::kAvx512dq, zmm && Bit(leaf7_b, 17));
  found.Add(X86Feature::kAvx512cd, zmm && Bit(leaf7_b, 28));
  found.Add(X86Feature::kAvx512bw, zmm && Bit(leaf7_b, 30));
  found.Add(X86Feature::kAvx512vl, zmm && Bit(leaf7_b, 31));
  return found.bits();
}

const char* ProcessorArch() {
  return "x86-64";
}

#elif defined(__aarch64__)

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
