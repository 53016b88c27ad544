#pragma once
// Names of processor features, as TargetMeta::features lists them: one table for the compiler, which writes
// what a level stands for, and the loader, which asks the processor.

#include <cstdint>
#include <string_view>

#include "artifact/memory.h"

namespace adc::artifact {

enum class X86Feature : uint8_t {
#define ADC_X86_FEATURE(name, spelling, level) k##name,
#include "artifact/x86_features.def"
#undef ADC_X86_FEATURE
};
inline constexpr uint32_t kX86FeatureCount =
#define ADC_X86_FEATURE(name, spelling, level) +1
#include "artifact/x86_features.def"
#undef ADC_X86_FEATURE
    ;

std::string_view X86FeatureName(X86Feature feature);
/// False where no feature has that name.
bool X86FeatureFromName(std::string_view name, X86Feature* feature);

/// The sorted features of a micro-architecture level 1 to 4 (x86-64, x86-64-v2, x86-64-v3, x86-64-v4). Level
/// 1 needs none beyond the architecture.
Vector<String> X86LevelFeatures(uint32_t level);

}  // namespace adc::artifact
