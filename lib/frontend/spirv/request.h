#pragma once
// What is asked of the kernel of one entry point.

#include "frontend/spirv/resources.h"
#include "frontend/spirv/sampler_state.h"

namespace adc::frontend::spirv {

/// How deep regions may nest.
inline constexpr uint32_t kDeepestRegion = 200;

struct LoweringConfig {
  uint64_t operation_limit = 500'000;
  ParameterRequest parameters;
  bool bindings_may_meet = false;  ///< two buffers at one binding are two
  /// Axes of the invocations that the kernel has; one that it does not have is dispatched with one workgroup.
  bool axes[3] = {true, true, true};
  /// The scans of HLSL leave the own value out, and glslang writes them as those that hold it.
  bool scans_exclude_own = false;
  /// How textures are read, by the name of their sampler; an empty name: of any.
  std::vector<std::pair<std::string, SamplerState>> samplers;
};

/// A specialisation constant of the module.
struct SpecConstant {
  Id id = 0;
  uint32_t number = 0;
  std::string name;
  bool given = false;   ///< its value is that of --spec
  bool frozen = false;  ///< its value decides about a type or the size of a workgroup
};

struct Request {
  const Binary& binary;
  const Types& types;
  const std::vector<SpecConstant>& specs;
  const EntryPoint& entry;
  const LoweringConfig& config;
};

}  // namespace adc::frontend::spirv
