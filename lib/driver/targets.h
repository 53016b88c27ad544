#pragma once
// The targets of a compilation.

#include <string>
#include <vector>

#include "diag/result.h"
#include "driver/options.h"
#include "target/target.h"

namespace adc::driver {

/// The targets of a bundle when --target does not say: code for a processor of the last ten years and code
/// that runs on any, and the default target of every other kind of device.
std::vector<std::string> DefaultTargets();

/// The target named `name`. Fails with E0703 for an unknown name and with E0704 for a kind of device that
/// this compiler generates no code for.
diag::Result<target::Target> ResolveTarget(const std::string& name);

/// The targets that `options` asks for, each once, in the order given; where it names none, the default ones
/// of what is to be made. Fails with E0703 or E0704 as ResolveTarget, with E0704 where what is to be made
/// does not exist for a target, and with E0705 where it holds one target and several are given.
diag::Result<std::vector<target::Target>> ChooseTargets(const CompileOptions& options);

}  // namespace adc::driver
