#include "codegen/common/private_sums.h"

#include <map>

#include "analysis/walk.h"
#include "codegen/common/questions.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::codegen {
namespace {

using ir::Inst, ir::Reduction, ir::Scalar;

}  // namespace

uint64_t StartOf(Reduction reduction, Scalar scalar) {
  constexpr double kInfinity = __builtin_inf();
  uint32_t width = ir::BitWidth(scalar);
  uint64_t ones = ~uint64_t{0} >> (64 - width), top = uint64_t{1} << (width - 1);
  bool is_float = ir::IsFloat(scalar), is_signed = ir::IsSigned(scalar);
  switch (reduction) {
    case Reduction::Add:
      return is_float ? ir::FloatToBits(scalar, -0.0) : 0;
    case Reduction::Min:
      if (is_float) return ir::FloatToBits(scalar, kInfinity);
      return ir::WrapInteger(scalar, is_signed ? top - 1 : ones);
    case Reduction::Max:
      if (is_float) return ir::FloatToBits(scalar, -kInfinity);
      return ir::WrapInteger(scalar, is_signed ? top : 0);
    case Reduction::And:
      return ir::WrapInteger(scalar, ones);
    case Reduction::Or:
    case Reduction::Xor:
      return 0;
  }
  ADC_UNREACHABLE("kind of a reduction");
}

PrivateSums SumsOf(const ir::Function& kernel, Inst parallel) {
  PrivateSums sums;
  std::map<std::vector<uint32_t>, uint32_t> cells;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> tables;
  analysis::ForEachInst(kernel, kernel[parallel].regions[0], [&](Inst inst) {
    const ir::InstData& data = kernel[inst];
    if (!ir::IsAccess(data.op)) return;
    if (data.Has(ir::Word::Gathered)) {
      std::pair<uint32_t, uint32_t> of{kernel.Operand(inst, 0).raw, data.attr};
      auto [table, fresh] = tables.try_emplace(of, static_cast<uint32_t>(sums.gathered.size()));
      if (fresh) sums.gathered.push_back(inst);
      sums.gathered_of[inst] = table->second;
    }
    if (!data.Has(ir::Word::Private)) return;
    std::vector<uint32_t> key{data.attr, data.component};
    for (ir::Value v : kernel.Operands(inst).first(1u + data.index_count)) key.push_back(v.raw);
    auto [cell, fresh] = cells.try_emplace(key, static_cast<uint32_t>(sums.sums.size()));
    sums.sum_of[inst] = cell->second;
    if (fresh) {
      PrivateSum& sum = sums.sums.emplace_back();
      sum.first = inst;
      sum.reduction = *ir::ReductionOf(data.op);
      if (sum.reduction != Reduction::Add) sum.update = data.op;
      sum.scalar = UpdateScalar(kernel, inst);
      // A long sum of f16 would soon stand still: it is rounded to f16 once, when it goes to its cell.
      if (sum.scalar == Scalar::F16 && sum.reduction == Reduction::Add) sum.scalar = Scalar::F32;
      sum.start = StartOf(sum.reduction, sum.scalar);
      // An update that adds nothing may be made in vain where the cell exists for sure.
      sum.touches = data.index_count != 0 || sum.reduction != Reduction::Add;
    }
    if (data.Has(ir::Word::Always)) sums.sums[cell->second].touches = false;
  });
  return sums;
}

}  // namespace adc::codegen
