#pragma once
// Targets that got no code: why, and whether the compilation goes on without them.

#include <span>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "target/target.h"

namespace adc::driver {

/// Why targets get no code. Several targets may refuse for one reason.
struct Refusal {
  diag::Diagnostic failure;             ///< as the first target gave it
  std::vector<target::Target> targets;  ///< in the order asked for
};

/// Adds why `target` gets no code, to what another target has given as the same reason where one has.
void AddRefusal(const target::Target& target, const diag::Diagnostic& failure,
                std::vector<Refusal>* refusals);

/// The diagnostic for `refusal`. An error ends the compilation. It is a warning or a remark where others are
/// written and these targets may be missing: because of --keep-going, or because they were not asked for.
/// `able` names targets that have code or could have; `others_made`: they have it.
diag::Diagnostic Tell(const Refusal& refusal, std::span<const std::string> able, bool others_made,
                      const CompileOptions& options);

}  // namespace adc::driver
