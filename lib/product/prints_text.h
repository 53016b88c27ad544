#pragma once
// The `print` statements of kernels, for the readers of their records: the section PRNT of a bundle.

#include <string>
#include <vector>

#include "counting/record_prints.h"
#include "diag/source.h"

namespace adc::product {

/// Canonical JSON (artifact-format/README.md); empty where no kernel prints.
std::string PrintsText(const std::vector<counting::KernelPrints>& kernels,
                       const diag::SourceManager& sources);

}  // namespace adc::product
