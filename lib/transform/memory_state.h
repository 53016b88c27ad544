#pragma once
// The facts that a walk in textual order knows about the contents of memory: a version per memory class, and
// the few cells whose values outlive a write to another cell of their class.

#include "analysis/access.h"
#include "transform/value_numbering.h"

namespace adc::transform {

class MemoryState {
  struct Known {
    ir::Inst from, to;
    ir::Value value;
    ir::Block block;
    uint32_t epoch = 0;
  };
  struct ClassState {
    uint32_t version = 0;
    std::vector<Known> known;
  };

 public:
  MemoryState(analysis::AccessFacts& facts, ValueNumbering& numbering);

  /// The value of the cell that source load `from` reads, its base and indices mapped to `cell`; invalid
  /// where it is not known.
  ir::Value Find(ir::Inst from, std::span<const ir::Value> cell);
  /// A source access `from`, written as `to` in the new function, made known that its cell holds `value`.
  void Know(ir::Inst from, ir::Inst to, ir::Value value);
  /// A source access writes its cell; forgets all that may be the same cell.
  void Write(ir::Inst from);
  /// Everything of the class may have changed; of kNoClass, memory that the function does not access, nothing
  /// is known.
  void Clobber(uint32_t memory_class);
  /// Forgets what is known of every class written inside a source instruction.
  void ClobberWrittenIn(ir::Inst control);

  /// The known facts about the classes written inside `control`, to be put back at the start of its other
  /// branch.
  using Snapshot = std::vector<std::pair<uint32_t, ClassState>>;
  Snapshot Save(ir::Inst control) const;
  void Restore(const Snapshot& snapshot);

 private:
  uint32_t VersionOf(ir::Inst access) const;

  static constexpr size_t kMaxKnown = 16;

  analysis::AccessFacts& facts_;
  ValueNumbering& numbering_;
  std::vector<ClassState> classes_;
  uint32_t next_version_ = 1;
};

}  // namespace adc::transform
