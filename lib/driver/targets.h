#pragma once
// Which targets a compilation is for.

#include <string>
#include <vector>

#include "diag/result.h"
#include "target/target.h"

namespace adc::driver {

/// What a bundle holds when --target does not say: fast code for a processor of the last ten years, and code
/// that runs on any.
std::vector<std::string> DefaultTargets();

/// The best target for the machine that runs the compiler.
std::string HostTarget();

/// The target named `name`. Fails with E0703 for an unknown name and with E0704 for a kind of device that
/// this compiler generates no code for.
diag::Result<target::Target> ResolveTarget(const std::string& name);

}  // namespace adc::driver
