#include "transform/sink_singular.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/module.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

class SingularSinker {
 public:
  explicit SingularSinker(Function& function) : function_(function), uses_(function) {}

  /// From the outside in, so that a value goes down as far as it can.
  void Walk(Block block) {
    for (Inst inst : function_[block].insts) {
      if (IsSingular(inst)) singular_.Insert(inst);
    }
    std::vector<Inst> insts = function_[block].insts;
    std::vector<Inst> stay;
    for (size_t n = insts.size(); n-- > 0;) {
      Block branch = singular_.Has(insts[n]) ? BranchOf(insts[n], block) : Block();
      if (branch.Valid()) {
        std::vector<Inst>& into = function_[branch].insts;
        into.insert(into.begin(), insts[n]);
        function_[insts[n]].parent = branch;
      } else {
        stay.push_back(insts[n]);
      }
    }
    std::reverse(stay.begin(), stay.end());
    function_[block].insts = stay;
    for (Inst inst : stay) {
      for (Block region : function_[inst].regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

 private:
  /// It is singular somewhere, or is computed from what is: then it has to make way.
  bool IsSingular(Inst inst) const {
    const ir::InstData& data = function_[inst];
    if (ir::InfoOf(data.op).effect != ir::Effect::Pure || data.result_count != 1) return false;
    if (!function_.TypeOf(function_.Result(inst)).IsFloat()) return false;
    bool by_literal = data.op == Op::Div && function_.IsConstant(function_.Operand(inst, 1));
    if (!by_literal && ir::Has(data.op, ir::Singular)) return true;
    return std::ranges::any_of(function_.Operands(inst), [&](Value operand) {
      Inst source = function_.DefiningInst(operand);
      return source.Valid() && singular_.Has(source) && function_[source].parent == data.parent;
    });
  }

  /// The branch of an `if` of `block` in which all that reads the result of `inst` stands; invalid where
  /// there is none.
  Block BranchOf(Inst inst, Block block) const {
    Block common;
    for (const analysis::Use& use : uses_.Of(function_.Result(inst))) {
      Block inside = function_[use.inst].parent;
      Inst owner = function_[inside].owner;
      while (owner.Valid() && !(function_[owner].parent == block)) {
        inside = function_[owner].parent;
        owner = function_[inside].owner;
      }
      // Without an owner it is read in the block itself, or in the body of the `while` whose condition the
      // block is.
      bool is_branch = owner.Valid() && function_[owner].op == Op::If;
      if (!is_branch || (common.Valid() && !(common == inside))) return {};
      common = inside;
    }
    return common;
  }

  Function& function_;
  analysis::Uses uses_;  ///< moving changes no use
  IndexSet<Inst> singular_;
};

}  // namespace

void SinkSingular(ir::Module& module) {
  for (const auto& function : module.functions) SingularSinker(*function).Walk(function->Body());
}

}  // namespace adc::transform
