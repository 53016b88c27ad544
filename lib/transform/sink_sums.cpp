#include "transform/sink_sums.h"

#include <algorithm>

#include "analysis/structure.h"

namespace adc::transform {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

/// A branch of fewer instructions, without accesses and loops, is cheaper to run than to jump around.
constexpr size_t kLight = 24;

class Sinker {
 public:
  explicit Sinker(Function& function) : function_(function) {}

  bool Run() {
    for (Inst inst : std::vector<Inst>(function_[function_.Body()].insts)) {
      for (Block region : function_[inst].regions) {
        if (!region.Valid()) continue;
        bool parallel = analysis::IsParallel(function_[inst].op);
        if (parallel) Walk(region);
      }
    }
    return moved_;
  }

 private:
  /// From the outside in, so that a sum goes down as far as it can.
  void Walk(Block block) {
    for (size_t position = 0; position < function_[block].insts.size(); ++position) {
      if (TrySink(block, position)) --position;
    }
    for (Inst inst : std::vector<Inst>(function_[block].insts)) {
      for (Block region : function_[inst].regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

  bool TrySink(Block block, size_t position) {
    Inst sum = function_[block].insts[position];
    if (function_[sum].op != Op::AddTo || !MovesWithIterations(sum)) return false;
    Value value = function_.AccessValues(sum)[0];
    Inst branch = function_.DefiningInst(value);
    if (!branch.Valid() || function_[branch].op != Op::If || function_[branch].parent != block) return false;
    uint32_t number = function_[value].number;
    Block arms[] = {function_[branch].regions[0], function_[branch].regions[1]};
    Value yields[] = {function_.Operands(function_.Terminator(arms[0]))[number],
                      function_.Operands(function_.Terminator(arms[1]))[number]};
    uint32_t nonzero = IsZero(yields[1]) ? 0 : 1;
    if (!IsZero(yields[1 - nonzero]) || IsZero(yields[nonzero]) || IsLight(arms[nonzero])) return false;
    if (!CanPass(block, branch, position)) return false;
    std::vector<Inst>& from = function_[block].insts;
    from.erase(from.begin() + static_cast<std::ptrdiff_t>(position));
    std::vector<Inst>& to = function_[arms[nonzero]].insts;
    to.insert(to.end() - 1, sum);
    function_[sum].parent = arms[nonzero];
    function_.SetOperand(sum, 1u + function_[sum].index_count, yields[nonzero]);
    moved_ = true;
    return true;
  }

  /// Whether the cell is made of values that differ between iterations.
  bool MovesWithIterations(Inst sum) const {
    std::span<const Value> indices = function_.Indices(sum);
    return std::any_of(indices.begin(), indices.end(),
                       [&](Value index) { return function_.DefiningBlock(index) != function_.Body(); });
  }

  bool IsZero(Value v) const {
    if (!function_.IsConstant(v)) return false;
    uint64_t sign = uint64_t{1} << (ir::BitWidth(function_.TypeOf(v).scalar) - 1);
    uint64_t bits = function_.ConstantOf(v).bits;
    return bits == 0 || (function_.TypeOf(v).IsFloat() && bits == sign);
  }

  bool IsLight(Block arm) const {
    const std::vector<Inst>& insts = function_[arm].insts;
    return insts.size() <= kLight && std::all_of(insts.begin(), insts.end() - 1, [&](Inst inst) {
             return ir::InfoOf(function_[inst].op).effect == ir::Effect::Pure;
           });
  }

  /// Between the branch and the sum there is nothing but arithmetic and other sums, and the sum's cell is
  /// known before the branch.
  bool CanPass(Block block, Inst branch, size_t position) const {
    const std::vector<Inst>& insts = function_[block].insts;
    Inst sum = insts[position];
    for (size_t n = position; n-- > 0 && insts[n] != branch;) {
      Inst between = insts[n];
      bool harmless =
          ir::InfoOf(function_[between].op).effect == ir::Effect::Pure || function_[between].op == Op::AddTo;
      if (!harmless) return false;
      for (Value index : function_.Indices(sum)) {
        if (function_.DefiningInst(index) == between) return false;
      }
    }
    std::span<const Value> indices = function_.Indices(sum);
    return std::none_of(indices.begin(), indices.end(),
                        [&](Value index) { return function_.DefiningInst(index) == branch; });
  }

  Function& function_;
  bool moved_ = false;
};

}  // namespace

bool SinkSums(Function& function) {
  return Sinker(function).Run();
}

}  // namespace adc::transform
