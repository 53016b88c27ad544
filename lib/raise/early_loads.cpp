#include "raise/early_loads.h"

#include <set>

#include "analysis/memory.h"
#include "analysis/walk.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst, ir::Op, ir::Value;

constexpr size_t kMostLoads = 16;

class Mover {
 public:
  explicit Mover(ir::Function& kernel) : kernel_(kernel), structure_(kernel), memory_(structure_) {}

  void Walk(Block block) {
    for (size_t position = 0; position < kernel_[block].insts.size(); ++position) {
      Inst inst = kernel_[block].insts[position];
      if (analysis::IsSerialLoop(kernel_[inst].op) && StoresRows(inst))
        position += MoveBefore(block, position);
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region)
        Walk(kernel_[inst].regions[region]);
    }
  }

 private:
  bool StoresRows(Inst inst) const {
    bool stores = false;
    analysis::ForEachInst(kernel_, inst,
                          [&](Inst inner) { stores = stores || kernel_[inner].op == Op::RowStore; });
    return stores;
  }

  /// How many instructions are before the loop that were not.
  size_t MoveBefore(Block block, size_t loop) {
    std::set<Inst> passed;       // the instructions that a load would pass
    std::set<uint32_t> written;  // classes of memory
    std::vector<Inst> early, left;
    const std::vector<Inst> insts = kernel_[block].insts;
    for (size_t position = loop; position < insts.size(); ++position) {
      Inst inst = insts[position];
      bool moves = early.size() < kMostLoads && IsCandidate(inst) && IsMadeBefore(inst, passed) &&
                   !written.contains(memory_.ClassOf(inst));
      if (moves && kernel_[inst].op == Op::Load) {
        early.push_back(inst);
        moved_.Insert(inst);
        continue;  // its result is there from now on
      }
      passed.insert(inst);
      analysis::ForEachInst(kernel_, inst, [&](Inst inner) {
        if (analysis::WritesMemory(kernel_[inner].op)) written.insert(memory_.ClassOf(inner));
      });
      if (moves) {
        early.push_back(TakeApart(inst, &left));
      } else {
        left.push_back(inst);
      }
    }
    std::vector<Inst>& list = kernel_[block].insts;
    list.resize(loop);
    list.insert(list.end(), early.begin(), early.end());
    list.insert(list.end(), left.begin(), left.end());
    for (Inst inst : list) kernel_[inst].parent = block;
    return early.size();
  }

  /// Makes a load of the plain update `inst`, and appends the rest of it to `rest`.
  Inst TakeApart(Inst inst, std::vector<Inst>* rest) {
    std::span<const Value> operands = kernel_.Operands(inst);
    std::vector<Value> cell(operands.begin(), operands.end() - 1);
    Value value = operands.back();
    ir::Type type = kernel_.TypeOf(value);
    diag::SourceSpan span = kernel_[inst].span;
    Inst load = kernel_.NewInst(Op::Load, cell, {&type, 1}, span);
    Value terms[] = {kernel_.Result(load), value};
    Inst sum = kernel_.NewInst(Op::Add, terms, {&type, 1}, span);
    cell.push_back(kernel_.Result(sum));
    Inst store = kernel_.NewInst(Op::Store, cell, {}, span);
    for (Inst access : {load, store}) {
      kernel_[access].index_count = kernel_[inst].index_count;
      kernel_[access].words = kernel_[inst].words.Of({ir::Word::Flat});
      kernel_[access].attr = kernel_[inst].attr;
      kernel_[access].component = kernel_[inst].component;
    }
    moved_.Insert(load);
    rest->push_back(sum);
    rest->push_back(store);
    return load;
  }

  bool IsCandidate(Inst inst) const {
    const ir::InstData& data = kernel_[inst];
    bool plain = data.op == Op::AddTo && data.Has(ir::Word::Plain);
    return (data.op == Op::Load || plain) && kernel_.IsParameter(kernel_.Operand(inst, 0)) &&
           !moved_.Has(inst);
  }

  bool IsMadeBefore(Inst inst, const std::set<Inst>& passed) const {
    for (Value index : kernel_.Indices(inst)) {
      Inst made = kernel_.DefiningInst(index);
      if (made.Valid() && passed.contains(made)) return false;
    }
    return true;
  }

  ir::Function& kernel_;
  analysis::Structure structure_;
  analysis::MemoryClasses memory_;  ///< of bases, which accesses that move do not change
  IndexSet<Inst> moved_;
};

}  // namespace

void LoadEarly(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.device) return;
  Mover mover(kernel);
  for (Inst inst : std::vector<Inst>(kernel[kernel.Body()].insts)) {
    if (analysis::IsParallel(kernel[inst].op)) mover.Walk(kernel[inst].regions[0]);
  }
}

}  // namespace adc::raise
