#include "raise/products.h"

#include "analysis/uses.h"
#include "analysis/walk.h"
#include "ir/words.h"

namespace adc::raise {

void MarkProducts(ir::Module&, ir::Function& kernel, const RaiseConfig&) {
  analysis::Uses uses(kernel);
  analysis::ForEachInst(kernel, [&](ir::Inst inst) {
    const ir::InstData& data = kernel[inst];
    if ((data.op != ir::Op::Add && data.op != ir::Op::Sub) || data.Has(ir::Word::AsWritten)) return;
    ir::Scalar scalar = kernel.TypeOf(kernel.Result(inst)).scalar;
    if (scalar != ir::Scalar::F32 && scalar != ir::Scalar::F64) return;
    for (uint32_t side = 0; side < 2; ++side) {
      ir::Value operand = kernel.Operand(inst, side);
      ir::Inst product = kernel.DefiningInst(operand);
      if (!product.Valid() || kernel[product].op != ir::Op::Mul || uses.Of(operand).size() != 1) continue;
      kernel[product].words.Add(ir::Word::Fuses);
      break;
    }
  });
}

}  // namespace adc::raise
