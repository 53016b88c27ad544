#include "artifact/cpu_features.h"

namespace adc::artifact {
namespace {

struct FeatureRow {
  std::string_view name;
  uint32_t level;
};
constexpr FeatureRow kFeatures[] = {
#define ADC_X86_FEATURE(name, spelling, level) {spelling, level},
#include "artifact/x86_features.def"
#undef ADC_X86_FEATURE
};

}  // namespace

std::string_view X86FeatureName(X86Feature feature) {
  return kFeatures[static_cast<size_t>(feature)].name;
}

bool X86FeatureFromName(std::string_view name, X86Feature* feature) {
  for (uint32_t index = 0; index < kX86FeatureCount; ++index) {
    if (kFeatures[index].name == name) {
      *feature = static_cast<X86Feature>(index);
      return true;
    }
  }
  return false;
}

Vector<String> X86LevelFeatures(uint32_t level) {
  Vector<String> names;
  for (const FeatureRow& feature : kFeatures) {
    if (feature.level <= level) names.push_back(feature.name);
  }
  return names;
}

}  // namespace adc::artifact
