#include "codegen/llvm/axes.h"

namespace adc::codegen {

using llvm::Value;

std::vector<Axis> AxesOf(const ir::Module& module, const ir::Function& kernel, ir::Inst loop,
                         llvm::IRBuilder<>& builder, ValueTable& values) {
  const std::vector<ir::Value>& counters = kernel[kernel[loop].regions[0]].params;
  std::vector<Axis> axes;
  if (kernel[loop].op == ir::Op::ParallelOver) {
    const ir::Layout& layout = module.layouts[kernel.TypeOf(kernel.Operand(loop, 0)).count];
    const ir::LayoutField& field = layout.fields[kernel[loop].attr];
    for (size_t n = 0; n < counters.size(); ++n) {
      uint64_t extent = field.axes[n].extent;
      axes.push_back({counters[n],
                      builder.getInt64(0),
                      builder.getInt64(extent),
                      {0, static_cast<int64_t>(extent) - 1},
                      kernel.TypeOf(counters[n]).Is(ir::Scalar::I32)});
    }
    return axes;
  }
  for (uint32_t n = 0; n < counters.size(); ++n) {
    ir::Value low_value = kernel.Operand(loop, 2 * n), high_value = kernel.Operand(loop, 2 * n + 1);
    Value* low = values.Index(low_value);
    Value* high = values.Index(high_value);
    Value* extent = builder.CreateSelect(builder.CreateICmpSLT(low, high), builder.CreateSub(high, low),
                                         builder.getInt64(0));
    axes.push_back({counters[n],
                    low,
                    extent,
                    {values.Bounds(low_value).low, values.Bounds(high_value).high - 1},
                    kernel.TypeOf(counters[n]).Is(ir::Scalar::I32)});
  }
  return axes;
}

}  // namespace adc::codegen
