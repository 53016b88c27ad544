#pragma once
// Images that an entry has as its shader has them (--images=native).

#include "codegen/spirv/entry.h"

namespace adc::codegen::spirv {

class Images {
 public:
  explicit Images(Entry& entry) : entry_(entry), m_(entry.context.module), f_(entry.f) {}

  /// The image that a parameter is, loaded, without its sampler.
  Id Load(uint32_t param);
  /// The type of the numbers of its texels.
  Id TexelType(uint32_t param);
  /// Extent of an axis, in Wide() bits.
  Id Extent(uint32_t param, uint32_t axis);

 private:
  Entry& entry_;
  ModuleBuilder& m_;
  FunctionBuilder& f_;
  std::map<uint32_t, Id> variables_, sizes_;  ///< by parameter; sizes as they are loaded
};

}  // namespace adc::codegen::spirv
