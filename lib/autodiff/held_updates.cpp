#include "autodiff/held_updates.h"

#include "analysis/memory.h"
#include "autodiff/rules.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Value;

HeldUpdates::HeldUpdates(const ir::Function& primal, const RegionTree& tree, const AdjointWork& work,
                         AdjointSlots& slots) {
  const analysis::Structure& structure = tree.structure();
  analysis::MemoryClasses memory(structure);
  for (Inst inst : structure.Order()) {
    if (primal[inst].op != Op::Load || !work.Has(inst)) continue;
    if (primal.TypeOf(primal.Operand(inst, 0)).IsArray()) continue;
    uint32_t memory_class = memory.ClassOf(inst);
    // Outward from the load, as long as every loop runs its body straight into the next one.
    Inst until;
    ir::Block block = primal[inst].parent;
    while (true) {
      Inst loop = primal[block].owner;
      if (!loop.Valid() || primal[loop].op != Op::For) break;
      if (memory_class != analysis::kNoClass && memory.IsWrittenIn(memory_class, loop)) break;
      bool fixed = true;
      for (Value index : primal.Indices(inst)) fixed = fixed && !tree.Inside(index, loop);
      // The guard of the update reads the bounds of every loop that was left. Those of the steps of a
      // segment, which run at least once, say nothing that those of the segments do not: a sum is held over
      // all segments, so that the end of a segment changes none of its bits.
      if (until.Valid()) {
        for (Inst inner = primal[primal[inst].parent].owner;; inner = primal[primal[inner].parent].owner) {
          for (uint32_t n = 0; n < 2 && !primal[inner].Has(ir::Word::Steps); ++n)
            fixed = fixed && !tree.Inside(primal.Operand(inner, n), loop);
          if (inner == until) break;
        }
      }
      if (!fixed) break;
      until = loop;
      block = primal[loop].parent;
    }
    if (!until.Valid()) continue;
    slot_[inst] = slots.Add(AdjointType(primal.TypeOf(primal.Result(inst))));
    in_[until].push_back(inst);
    until_[inst] = until;
  }
}

}  // namespace adc::autodiff
