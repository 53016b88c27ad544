#include "codegen/llvm/axes.h"

#include <optional>

#include "ir/module.h"

namespace adc::codegen {

using llvm::Value;

std::vector<Axis> AxesOf(const ir::Module& module, const ir::Function& kernel, ir::Inst loop,
                         llvm::IRBuilder<>& builder, ValueTable& values) {
  const std::vector<ir::Value>& counters = kernel[kernel[loop].regions[0]].params;
  std::vector<Axis> axes;
  // From a number that is not negative on, an i32 has fewer than 2^31 values.
  auto is_narrow = [&](ir::Value counter, std::optional<int64_t> low) {
    return kernel.TypeOf(counter).Is(ir::Scalar::I32) && low && *low >= 0;
  };
  if (kernel[loop].op == ir::Op::ParallelOver) {
    const ir::Layout& layout = module.layouts[kernel.TypeOf(kernel.Operand(loop, 0)).count];
    const ir::LayoutField& field = layout.fields[kernel[loop].attr];
    for (size_t n = 0; n < counters.size(); ++n) {
      axes.push_back({counters[n], builder.getInt64(0), builder.getInt64(field.axes[n].extent),
                      is_narrow(counters[n], 0)});
    }
    return axes;
  }
  for (uint32_t n = 0; n < counters.size(); ++n) {
    Value* low = values.Index(kernel.Operand(loop, 2 * n));
    Value* high = values.Index(kernel.Operand(loop, 2 * n + 1));
    Value* extent = builder.CreateSelect(builder.CreateICmpSLT(low, high), builder.CreateSub(high, low),
                                         builder.getInt64(0));
    axes.push_back({counters[n], low, extent,
                    is_narrow(counters[n], kernel.IntegerConstant(kernel.Operand(loop, 2 * n)))});
  }
  return axes;
}

Value* TotalOf(const std::vector<Axis>& axes, llvm::IRBuilder<>& builder) {
  Value* total = builder.getInt64(1);
  for (const Axis& axis : axes) total = builder.CreateMul(total, axis.extent);
  return total;
}

}  // namespace adc::codegen
