#pragma once
// Which processor this is compiled for, and the facts that an x86-64 tells about itself: beside compiler.h
// the only place where compilers differ.

#include <cstdint>

#include "artifact/compiler.h"

#if defined(__x86_64__) || defined(_M_X64)
#define ADC_X86_64 1
#if defined(_MSC_VER) && !defined(__clang__)
#include <intrin.h>
#else
#include <cpuid.h>
#endif
#elif defined(__aarch64__) || defined(_M_ARM64)
#define ADC_AARCH64 1
#endif

/// Before a function: it may use these instructions, which its caller has looked for.
#if defined(_MSC_VER) && !defined(__clang__)
#define ADC_FOR_PROCESSOR(features)
#else
#define ADC_FOR_PROCESSOR(features) __attribute__((target(features)))
#endif

#ifdef ADC_X86_64
namespace adc::artifact {

/// A leaf of what the processor says about itself; zeros where it has no such leaf.
struct ProcessorLeaf {
  uint32_t a = 0, b = 0, c = 0, d = 0;
};

ADC_ALWAYS_INLINE ProcessorLeaf AskProcessor(uint32_t leaf) {
  ProcessorLeaf says;
#if defined(_MSC_VER) && !defined(__clang__)
  int words[4];
  __cpuid(words, static_cast<int>(leaf & 0x80000000u));
  if (static_cast<uint32_t>(words[0]) < leaf) return says;
  __cpuidex(words, static_cast<int>(leaf), 0);
  says = {static_cast<uint32_t>(words[0]), static_cast<uint32_t>(words[1]), static_cast<uint32_t>(words[2]),
          static_cast<uint32_t>(words[3])};
#else
  __get_cpuid_count(leaf, 0, &says.a, &says.b, &says.c, &says.d);
#endif
  return says;
}

/// Which registers the operating system saves. Only where leaf 1 says that it can be asked (OSXSAVE).
ADC_ALWAYS_INLINE uint64_t SavedRegisters() {
#if defined(_MSC_VER) && !defined(__clang__)
  return _xgetbv(0);
#else
  uint32_t low = 0, high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t{high} << 32 | low;
#endif
}

}  // namespace adc::artifact
#endif
