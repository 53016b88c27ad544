#include "codegen/spirv/environment.h"

namespace adc::codegen::spirv {

Place Environment::Element(uint32_t param, Storage storage, Id index) {
  if (entry.IsBound(param)) return blocks.BoundElement(param, storage, index);
  Id block = blocks.At(words.Address(param), storage, entry.uses[param].written);
  return blocks.In(block, spv::StorageClassPhysicalStorageBuffer, storage, index);
}

}  // namespace adc::codegen::spirv
