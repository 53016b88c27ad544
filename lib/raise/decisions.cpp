// Which instructions decide: about control flow, about addresses, and about which of two derivatives holds.
//
// A kernel, its derivatives and its size kernel each compute their values anew, in different surroundings.
// All of them must take the same branches, run loops equally often, touch the same cells and differentiate
// the side that the value was taken from: an iteration that passes a gate in the gradient and did not when
// its rows were counted has no row; an index that is rounded the other way is another cell, or none. Where
// one of them contracts a product and a sum to an fma, or regroups a sum, and another one does not, a value
// at the border falls to either side. So a value that decides is computed as it is written, in every kernel
// and mode of floats, and only the rest is open to the compiler.
//
//   %p = mul %a, %b                 decides: no part of an fma
//   %g = gt (sub %p, %c), 0.0
//   if %g { %y = add (mul %x, %x), %z  ... }     does not
//
// Two kinds of place decide. *Control and addresses*: conditions, bounds, slots and rows of adstacks, indices
// of every access. *Jumps and kinks*: an operation on floats whose result or derivative is not continuous in
// its operands (IsDecisive; not those with the word `either`, ir/either_side.h), and the operands of an
// atomic that compares. The second kind makes every integer and flag that is computed from floats exact where
// it is made; the walk backwards from the first finds floats that reach one through memory.
//
// A walk backwards from every place that decides. Tapes of one number, as tasks have them, are taken for one:
// a value that is marked without need is only computed as it is written.

#include "raise/decisions.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "analysis/loops.h"
#include "analysis/memory.h"
#include "analysis/structure.h"
#include "analysis/walk.h"
#include "ir/either_side.h"
#include "ir/words.h"

namespace adc::raise {
namespace {

using ir::Inst, ir::Op, ir::Value, ir::ValueKind;

/// True for an operation on floats whose result jumps, or whose derivative does: comparisons, roundings to
/// integral values, remainders, casts and bit casts to integers; min, max, clamp, abs.
bool IsDecisive(const ir::Function& function, Inst inst) {
  const ir::InstData& data = function[inst];
  if (data.operand_count == 0 || !function.TypeOf(function.Operand(inst, 0)).IsFloat()) return false;
  if (ir::IsCompare(data.op)) return data.attr != ir::kEitherSide;
  // A derivative that is zero everywhere, of what is not constant: the value jumps.
  if (ir::InfoOf(data.op).derivative == ir::Derivative::Zero) return data.op != Op::StopGradient;
  if (data.op == Op::Abs) return data.attr != ir::kEitherSide;
  if (data.op == Op::Cast || data.op == Op::Bitcast) return !function.TypeOf(function.Result(inst)).IsFloat();
  return data.op == Op::Rem || data.op == Op::Mod || data.op == Op::Min || data.op == Op::Max ||
         data.op == Op::Clamp;
}

/// The instructions that decide, and what they are computed from through carried values, branches, local
/// memory, adstacks, and what the kernel itself writes into a parameter. Linear time. Stale after the
/// function is edited.
class Decisions {
 public:
  explicit Decisions(const ir::Function& function) : function_(function) {
    analysis::Structure structure(function);
    for (uint32_t n = 0; n < function.params.size(); ++n)
      if (function.params[n].alias) aliased_.push_back(function.Params()[n]);
    for (Inst inst : structure.Order()) {
      const ir::InstData& data = function[inst];
      if (data.op == Op::RowStore) row_stores_[data.attr].push_back(inst);
      if (data.op == Op::StackPush || analysis::WritesMemory(data.op))
        written_into_[function.Operand(inst, 0)].push_back(inst);
    }
    for (Inst inst : structure.Order()) VisitRoots(inst);
    while (!pending_.empty()) {
      Value value = pending_.back();
      pending_.pop_back();
      if (function[value].kind == ValueKind::BlockParam) VisitParam(value);
      if (function[value].kind == ValueKind::Result) VisitResult(value);
    }
  }

  /// True for an instruction that decides, or that something which decides is computed from.
  bool Has(ir::Inst inst) const { return insts_.Has(inst); }

 private:
  void Visit(Value value) {
    if (seen_.Insert(value)) pending_.push_back(value);
  }

