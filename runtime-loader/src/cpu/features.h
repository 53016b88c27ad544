#pragma once
// The features of this processor, asked from the processor itself and from the operating system's saved
// register state.

#include <cstdint>

#include "artifact/error.h"
#include "artifact/metadata.h"

namespace adrt {

/// One bit per artifact::X86Feature; 0 on other architectures.
uint64_t ProcessorFeatures();

/// "x86-64", "aarch64" or "": the architecture that this library was compiled for.
const char* ProcessorArch();

/// Whether a processor with these features runs code for `target`. `rank` counts the features that it uses;
/// `reason` takes the first that is missing.
bool JudgeCpuTarget(uint64_t features, const char* arch, const adc::artifact::TargetMeta& target,
                    uint32_t* rank, adc::artifact::TextWriter& reason);

}  // namespace adrt
