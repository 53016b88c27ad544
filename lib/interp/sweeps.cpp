// Dependence on adjoints, or on tangents, is a least fixed point over all values of the function: a value
// depends on them if it is read from a companion, or if an operand depends on them, or, of a carried value of
// a loop or a result of a branch, if a value that a region gives to it does. An array, adstack or buffer
// depends on them once something is written to it that does.

#include "interp/sweeps.h"

#include "support/side_table.h"

namespace adc::interp {

using ir::Inst, ir::InstData, ir::Op, ir::OpClass, ir::ParamRole, ir::Value;

namespace {

class Dependence {
 public:
  Dependence(const ir::Function& function, ParamRole role) : function_(function) {
    for (size_t n = 0; n < function.params.size(); ++n)
      if (function.params[n].role == role) Mark(function.Params()[n]);
    any_ = changed_;
    while (changed_) {
      changed_ = false;
      for (uint32_t n = 0; n < function.InstCount(); ++n) Visit(Inst(n));
    }
  }

  /// Whether the function has parameters of the role at all.
  bool Any() const { return any_; }
  /// Whether what `inst` gives, or writes, depends on them.
  bool Has(Inst inst) const {
    const InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n)
      if (depends_.Has(function_.Result(inst, n))) return true;
    return data.result_count == 0 && ReadsAny(function_.Operands(inst));
  }

 private:
  void Mark(Value v) { changed_ = depends_.Insert(v) || changed_; }
  bool ReadsAny(std::span<const Value> values) const {
    for (Value v : values)
      if (depends_.Has(v)) return true;
    return false;
  }
  void Hand(std::span<const Value> from, std::span<const Value> to) {
    for (size_t n = 0; n < to.size() && n < from.size(); ++n)
      if (depends_.Has(from[n])) Mark(to[n]);
  }
  std::vector<Value> ResultsOf(Inst inst) const {
    std::vector<Value> results;
    for (uint32_t n = 0; n < function_[inst].result_count; ++n) results.push_back(function_.Result(inst, n));
    return results;
  }

  void Visit(Inst inst) {
    const InstData& data = function_[inst];
    std::span<const Value> operands = function_.Operands(inst);
    switch (ir::ClassOf(data.op)) {
      case OpClass::Control:
        return VisitControl(inst);
      case OpClass::Terminator:
        return VisitTerminator(inst);
      case OpClass::Access:
      case OpClass::Atomic:
        if (ReadsAny(function_.AccessValues(inst))) Mark(operands[0]);
        if (data.result_count != 0 && depends_.Has(operands[0])) Mark(function_.Result(inst));
        return;
      case OpClass::Stack:
        if (data.op == Op::StackPush && depends_.Has(operands[1])) Mark(operands[0]);
        if (data.result_count != 0 && !operands.empty() && depends_.Has(operands[0]))
          Mark(function_.Result(inst));
        return;
      case OpClass::Check:
      case OpClass::Shape:
      case OpClass::Local:
      case OpClass::Row:
        return;
      case OpClass::Arithmetic:
      case OpClass::Function:
      case OpClass::Compare:
      case OpClass::Bits:
      case OpClass::Convert:
      case OpClass::Composed:
      case OpClass::Vector:
      case OpClass::Random:
        if (ReadsAny(operands)) Mark(function_.Result(inst));
        return;
    }
  }

  /// Follows values into a loop, and through a call.
  void VisitControl(Inst inst) {
    const InstData& data = function_[inst];
    std::span<const Value> operands = function_.Operands(inst);
    if (data.op == Op::Call) {
      bool reads = ReadsAny(operands);
      for (Value v : ResultsOf(inst))
        if (reads) Mark(v);
    } else if (data.op == Op::For) {
      Hand(operands.subspan(3), std::span(function_[data.regions[0]].params).subspan(1));
      Hand(operands.subspan(3), ResultsOf(inst));
    } else if (data.op == Op::While) {
      Hand(operands.subspan(data.Has(ir::Word::HasMax) ? 1 : 0), function_[data.regions[0]].params);
      Hand(operands.subspan(data.Has(ir::Word::HasMax) ? 1 : 0), ResultsOf(inst));
    }
  }

  /// Follows the values that leave a region: to the next iteration, and as a result.
  void VisitTerminator(Inst inst) {
    const InstData& data = function_[inst];
    if (data.op == Op::Return || data.op == Op::ContinueIf || !data.parent.Valid()) return;
    if (function_.IsUnreached(inst)) return;
    Inst owner = ir::IsLeave(data.op) ? function_.TargetOf(inst) : function_[data.parent].owner;
    if (!owner.Valid()) return;
    const InstData& of = function_[owner];
    std::span<const Value> values = function_.LeavingValues(inst);
    Hand(values, ResultsOf(owner));
    if (of.op == Op::For) Hand(values, std::span(function_[of.regions[0]].params).subspan(1));
    if (of.op == Op::While) Hand(values, function_[of.regions[0]].params);
  }

  const ir::Function& function_;
  IndexSet<Value> depends_;
  bool changed_ = false, any_ = false;
};

}  // namespace

Sweep SweepOf(const ir::Module& module, const ir::Function& function, Inst inst) {
  Dependence tangents(function, ParamRole::Tangent), adjoints(function, ParamRole::Adjoint);
  if (!tangents.Any() && !adjoints.Any()) return Sweep::Kernel;
  if (tangents.Has(inst)) return Sweep::Tangent;
  if (adjoints.Has(inst)) return Sweep::Adjoint;
  const ir::Function* primal = &function;
  while (primal != nullptr && primal->derived_from.Valid()) primal = module.Find(primal->derived_from);
  if (primal == nullptr) return Sweep::Partial;
  for (uint32_t n = 0; n < primal->InstCount(); ++n) {
    const InstData& own = (*primal)[Inst(n)];
    if (own.op == function[inst].op && own.span == function[inst].span) return Sweep::Primal;
  }
  return Sweep::Partial;
}

}  // namespace adc::interp
