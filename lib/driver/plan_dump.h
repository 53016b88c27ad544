#pragma once
// The text of --dump=adstack.

#include <map>
#include <span>
#include <string>
#include <vector>

#include "autodiff/provisions.h"
#include "diag/source.h"
#include "driver/lowered.h"

namespace adc::driver {

struct PlanDump {
  std::string title;
  std::string text;
};

/// Each kernel's plan, and where small tapes live differently on some targets, the plan for these; then what
/// a gradient keeps of its primal. `provisions` is by the name of the gradient.
std::vector<PlanDump> DumpPlans(std::span<const LoweredModule> modules,
                                const std::map<std::string, autodiff::ProvisionRecord>& provisions,
                                const diag::SourceManager& sources);

}  // namespace adc::driver
