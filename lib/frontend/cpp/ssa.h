#pragma once
// Builds the body of a function in which variables are assigned: structured control on one side, values and
// carried values on the other.
//
// A variable is a slot, whose value in the current block the builder knows. What a branch assigns becomes a
// result of its `if`. A loop gives every slot a carried value when it is opened; when it is closed, those
// that no iteration changes are replaced by what they were before (Braun and others, *Simple and Efficient
// Construction of Static Single Assignment Form*, 2013, for structured control). Nothing is looked at ahead:
// which slots a region assigns shows when it has been built. A `while` whose condition assigns is therefore
// abandoned, and built again in another form.

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "ir/builder.h"

namespace adc::frontend {

using Slot = uint32_t;

class Ssa {
 public:
  Ssa(ir::Module& module, ir::Function& function);

  ir::Builder& builder() { return builder_; }
  ir::Function& function() { return function_; }
  ir::Type TypeOf(ir::Value v) const { return function_.TypeOf(v); }

  Slot NewSlot(ir::Type type, std::string_view name);
  /// The value that the slot has here; zero where none was assigned.
  ir::Value Get(Slot slot);
  void Set(Slot slot, ir::Value value);
  /// How many slots there are here; those of regions that have ended are gone.
  size_t SlotCount() const { return env_.size(); }
  diag::SourceSpan LastStore(Slot slot) const { return slots_[slot].last_store; }
  /// Gives a value that has no name yet, and is computed, the name.
  void Name(ir::Value value, std::string_view name);

  /// Any operation on these operands; constants are folded.
  ir::Value Make(ir::Op op, std::initializer_list<ir::Value> operands);
  ir::Value Cast(ir::Value value, ir::Type to);
  ir::Value Not(ir::Value condition);
  ir::Value Select(ir::Value condition, ir::Value yes, ir::Value no);

  /// False behind a jump: what is built here never runs.
  bool Reachable() const { return reachable_; }

  /// Opens a scope, which Leave leaves from any depth; its number.
  size_t OpenScope();
  void Leave(size_t scope);
  /// Ends the innermost scope: what its ways out assign become its results. It begins with what may leave it.
  void CloseScope();
  size_t ScopeCount() const { return scopes_.size(); }
  /// Whether one of the open scopes from `first` on may have been left.
  bool MayHaveLeft(size_t first) const;

  void If(ir::Value condition, const std::function<void()>& then, const std::function<void()>& otherwise);
  /// `condition ? yes() : no()`, each computed only where it is chosen.
  ir::Value Choose(ir::Value condition, ir::Type type, const std::function<ir::Value()>& yes,
                   const std::function<ir::Value()>& no);

  /// Opens a `for`; the value of its index.
  ir::Value OpenFor(ir::Value lo, ir::Value hi, ir::Value step, ir::Words words);
  /// Opens a `while`: its condition is built next.
  void OpenWhile();
  /// Ends the condition of a `while`; its body is built next. False where the condition assigns a slot, which
  /// a `while` cannot say: the loop has to be abandoned.
  bool Test(ir::Value condition);
  /// Opens a `parallel`; the values of its indices.
  std::vector<ir::Value> OpenParallel(std::span<const ir::Value> bounds);
  /// Leaves the innermost loop, or its iteration.
  void Break();
  void Continue();
  /// Ends the innermost loop. Its instruction, for attributes.
  ir::Inst Close();
  /// Slots that the `parallel` just closed has assigned, and that were made before it.
  const std::vector<Slot>& Escaped() const { return escaped_; }
  /// Forgets the innermost loop and all that was built since it was opened.
  void Abandon();
  /// Calls `visit` on each instruction of the innermost loop built so far.
  void VisitInnermost(const std::function<void(ir::Inst)>& visit) const;
  /// On each instruction inside of `inst`.
  void VisitInside(ir::Inst inst, const std::function<void(ir::Inst)>& visit) const;
  size_t LoopCount() const { return loops_.size(); }
  /// Regions around.
  size_t Depth() const { return branches_.size() + loops_.size(); }

  size_t InstructionCount() const { return function_.InstCount(); }
  ir::Value Resolve(ir::Value v);

  /// The function with replaced values in place and without what nobody reads (tidy.h).
  std::unique_ptr<ir::Function> Finish();

 private:
  struct SlotData {
    ir::Type type;
    StringId name;
    diag::SourceSpan last_store;
  };
  struct Region {
    ir::Block block;
    std::vector<ir::Value> env;
    bool falls = true;
  };
  struct Exit {
    ir::Inst terminator;
    std::vector<ir::Value> env;
  };
  struct Scope {
    ir::Block parent, body;
    size_t first = 0;   ///< instructions of the parent when it was opened
    size_t slots = 0;   ///< that there were where it was left first, outside of branches and loops in it
    bool ends = false;  ///< it was left outside of branches, loops and other scopes: nothing follows in it
    size_t values = 0, branches = 0, loops = 0;  ///< that there were when it was opened
    std::vector<Exit> exits;
    diag::SourceSpan span;
  };
  struct Loop {
    ir::Op op;
    ir::Block parent, test, body;
    size_t parent_size = 0;  ///< instructions of the parent when the loop was opened
    size_t first_inst = 0;   ///< instructions of the function at that time
    std::vector<ir::Value> entry, params, indices, bounds;
    std::vector<Exit> exits;
    ir::Words words;
    diag::SourceSpan span;
  };

  Region Build(const std::function<void()>& build);
  void Join(ir::Value condition, Region then, Region otherwise);
  void Attach(ir::Block block, ir::Inst owner, uint32_t number);
  void Splice(ir::Block block);
  Exit ExitWith(ir::Op op, std::span<const ir::Value> operands, size_t slots);
  void Exits(ir::Op op);
  ir::Value Zero(ir::Type type);
  void Take(ir::Inst inst, std::span<const Slot> slots);
  Loop& OpenLoop(ir::Op op);
  void AddParams(Loop& loop, ir::Block block);
  void RemoveUnchanged(Loop& loop, std::vector<Slot>* carried);

  ir::Module& module_;
  ir::Function& function_;
  ir::Builder builder_;
  std::vector<SlotData> slots_;
  std::vector<ir::Value> env_;
  std::vector<Loop> loops_;
  std::vector<Scope> scopes_;
  std::map<ir::Value, ir::Value> replaced_;
  std::vector<Slot> escaped_;
  std::vector<size_t> branches_;  ///< around: the slots that there were before
  bool reachable_ = true;
};

}  // namespace adc::frontend
