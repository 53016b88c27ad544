#pragma once
// How a texture is read, which no shader says.

#include <cstdint>
#include <string>
#include <string_view>

namespace adc::frontend::spirv {

enum class Wrap : uint8_t { Clamp, Repeat, Mirror, Border };

/// How --sampler has a texture read.
struct SamplerState {
  bool linear = true;
  Wrap wrap = Wrap::Clamp;
};
/// Takes words with commas: linear or nearest; clamp, repeat, mirror or border. Empty text: taken.
std::string TakeSampler(std::string_view words, SamplerState* state);

}  // namespace adc::frontend::spirv
