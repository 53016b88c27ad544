#pragma once
// From a lowered module and its adstack plans to the metadata of a bundle.

#include <span>
#include <string>
#include <vector>

#include "adstack/plan.h"
#include "artifact/metadata.h"
#include "codegen/common/code.h"
#include "counting/bounds_record.h"
#include "diag/source.h"
#include "ir/function.h"
#include "target/target.h"

namespace adc::product {

/// A kernel that the bundle will hold, with how each of its tasks tapes primal values.
struct PlannedKernel {
  ir::Function* kernel = nullptr;
  adstack::AdstackPlan plan;
  std::vector<counting::RecordedLoop> loops = {};  ///< of a bounds kernel
};

/// A target and its code.
struct MadeTarget {
  target::Target target;
  std::span<const PlannedKernel> kernels;  ///< as they were lowered for it
  codegen::TargetCode code;  ///< entries are empty where none was made: names follow from the kernels then
  const ir::Module* raised = nullptr;  ///< the module that the code was made from; null where none was made
};

/// Which places the status block can name: those of what the code checks.
struct MetadataConfig {
  bool asserts = false;
  bool accesses = false;
  bool bounds = false;  ///< kernels that record bounds were made
};

/// The metadata of `kernels` for `targets`, complete: entries, cells and hashes included. The code's entries
/// and each target's own kernels are those of `kernels`, in their order. `sources` names the source files and
/// turns spans into places.
artifact::Metadata BuildMetadata(const ir::Module& module, std::span<const PlannedKernel> kernels,
                                 std::span<const MadeTarget> targets, const diag::SourceManager& sources,
                                 const MetadataConfig& config);

}  // namespace adc::product
