#include "target/target.h"

namespace adc::target {
namespace {

std::vector<Target> MakeTable() {
  std::vector<Target> table;
#define ADC_TARGET(target_name, target_arch, target_triple, target_processor, target_features, target_level, \
                   target_half, target_round)                                                                \
  {                                                                                                          \
    Target t;                                                                                                \
    t.name = target_name;                                                                                    \
    t.arch = Arch::target_arch;                                                                              \
    t.triple = target_triple;                                                                                \
    t.processor = target_processor;                                                                          \
    t.features = target_features;                                                                            \
    t.level = target_level;                                                                                  \
    t.half_conversion = target_half;                                                                         \
    t.round_to_even = target_round;                                                                          \
    table.push_back(t);                                                                                      \
  }
#include "target/targets.def"
#undef ADC_TARGET
  return table;
}

}  // namespace

std::string_view Target::ArchName() const {
  switch (arch) {
    case Arch::X86_64:
      return "x86-64";
    case Arch::AArch64:
      return "aarch64";
  }
  return "";
}

const std::vector<Target>& AllTargets() {
  static const std::vector<Target> table = MakeTable();
  return table;
}

std::optional<Target> FindTarget(std::string_view text) {
  std::string full(text);
  if (text == "cpu") full = "cpu:x86-64";
  if (text.starts_with("cpu:v")) full = "cpu:x86-64-" + std::string(text.substr(4));
  for (const Target& t : AllTargets()) {
    if (t.name == full) return t;
  }
  return std::nullopt;
}

}  // namespace adc::target
