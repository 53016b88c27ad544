#include "raise/late_clears.h"

#include <algorithm>
#include <map>
#include <optional>

#include "analysis/access.h"
#include "analysis/walk.h"
#include "ir/module.h"

namespace adc::raise {
namespace {

using analysis::Relation;
using ir::Block, ir::Inst, ir::Op, ir::Value;

/// Accesses of one memory class that one store is compared with, in each direction.
constexpr uint32_t kMostCompared = 64;

class Delayer {
 public:
  Delayer(const ir::Module& module, ir::Function& kernel) : kernel_(kernel), facts_(module, kernel) {}

  void Walk(Block block) {
    Delay(block);
    for (Inst inst : kernel_[block].insts) {
      for (uint32_t region = 0; region < kernel_.RegionCount(inst); ++region)
        Walk(kernel_[inst].regions[region]);
    }
  }

 private:
  /// An access in a block or in the regions of its instructions.
  struct Touch {
    size_t position;  ///< in the block
    Inst access;
  };

  /// One block as it was before any of its stores moved.
  struct Lines {
    std::vector<Inst> insts;
    std::vector<size_t> last_use;  ///< where what an instruction gives is used last, through others as well
    std::vector<size_t> straight;  ///< between there and an instruction there is no loop
    std::map<uint32_t, std::vector<Touch>> touches;  ///< by memory class, in textual order
  };

  bool IsClear(Inst inst) const {
    return kernel_[inst].op == Op::Store && !analysis::IsLocalAccess(kernel_, inst) &&
           kernel_.IsConstant(kernel_.AccessValues(inst)[0]);
  }

  void Delay(Block block) {
    if (std::ranges::none_of(kernel_[block].insts, [&](Inst inst) { return IsClear(inst); })) return;
    const Lines lines = Read(block);
    std::map<size_t, std::vector<Inst>> behind;
    IndexSet<Inst> moved;
    for (size_t position = 0; position < lines.insts.size(); ++position) {
      if (!IsClear(lines.insts[position])) continue;
      size_t place = PlaceOf(position, lines);
      if (place == position) continue;
      behind[place].push_back(lines.insts[position]);
      moved.Insert(lines.insts[position]);
    }
    std::vector<Inst>& list = kernel_[block].insts;
    list.clear();
    for (size_t position = 0; position < lines.insts.size(); ++position) {
      if (!moved.Has(lines.insts[position])) list.push_back(lines.insts[position]);
      auto waiting = behind.find(position);
      if (waiting != behind.end()) list.insert(list.end(), waiting->second.begin(), waiting->second.end());
    }
  }

  Lines Read(Block block) const {
    Lines lines{kernel_[block].insts, {}, {}, {}};
    SideTable<Inst, size_t> positions;
    size_t straight = 0;
    for (size_t position = 0; position < lines.insts.size(); ++position) {
      Inst line = lines.insts[position];
      positions[line] = position;
      lines.last_use.push_back(position);
      lines.straight.push_back(straight);
      if (analysis::IsLoop(kernel_[line].op)) straight = position;
    }
    for (size_t position = lines.insts.size(); position-- > 0;) {
      analysis::ForEachInst(kernel_, lines.insts[position], [&](Inst inst) {
        for (Value v : kernel_.Operands(inst)) {
          Inst made = kernel_.DefiningInst(v);
          if (!made.Valid() || kernel_[made].parent != block) continue;
          size_t& last = lines.last_use[positions[made]];
          last = std::max(last, lines.last_use[position]);
        }
      });
    }
    for (size_t position = 0; position < lines.insts.size(); ++position) {
      analysis::ForEachInst(kernel_, lines.insts[position], [&](Inst inst) {
        if (ir::IsAccess(kernel_[inst].op))
          lines.touches[facts_.memory().ClassOf(inst)].push_back({position, inst});
      });
    }
    return lines;
  }

  /// The position after which the store at `clear` goes: its own where it stays.
  size_t PlaceOf(size_t clear, const Lines& lines) {
    Inst store = lines.insts[clear];
    const std::vector<Touch>& touches = lines.touches.at(facts_.memory().ClassOf(store));
    auto own = std::ranges::lower_bound(touches, clear, {}, &Touch::position);
    std::optional<size_t> load = LoadBefore(store, {touches.begin(), own}, lines.straight[clear]);
    if (!load) return clear;
    // A value that the terminator reads is used at the end of the block.
    size_t place = std::min(lines.last_use[*load], lines.insts.size() - 2);
    uint32_t compared = 0;
    for (auto touch = own + 1; touch != touches.end() && touch->position <= place; ++touch) {
      if (++compared > kMostCompared || MayMeet(touch->access, store)) place = touch->position - 1;
    }
    return std::max(place, clear);
  }

  /// The load of the store's cell right before it: nothing between may touch the cell.
  std::optional<size_t> LoadBefore(Inst store, std::span<const Touch> before, size_t since) {
    size_t n = before.size();
    for (uint32_t compared = 0; n > 0 && compared < kMostCompared; ++compared) {
      --n;
      if (before[n].position < since) break;
      Inst access = before[n].access;
      if (!MayMeet(access, store)) continue;
      bool loads = kernel_[access].op == Op::Load && kernel_[access].parent == kernel_[store].parent &&
                   facts_.SameIteration(access, store) == Relation::Same;
      return loads ? std::optional(before[n].position) : std::nullopt;
    }
    return std::nullopt;
  }

  bool MayMeet(Inst access, Inst store) { return facts_.SameIteration(access, store) != Relation::Distinct; }

  ir::Function& kernel_;
  analysis::AccessFacts facts_;  ///< of values and cells, which stores that move do not change
};

}  // namespace

void DelayClears(ir::Module& module, ir::Function& kernel, const RaiseConfig&) {
  std::optional<Delayer> delayer;
  for (Inst inst : kernel[kernel.Body()].insts) {
    if (!analysis::IsParallel(kernel[inst].op)) continue;
    if (!delayer) delayer.emplace(module, kernel);
    delayer->Walk(kernel[inst].regions[0]);
  }
}

}  // namespace adc::raise
