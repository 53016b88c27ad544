#include "autodiff/guarded_partials.h"

#include <algorithm>

#include "analysis/uses.h"
#include "ir/op.h"

namespace adc::autodiff {
namespace {

using ir::Block;
using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

class Finder {
 public:
  explicit Finder(const Function& function) : function_(function), uses_(function) {}

  IndexSet<Inst> Find() {
    Walk(function_.Body());
    return std::move(found_);
  }

 private:
  void Walk(Block block) {
    const std::vector<Inst>& insts = function_[block].insts;
    // What comes from outside was looked at before.
    for (Inst inst : insts) {
      if (IsSingular(inst)) singular_.Insert(inst);
    }
    for (size_t n = insts.size(); n-- > 0;) {
      if (IsRead(insts[n])) read_.Insert(insts[n]);
      if (singular_.Has(insts[n]) && !read_.Has(insts[n])) found_.Insert(insts[n]);
    }
    for (Inst inst : insts) {
      for (Block region : function_[inst].regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

  /// One number from others, with a partial that may be infinite, be it where the value overflows, or of what
  /// may be infinite itself.
  bool IsSingular(Inst inst) const {
    const ir::InstData& data = function_[inst];
    if (ir::InfoOf(data.op).effect != ir::Effect::Pure || data.result_count != 1) return false;
    if (!function_.TypeOf(function_.Result(inst)).IsFloat()) return false;
    bool by_literal = data.op == Op::Div && function_.IsConstant(function_.Operand(inst, 1));
    if (ir::ClassOf(data.op) == ir::OpClass::Function) return true;
    if (!by_literal && ir::Has(data.op, ir::Singular)) return true;
    return std::ranges::any_of(function_.Operands(inst), [&](Value operand) {
      Inst source = function_.DefiningInst(operand);
      return source.Valid() && singular_.Has(source);
    });
  }

  /// Something in the block itself takes the derivative of the result: an effect, the end of the block, or an
  /// operation on floats of which that is true. A comparison does not, so that a guard may look at what it
  /// guards.
  bool IsRead(Inst inst) const {
    const ir::InstData& data = function_[inst];
    for (uint32_t n = 0; n < data.result_count; ++n) {
      for (const analysis::Use& use : uses_.Of(function_.Result(inst, n))) {
        const ir::InstData& user = function_[use.inst];
        if (!(user.parent == data.parent)) continue;
        bool computes = ir::InfoOf(user.op).effect == ir::Effect::Pure && !HasRegions(use.inst) &&
                        !ir::IsTerminator(user.op) && user.result_count == 1;
        if (!computes) return true;
        if (function_.TypeOf(function_.Result(use.inst)).IsFloat() && read_.Has(use.inst)) return true;
      }
    }
    return false;
  }

  bool HasRegions(Inst inst) const {
    return std::ranges::any_of(function_[inst].regions, [](Block region) { return region.Valid(); });
  }

  const Function& function_;
  analysis::Uses uses_;
  IndexSet<Inst> singular_, read_, found_;
};

}  // namespace

IndexSet<Inst> FindGuardedPartials(const Function& function) {
  return Finder(function).Find();
}

}  // namespace adc::autodiff
