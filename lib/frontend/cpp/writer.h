#pragma once
// Writes the body of a function in which variables are assigned. A variable is a cell, an array of one
// element that is stored to and loaded from; the pass `locals` makes values of cells. Here a cell's value is
// known from its last store or load to the end of the region, so that constants fold as they are written:
//
//   int n = 2;                    %n = alloca array<i32, 1>
//   if (x[i] > 0) n += 1;   ->    store %n[0], 2
//                                 if (gt %x0, 0.0) { store %n[0], 3 }

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "ir/builder.h"

namespace adc::frontend {

using Slot = uint32_t;

class Writer final : public ir::Builder {
 public:
  Writer(ir::Module& module, ir::Function& function) : Builder(module, function, function.Body()) {}

  ir::Type TypeOf(ir::Value v) const { return function_.TypeOf(v); }

  /// A variable of the region that is being written; zero where nothing is assigned.
  Slot NewSlot(ir::Type type, std::string_view name);
  ir::Value Get(Slot slot);
  void Set(Slot slot, ir::Value value);
  /// How many slots there are here; those of regions that have ended are gone.
  size_t SlotCount() const { return slots_.size(); }
  diag::SourceSpan LastStore(Slot slot) const { return slots_[slot].last_store; }
  /// Gives a value that has no name yet, and is computed, the name.
  void Name(ir::Value value, std::string_view name);

  /// Constants are folded.
  ir::Value Make(ir::Op op, std::span<const ir::Value> operands) override;
  using ir::Builder::Make;
  ir::Value Cast(ir::Value value, ir::Type to) override;
  ir::Value Not(ir::Value condition);

  /// False after a jump: what is written here never runs.
  bool Reachable() const { return reachable_; }

  /// Opens a scope, which Leave leaves from any depth; its number.
  size_t OpenScope();
  void Leave(size_t scope);
  /// Ends the innermost scope, which begins with the first instruction that may leave it.
  void CloseScope();
  size_t ScopeCount() const { return scopes_.size(); }
  /// Whether one of the open scopes from `first` on may have been left.
  bool MayHaveLeft(size_t first) const;

  void If(ir::Value condition, const std::function<void()>& then, const std::function<void()>& otherwise);
  /// `condition ? yes() : no()`, each computed only where it is chosen, but where that is cheap.
  ir::Value Choose(ir::Value condition, ir::Type type, const std::function<ir::Value()>& yes,
                   const std::function<ir::Value()>& no);

  /// Opens a `for`; the value of its index.
  ir::Value OpenFor(ir::Value lo, ir::Value hi, ir::Value step, ir::Words words);
  /// Opens a `while`: its condition is written next.
  void OpenWhile();
  /// Ends the condition of a `while`; its body is written next. One that does something, or that is `inside`,
  /// becomes the first statement of the body.
  void Test(ir::Value condition, bool inside = false);
  /// Opens a `parallel`; the values of its indices.
  std::vector<ir::Value> OpenParallel(std::span<const ir::Value> bounds);
  /// Leaves the innermost loop, or its iteration.
  void Break() { Jump(ir::Op::Break, {}); }
  void Continue() { Jump(ir::Op::Continue, {}); }
  /// Ends the innermost loop. Its instruction, for attributes.
  ir::Inst Close();
  /// Slots from before the `parallel` just closed that it assigns.
  const std::vector<Slot>& Escaped() const { return escaped_; }
  size_t LoopCount() const { return loops_.size(); }
  /// Regions around.
  size_t Depth() const { return branches_ + loops_.size(); }

 private:
  struct SlotData {
    ir::Type type;
    ir::Value cell;
    uint64_t stored = 0;  ///< when, as clock_ counts
    diag::SourceSpan last_store;
  };
  struct Region {
    ir::Block block;
    std::vector<ir::Value> known;
    bool falls = true;
  };
  struct Scope {
    ir::Block parent, body;
    size_t first = 0;   ///< instructions of the parent when it was opened
    bool ends = false;  ///< it was left outside of branches, loops and other scopes: nothing follows in it
    size_t values = 0;  ///< of the function when it was opened
    uint64_t opened = 0;
    std::vector<ir::Inst> exits;
    diag::SourceSpan span;
  };
  struct Loop {
    ir::Inst inst;
    ir::Block parent;
    uint64_t opened = 0;
    std::vector<ir::Value> known;
  };

  std::pair<Region, Region> WriteSides(const std::function<void()>& then,
                                       const std::function<void()>& otherwise);
  ir::Inst Branch(ir::Value condition, const Region& then, const Region& otherwise);
  void Splice(ir::Block block);
  void Jump(ir::Op op, std::span<const ir::Value> operands);
  void Enter(ir::Inst loop, bool repeats);
  void DropSlots(size_t count);
  bool DoesSomething(const Loop& loop, ir::Block test) const;

  std::vector<SlotData> slots_;
  std::vector<ir::Value> known_;  ///< what a slot holds here; invalid: it has to be loaded
  std::vector<Loop> loops_;
  std::vector<Scope> scopes_;
  std::vector<Slot> escaped_;
  size_t branches_ = 0;
  uint64_t clock_ = 0;  ///< counts stores
  bool reachable_ = true;
};

}  // namespace adc::frontend
