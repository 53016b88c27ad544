#include "codegen/common/wave_teams.h"

#include <algorithm>
#include <span>

#include "analysis/walk.h"
#include "codegen/common/team_steps.h"
#include "codegen/common/turn_cells.h"
#include "ir/words.h"

namespace adc::codegen {
namespace {

using ir::Inst, ir::Op, ir::Value;

class WaveTeams {
 public:
  explicit WaveTeams(const ir::Function& kernel) : kernel_(kernel) {}

  bool Fits(ir::Block block) {
    return std::ranges::all_of(kernel_[block].insts, [&](Inst inst) { return FitsAround(inst); });
  }
  bool meets() const { return meets_; }

 private:
  bool FitsAround(Inst inst) {
    if (kernel_.RegionCount(inst) == 0) return true;
    bool is_alike = kernel_[inst].op == Op::For && HasAlikeBounds(inst);
    if (is_alike && kernel_[inst].Has(ir::Word::Apart)) return FitsApart(inst);
    if (is_alike) return Fits(kernel_[inst].regions[0]);
    bool is_private = true;
    for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
      analysis::ForEachInst(kernel_, kernel_[inst].regions[region],
                            [&](Inst inside) { is_private &= IsEachThreadsOwn(kernel_, inside); });
    }
    return is_private;
  }

  bool FitsApart(Inst loop) {
    TurnCells cells = TurnCellsOf(kernel_, loop);
    meets_ |= !cells.sums.empty();
    bool fits = AreAlike(cells.roots);
    analysis::ForEachInst(kernel_, kernel_[loop].regions[0], [&](Inst inside) {
      bool is_gathered = kernel_[inside].Has(ir::Word::Gathered);
      fits &= kernel_[inside].op == Op::Load ? IsPrivateOrAlike(inside)
                                             : is_gathered || IsEachThreadsOwn(kernel_, inside);
    });
    return fits;
  }

  bool IsPrivateOrAlike(Inst load) const {
    return kernel_.DefiningInst(kernel_.Operand(load, 0)).Valid() || AreAlike(kernel_.Indices(load));
  }

  bool AreAlike(std::span<const Value> values) const {
    return std::ranges::all_of(values, [&](Value v) { return IsAlike(v); });
  }
  bool HasAlikeBounds(Inst loop) const { return AreAlike(kernel_.Operands(loop).first(2)); }

  /// Whether an integer is the same in all iterations, wherever they are: no memory decides about it.
  bool IsAlike(Value v) const {
    if (kernel_.IsConstant(v) || kernel_.IsParameter(v)) return true;
    Inst made = kernel_.DefiningInst(v);
    if (!made.Valid()) {
      Inst owner = kernel_[kernel_.DefiningBlock(v)].owner;
      return kernel_[owner].op == Op::For && kernel_[v].number == 0 && HasAlikeBounds(owner);
    }
    if (kernel_[made].op == Op::Shape) return true;
    return ir::InfoOf(kernel_[made].op).effect == ir::Effect::Pure && kernel_.RegionCount(made) == 0 &&
           AreAlike(kernel_.Operands(made));
  }

  const ir::Function& kernel_;
  bool meets_ = false;  ///< some loop that is apart sums up by turns
};

}  // namespace

bool MayShareWaves(const ir::Function& kernel, ir::Inst parallel) {
  if (!MayBeInTeams(kernel[parallel])) return false;
  WaveTeams teams(kernel);
  return teams.Fits(kernel[parallel].regions[0]) && teams.meets();
}

}  // namespace adc::codegen
