#include "autodiff/singular.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autodiff/rules.h"
#include "ir/number.h"
#include "ir/op.h"

namespace adc::autodiff {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Value;

constexpr double kNone = -std::numeric_limits<double>::infinity();

/// A number that is not above any value of `v`, where that is a number; kNone where none is known.
class LowerBound {
 public:
  explicit LowerBound(const Function& function) : function_(function) {}

  double Of(Value v) {
    if (function_.IsConstant(v)) {
      const ir::ConstantData& constant = function_.ConstantOf(v);
      return ir::IsFloat(constant.type.scalar) ? ir::FloatFromBits(constant.type.scalar, constant.bits)
                                               : kNone;
    }
    Inst inst = function_.DefiningInst(v);
    if (!inst.Valid() || looks_++ == kMostLooks) return kNone;
    std::span<const Value> operands = function_.Operands(inst);
    Op op = function_[inst].op;
    if (op == Op::Abs || op == Op::Hypot) return 0;
    if (op == Op::Sqrt) return std::sqrt(std::max(0.0, Of(operands[0])));
    if (op == Op::Max) return std::max(Of(operands[0]), Of(operands[1]));
    if (op == Op::Clamp) return std::min(Of(operands[1]), Of(operands[2]));
    if (op == Op::Add) return Of(operands[0]) + Of(operands[1]);
    if (op == Op::Fma) return Product(operands[0], operands[1]) + Of(operands[2]);
    return op == Op::Mul ? Product(operands[0], operands[1]) : kNone;
  }

 private:
  double Product(Value a, Value b) {
    if (a == b) return 0;
    double low = Of(a);
    if (low < 0) return kNone;
    double other = Of(b);
    return other < 0 ? kNone : low * other;
  }

  static constexpr int kMostLooks = 64;
  const Function& function_;
  int looks_ = 0;
};

/// It is above 0, by as much as every type has normal numbers.
bool IsPositive(const Function& function, Value v) {
  double least = function.TypeOf(v).scalar == ir::Scalar::F64 ? 0x1p-1000 : 0x1p-120;
  return LowerBound(function).Of(v) >= least;
}

}  // namespace

bool MayBeSingular(const Function& function, Inst inst) {
  Op op = function[inst].op;
  if (!ir::Has(op, ir::Singular)) return false;
  std::span<const Value> operands = function.Operands(inst);
  if (op == Op::Div) return !function.IsConstant(operands[1]) && !IsPositive(function, operands[1]);
  if (op == Op::Sqrt && FormOfPartials(function, inst) == PartialForm::Norm) return false;
  bool at_zero = op == Op::Sqrt || op == Op::Rsqrt || op == Op::Rcp || op == Op::Log || op == Op::Log2 ||
                 op == Op::Log10 || op == Op::Cbrt || op == Op::Pow;
  return !at_zero || !IsPositive(function, operands[0]);
}

}  // namespace adc::autodiff
