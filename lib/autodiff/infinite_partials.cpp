#include "autodiff/infinite_partials.h"

#include <algorithm>

#include "analysis/structure.h"
#include "autodiff/rules.h"
#include "autodiff/singular.h"
#include "ir/op.h"

namespace adc::autodiff {
namespace {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

bool Overflows(Op op) {
  return op == Op::Exp || op == Op::Exp2 || op == Op::Exp10 || op == Op::Expm1 || op == Op::Sinh ||
         op == Op::Cosh;
}

/// It makes numbers of infinities: exp(-inf), 1 / inf, atan(inf).
bool Tames(Op op, uint32_t operand) {
  if (op == Op::Div) return operand == 1;
  return op == Op::Rcp || op == Op::Rsqrt ||
         (ir::ClassOf(op) == ir::OpClass::Function && op != Op::Log && op != Op::Log2 && op != Op::Log10 &&
          op != Op::Log1p && op != Op::Hypot);
}

}  // namespace

IndexSet<Inst> FindInfinitePartials(const Function& function) {
  analysis::Structure structure(function);
  std::vector<Inst> smooth;  // the operations that have partials, in order
  for (Inst inst : structure.Order()) {
    const ir::InstData& data = function[inst];
    bool is_pure = ir::InfoOf(data.op).effect == ir::Effect::Pure && data.result_count == 1;
    if (is_pure && function.TypeOf(function.Result(inst)).IsFloat() && HasPartials(data.op))
      smooth.push_back(inst);
  }
  IndexSet<Value> tamed;  // values of which an operation may make a number that has a tangent
  for (size_t n = smooth.size(); n-- > 0;) {
    Inst inst = smooth[n];
    for (uint32_t k = 0; k < function[inst].operand_count; ++k)
      if (tamed.Has(function.Result(inst)) || Tames(function[inst].op, k))
        tamed.Insert(function.Operand(inst, k));
  }
  IndexSet<Inst> found;
  IndexSet<Value> wild;  // values that may be no number
  constexpr uint8_t kAllOperands = 7;
  for (Inst inst : smooth) {
    Value result = function.Result(inst);
    std::span<const Value> operands = function.Operands(inst);
    bool is_source = MayBeSingular(function, inst) || Overflows(function[inst].op);
    if (is_source || std::ranges::any_of(operands, [&](Value v) { return wild.Has(v); })) wild.Insert(result);
    PartialReads reads = ReadsOfPartials(function, inst, kAllOperands);
    bool is_wild = reads.result && wild.Has(result);
    for (uint32_t n = 0; n < operands.size(); ++n)
      is_wild = is_wild || ((reads.operands & (1u << n)) != 0 && wild.Has(operands[n]));
    if (is_source || (is_wild && (tamed.Has(result) || Tames(function[inst].op, 0)))) found.Insert(inst);
  }
  return found;
}

}  // namespace adc::autodiff
