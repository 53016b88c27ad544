#include "autodiff/infinite_partials.h"

#include "analysis/structure.h"
#include "autodiff/rules.h"
#include "autodiff/singular.h"
#include "autodiff/sources.h"
#include "ir/op.h"

namespace adc::autodiff {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Value;

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

/// Where a number that is none may come from, and where it may go.
class Flow {
 public:
  explicit Flow(const analysis::Structure& structure) : function_(structure.function()), sources_(structure) {
    for (uint32_t n = 0; n < function_.ValueCount(); ++n)
      for (Value source : SourcesOf(Value(n))) results_[source].push_back(Value(n));
  }

  /// Adds to `values` all values that they are made of.
  void SpreadBack(IndexSet<Value>& values) const {
    Spread(values, [&](Value v) { return SourcesOf(v); });
  }
  /// Adds to `values` all values that are made of them.
  void SpreadOn(IndexSet<Value>& values) const {
    Spread(values, [&](Value v) { return results_.Get(v); });
  }

 private:
  void Spread(IndexSet<Value>& values, auto&& next_of) const {
    std::vector<Value> work;
    for (uint32_t n = 0; n < function_.ValueCount(); ++n)
      if (values.Has(Value(n))) work.push_back(Value(n));
    while (!work.empty()) {
      Value v = work.back();
      work.pop_back();
      for (Value next : next_of(v))
        if (values.Insert(next)) work.push_back(next);
    }
  }

  /// None where no derivative passes, and of buffers. A local array stands between what is stored into it and
  /// what is loaded, so that there are as many sources as accesses.
  std::vector<Value> SourcesOf(Value v) const {
    if (function_.TypeOf(v).IsArray()) {
      std::span<const Value> written = sources_.WrittenInto(v);
      return {written.begin(), written.end()};
    }
    if (!function_.TypeOf(v).IsFloat()) return {};
    Inst inst = function_.DefiningInst(v);
    if (inst.Valid()) {
      Op op = function_[inst].op;
      ir::Derivative derivative = ir::InfoOf(op).derivative;
      bool is_smooth = derivative == ir::Derivative::Linear || derivative == ir::Derivative::Partials;
      if (op == Op::Load) {
        Value memory = function_.Operand(inst, 0);
        return function_.TypeOf(memory).IsArray() ? std::vector<Value>{memory} : std::vector<Value>();
      }
      if (ir::InfoOf(op).effect == ir::Effect::Pure && !is_smooth) return {};
    }
    return sources_.Of(v);
  }

  const Function& function_;
  Sources sources_;
  SideTable<Value, std::vector<Value>> results_;
};

}  // namespace

IndexSet<Inst> FindInfinitePartials(const Function& function) {
  analysis::Structure structure(function);
  std::vector<Inst> smooth;  // the operations that have partials
  IndexSet<Value> tamed;     // values of which an operation may make a number that has a tangent
  IndexSet<Value> wild;      // values that may be no number
  auto is_source = [&](Inst inst) { return MayBeSingular(function, inst) || Overflows(function[inst].op); };
  for (Inst inst : structure.Order()) {
    const ir::InstData& data = function[inst];
    bool is_pure = ir::InfoOf(data.op).effect == ir::Effect::Pure && data.result_count == 1;
    if (!is_pure || !function.TypeOf(function.Result(inst)).IsFloat() || !HasPartials(data.op)) continue;
    smooth.push_back(inst);
    for (uint32_t k = 0; k < data.operand_count; ++k)
      if (Tames(data.op, k)) tamed.Insert(function.Operand(inst, k));
    if (is_source(inst)) wild.Insert(function.Result(inst));
  }
  Flow flow(structure);
  flow.SpreadBack(tamed);
  flow.SpreadOn(wild);
  IndexSet<Inst> found;
  constexpr uint8_t kAllOperands = 7;
  for (Inst inst : smooth) {
    Value result = function.Result(inst);
    std::span<const Value> operands = function.Operands(inst);
    PartialReads reads = ReadsOfPartials(function, inst, kAllOperands);
    bool is_wild = reads.result && wild.Has(result);
    for (uint32_t n = 0; n < operands.size(); ++n)
      is_wild = is_wild || ((reads.operands & (1u << n)) != 0 && wild.Has(operands[n]));
    if (is_source(inst) || (is_wild && (tamed.Has(result) || Tames(function[inst].op, 0))))
      found.Insert(inst);
  }
  return found;
}

}  // namespace adc::autodiff
