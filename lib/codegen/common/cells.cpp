#include "codegen/common/cells.h"

namespace adc::codegen {

std::vector<uint32_t> ParameterCells(const ir::Function& kernel) {
  std::vector<uint32_t> first;
  uint32_t next = 0;
  for (ir::Value param : kernel.Params()) {
    ir::Type type = kernel.TypeOf(param);
    first.push_back(next);
    next += type.IsBuffer() ? 1 + type.count : type.IsLayout() ? 1 : type.Components();
  }
  first.push_back(next);
  return first;
}

}  // namespace adc::codegen
