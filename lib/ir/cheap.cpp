#include "ir/cheap.h"

#include <algorithm>

namespace adc::ir {
namespace {

constexpr ptrdiff_t kMostOperations = 4;

bool IsCheapOp(Op op, Type result) {
  constexpr Op kAlways[] = {Op::Neg,  Op::Not,     Op::Add,     Op::Sub,         Op::And,
                            Op::Or,   Op::Xor,     Op::Shl,     Op::Shr,         Op::Select,
                            Op::Cast, Op::Bitcast, Op::VecMake, Op::StopGradient};
  if (op == Op::Mul || op == Op::Min || op == Op::Max) return !result.IsFloat();
  return IsCompare(op) || std::find(std::begin(kAlways), std::end(kAlways), op) != std::end(kAlways);
}

}  // namespace

bool IsCheap(const Function& function, Block branch) {
  const std::vector<Inst>& insts = function[branch].insts;
  auto end = insts.end();
  if (!insts.empty() && function[insts.back()].op == Op::Yield) --end;
  if (end - insts.begin() > kMostOperations) return false;
  return std::all_of(insts.begin(), end, [&](Inst inst) {
    const InstData& data = function[inst];
    if (data.op == Op::VecGet) return function.IsConstant(function.Operand(inst, 1));
    if (data.op == Op::Shape) return true;
    return data.result_count == 1 && IsCheapOp(data.op, function.TypeOf(function.Result(inst)));
  });
}

}  // namespace adc::ir