  void VisitParam(Value value) {
    if (std::optional<uint32_t> number = analysis::CarriedNumber(function_, value))
      VisitCarried(function_[function_.DefiningBlock(value)].owner, *number);
  }

  void VisitResult(Value value) {
    Inst inst(function_[value].owner);
    insts_.Insert(inst);
    const ir::InstData& data = function_[inst];
    uint32_t number = function_[value].number;
    if (data.op == Op::If) {
      for (ir::Block region : data.regions) Visit(function_.Operand(function_.Terminator(region), number));
      return;
    }
    if (analysis::IsSerialLoop(data.op)) return VisitCarried(inst, number);
    if (data.op == Op::RowLoad) VisitRows(data.attr);
    bool is_pop = data.op == Op::StackPop || data.op == Op::StackTop;
    if (is_pop || (analysis::ReadsMemory(data.op) && data.operand_count > 0))
      VisitContent(function_.Operand(inst, 0));
    for (Value operand : function_.Operands(inst)) Visit(operand);
  }

  /// Visits the carried value of a loop in place `number`.
  void VisitCarried(Inst loop, uint32_t number) {
    Visit(analysis::CarriedInit(function_, loop, number));
    Visit(analysis::CarriedYield(function_, loop, number));
  }

  /// All that is written into `container`: a local array, a parameter, an adstack.
  void VisitContent(Value container) {
    if (!containers_.Insert(container)) return;
    if (std::find(aliased_.begin(), aliased_.end(), container) != aliased_.end())
      for (Value other : aliased_) VisitContent(other);
    for (Inst write : written_into_.Get(container)) {
      for (Value operand : function_.Operands(write)) Visit(operand);
    }
  }

  void VisitRoots(Inst inst) {
    const ir::InstData& data = function_[inst];
    uint32_t first = 0, count = 0;
    if (data.op == Op::If || data.op == Op::ContinueIf) count = 1;
    if (analysis::IsSerialLoop(data.op)) count = data.operand_count - data.result_count;
    if (data.op == Op::Parallel) count = data.operand_count;
    bool is_stack = data.op == Op::StackPush || data.op == Op::StackPop || data.op == Op::StackTop;
    if (is_stack && data.Has(ir::Word::HasSlot)) {
      first = data.operand_count - 1;
      count = 1;
    }
    if (data.op == Op::RowLoad || data.op == Op::RowStore) first = count = 1;
    if (data.op == Op::VecGet || data.op == Op::MatGet || data.op == Op::VecSet) {
      first = 1;
      count = data.op == Op::MatGet ? 2 : 1;
    }
    for (uint32_t n = first; n < first + count; ++n) Visit(function_.Operand(inst, n));
    if (ir::IsAccess(data.op)) {
      for (Value index : function_.Indices(inst)) Visit(index);
      // The gradient finds the winner by comparing what was written with what is there.
      bool compares =
          data.op == Op::AtomicMin || data.op == Op::AtomicMax || data.op == Op::AtomicCompareExchange;
      if (compares)
        for (Value value : function_.AccessValues(inst)) Visit(value);
    }
    if (IsDecisive(function_, inst)) Visit(function_.Result(inst));
  }

  void VisitRows(uint32_t stack) {
    auto stores = row_stores_.find(stack);
    if (stores == row_stores_.end()) return;
    for (Inst store : stores->second) Visit(function_.Operand(store, 2));
    row_stores_.erase(stores);
  }

  const ir::Function& function_;
  IndexSet<ir::Inst> insts_;
  IndexSet<ir::Value> seen_;
  std::vector<ir::Value> pending_;
  IndexSet<ir::Value> containers_;                                  ///< whose content was visited
  SideTable<ir::Value, std::vector<ir::Inst>> written_into_;        ///< by container
  std::unordered_map<uint32_t, std::vector<ir::Inst>> row_stores_;  ///< by stack
  std::vector<ir::Value> aliased_;                                  ///< parameters that may overlap
};

}  // namespace

void MarkDecisions(ir::Module&, ir::Function& kernel, const RaiseConfig&) {
  Decisions decisions(kernel);
  analysis::ForEachInst(kernel, [&](Inst inst) {
    if (ir::IsScalarOperation(kernel[inst].op) && decisions.Has(inst))
      kernel[inst].words.Add(ir::Word::AsWritten);
  });
}

}  // namespace adc::raise
