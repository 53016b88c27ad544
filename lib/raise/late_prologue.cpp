#include "raise/late_prologue.h"

#include <map>

#include "analysis/structure.h"
#include "analysis/tasks.h"

namespace adc::raise {
namespace {

using ir::Block, ir::Inst;

class Mover {
 public:
  Mover(ir::Function& kernel, const analysis::Structure& structure, const analysis::Task& task)
      : kernel_(kernel), structure_(structure), loop_(task.parallel) {
    const std::vector<Inst>& body = kernel[kernel.Body()].insts;
    for (uint32_t position = task.first; body[position] != loop_; ++position) {
      prologue_.push_back(body[position]);
      inside_.Insert(body[position]);
    }
  }

  void Run() {
    Use(loop_, kernel_.Body());
    Walk(kernel_[loop_].regions[0]);
    std::map<Block, std::vector<Inst>> late;  // last one first
    for (size_t n = prologue_.size(); n-- > 0;) {
      Inst inst = prologue_[n];
      bool stays = ir::ClassOf(kernel_[inst].op) == ir::OpClass::Function || ir::HasRegions(kernel_[inst].op);
      Block place = stays ? kernel_.Body() : Outermost(used_in_.Get(inst));
      bool waits = place.Valid() && place != kernel_.Body() && place != kernel_[loop_].regions[0];
      if (waits) {
        late[place].push_back(inst);
        moved_.Insert(inst);
      }
      Use(inst, waits ? place : kernel_.Body());
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region) {
        for (Inst inner : kernel_[kernel_[inst].regions[region]].insts) Use(inner, kernel_.Body());
      }
    }
    std::erase_if(kernel_[kernel_.Body()].insts, [&](Inst inst) { return moved_.Has(inst); });
    for (const auto& [block, insts] : late) {
      kernel_[block].insts.insert(kernel_[block].insts.begin(), insts.rbegin(), insts.rend());
      for (Inst inst : insts) kernel_[inst].parent = block;
    }
  }

 private:
  void Walk(Block block) {
    for (Inst inst : kernel_[block].insts) {
      Use(inst, block);
      // The cell of a sum is updated after the loop.
      if (ir::IsAccess(kernel_[inst].op) && kernel_[inst].Has(ir::Word::Private)) Use(inst, kernel_.Body());
      for (Block region : kernel_[inst].regions) {
        if (region.Valid()) Walk(region);
      }
    }
  }

  /// `inst`, in `block`, uses its operands.
  void Use(Inst inst, Block block) {
    for (ir::Value v : kernel_.Operands(inst)) {
      Inst made = kernel_.DefiningInst(v);
      if (!made.Valid() || !inside_.Has(made)) continue;
      Block& used = used_in_.Set(made);
      used = used.Valid() ? Common(used, block) : block;
    }
  }

  Block Parent(Block block) const { return kernel_[kernel_[block].owner].parent; }

  /// The innermost block around both.
  Block Common(Block a, Block b) const {
    while (a != b) {
      Block& deeper = structure_.Depth(a) >= structure_.Depth(b) ? a : b;
      deeper = Parent(deeper);
    }
    return a;
  }

  /// The block around all serial loops that `block` is in.
  Block Outermost(Block block) const {
    if (!block.Valid()) return block;
    Block result = block;
    for (; block != kernel_.Body(); block = Parent(block)) {
      if (analysis::IsSerialLoop(kernel_[kernel_[block].owner].op)) result = Parent(block);
    }
    return result;
  }

  ir::Function& kernel_;
  const analysis::Structure& structure_;  ///< of blocks, which stay where they are
  Inst loop_;
  std::vector<Inst> prologue_;
  IndexSet<Inst> inside_, moved_;
  SideTable<Inst, Block> used_in_;
};

}  // namespace

void DelayPrologue(ir::Module&, ir::Function& kernel, const RaiseConfig& config) {
  if (!config.device) return;
  analysis::Structure structure(kernel);
  std::vector<analysis::Task> tasks = analysis::TasksOf(kernel);
  // Last one first: positions before a task stay as they are.
  for (size_t n = tasks.size(); n-- > 0;) {
    if (tasks[n].kind != analysis::TaskKind::Parallel) continue;
    Mover(kernel, structure, tasks[n]).Run();
  }
}

}  // namespace adc::raise
