#pragma once
// The table of common subexpressions and invariant code motion: which values exist already and can be seen
// from where the walk stands, and how far out a new one may be computed.

#include "transform/folding_builder.h"

namespace adc::transform {

/// Follows a walk that writes a function, from region to region. Instructions are looked up by what they
/// compute; an entry counts while the block that holds it is open.
class ValueNumbering final : public PureEmitter {
 public:
  /// `before_reverse`: the function will be differentiated in reverse mode (SimplifyConfig).
  explicit ValueNumbering(ir::Function& into, bool before_reverse = false)
      : into_(into), before_reverse_(before_reverse) {}

  /// The walk goes into `block`. `is_loop`: its contents may run many times for one run of the enclosing
  /// block. `reversed_with_outer`: where the enclosing block is differentiated, so are they, at least once.
  void Enter(ir::Block block, bool is_loop, bool reversed_with_outer);
  void Leave();
  /// Forgets what the outermost open block holds: a new task begins, and nothing crosses.
  void ForgetOutermost() { ++outer_epoch_; }

  /// Finds or makes a pure instruction, in the outermost open loop's surroundings that see its operands.
  ir::Value EmitPure(ir::Op op, std::span<const ir::Value> operands, ir::Type type, uint32_t attr,
                     diag::SourceSpan span) override;

  /// The known value of the cell that a load of the new function would read; invalid where it must be made.
  /// `version` counts the writes to its memory.
  ir::Value FindCell(std::span<const ir::Value> base_and_indices, uint32_t field, uint32_t component,
                     uint32_t version);
  /// True when `access` (of the new function) names this cell.
  bool IsCell(ir::Inst access, std::span<const ir::Value> base_and_indices, uint32_t field,
              uint32_t component) const;
  /// `access` (a load or store of the new function, its block open) says what the cell holds: `value`.
  void AddCell(ir::Inst access, ir::Value value, uint32_t version);

  /// Positions of open blocks, outermost first: 0 is the body.
  uint32_t Depth() const { return static_cast<uint32_t>(frames_.size()) - 1; }
  uint32_t DepthOf(ir::Value v) const;
  ir::Block BlockAt(uint32_t depth) const { return frames_[depth].block; }
  bool IsLoopAt(uint32_t depth) const { return frames_[depth].is_loop; }
  /// True while what `block` holds can be seen.
  bool IsVisible(ir::Block block, uint32_t epoch) const;
  uint32_t EpochOf(ir::Block block) const { return block == frames_[0].block ? outer_epoch_ : 0; }
  /// How many values were found instead of made, and made further out than asked for.
  uint64_t Found() const { return found_; }
  uint64_t Hoisted() const { return hoisted_; }

 private:
  struct Frame {
    ir::Block block;
    bool is_loop = false;
    bool reversed_with_outer = false;
  };
  struct Entry {
    uint64_t hash = 0;
    ir::Inst inst;
    ir::Value value;
    ir::Block block;
    uint32_t epoch = 0;
    uint32_t version = 0;
    uint32_t next = UINT32_MAX;
  };

  /// No derivative goes through `v`: it is no float, or made of constants and of what is not differentiable.
  bool IsInert(ir::Value v) const;
  /// An adjoint of 0 gives the operands adjoints of 0, whatever the operands are.
  bool KeepsZeros(ir::Op op, std::span<const ir::Value> operands) const;
  /// The depth at which a new instruction may stand: where the outermost open loop begins that does not hold
  /// its operands.
  uint32_t DepthFor(ir::Op op, std::span<const ir::Value> operands, bool is_inert) const;

  template <class Same>
  ir::Value Find(uint64_t hash, const Same& same);
  void Add(Entry entry);
  void Grow();

  ir::Function& into_;
  bool before_reverse_ = false;
  IndexSet<ir::Value> inert_;  ///< arithmetic on inert values
  std::vector<Frame> frames_;
  std::vector<uint32_t> loop_depths_;  ///< depths of open loop regions, ascending
  SideTable<ir::Block, uint32_t> depth_of_block_;
  IndexSet<ir::Block> open_;
  uint32_t outer_epoch_ = 1;
  std::vector<Entry> entries_;
  std::vector<uint32_t> buckets_;
  uint64_t found_ = 0;
  uint64_t hoisted_ = 0;
};

}  // namespace adc::transform
