#pragma once
// Which accesses can meet in one cell: within one iteration, across the iterations of a loop, and over the
// whole kernel. The ground that accumulation without atomics, refusal of overwritten reads, and forwarding of
// stores stand on. Every "true" is proved, or promised (`disjoint`); "false" means neither. Proofs take it
// that indices of executed accesses are in range, which they are in a program without errors; none takes it
// that arithmetic does not wrap.

#include "analysis/conditions.h"
#include "analysis/determined.h"
#include "analysis/digits.h"
#include "analysis/memory.h"
#include "analysis/tasks.h"

namespace adc::analysis {

enum class Relation : uint8_t {
  Same,      ///< provably the same cell
  Distinct,  ///< provably different cells
  Unknown,
};

/// Facts about the accesses of one function. Made once; stale after the function is edited.
class AccessFacts {
 public:
  AccessFacts(const ir::Module& module, const ir::Function& function, IndexWidths widths = {});

  const Structure& structure() const { return structure_; }
  const MemoryClasses& memory() const { return memory_; }
  AffineForms& forms() { return forms_; }

  /// Position in TasksOf of the task that holds `inst`; kNoAttr outside of every task (and in a func).
  uint32_t TaskOf(ir::Inst inst) const;

  /// The cells of two accesses for the *same values* of all SSA values: in one iteration of every loop around
  /// either. Accesses of different memory classes are Distinct; components of one element are too.
  Relation SameIteration(ir::Inst a, ir::Inst b);

  /// True when the cell of `a` in one iteration of `loop` (for, parallel, parallel over; it holds both) is
  /// never the cell of `b` in a different iteration of the same execution of `loop`, whatever the loops
  /// inside `loop` do. Values from outside of `loop` are the same in both. Not proved for `while`.
  bool DistinctAcross(ir::Inst loop, ir::Inst a, ir::Inst b);
  /// True when `read`, in an iteration of the parallel `loop`, reads what `write` writes in another one, a
  /// fixed number of iterations away, provided that both iterations run and no gate but an interval of
  /// indices leaves them out: `x[i - 1]` where `x[i]` is written. False: not proved.
  bool MeetsElsewhere(ir::Inst loop, ir::Inst read, ir::Inst write);
  /// At most one iteration along an axis of the loop.
  bool RunsOnce(ir::Inst loop, uint32_t axis);
  /// True when every iteration of `loop`, which holds `access`, executes it.
  bool Everywhere(ir::Inst loop, ir::Inst access) { return GateOf(loop, access).Always(); }
  /// False when the cell that `read` reads provably does not change afterwards through `write`: not later in
  /// its iteration, not in a later iteration of a loop around both, not in another iteration of the parallel
  /// that holds both, not in a later task. Looks at cells, not at the values written. Of `settled` and
  /// `writeonce` no more than `disjoint` is looked at.
  bool MayOverwriteLater(ir::Inst read, ir::Inst write);
  /// False when `write` in one iteration of the top-level parallel around both provably never touches the
  /// cell that `read` reads in a different one. False as well outside of a common parallel.
  bool MayRace(ir::Inst read, ir::Inst write);

  /// True when index number `axis` of the access provably lies inside its extent: a constant, or the index of
  /// a loop that runs from 0 (or a constant above) to that extent.
  bool InRange(ir::Inst access, uint32_t axis);
  /// InRange for every axis (true for rank 0).
  bool AllInRange(ir::Inst access);

 private:
  /// Both accesses, one of which writes, are of one parameter whose iterations of the parallel `loop` do not
  /// meet: a promise.
  bool IsPromised(ir::Inst loop, ir::Inst a, ir::Inst b) const;
  /// True when the cell of `read` in one iteration of `loop`, a `for`, is never the cell of `write` in a
  /// later one, as that of `y[t - 1]` where `y[t]` is written. Both stand in `loop`.
  bool BehindLater(ir::Inst loop, ir::Inst read, ir::Inst write);
  /// The branches around an access inside a loop.
  struct Gate {
    bool open = true;  ///< the access is executed wherever `indices` lie in one interval each
    std::vector<ir::Value> indices;
    std::vector<std::pair<ir::Inst, uint32_t>> branches;  ///< and the region that holds the access
    std::vector<std::pair<ir::Value, ir::Value>> fixed;  ///< a value, and one from outside that fixes it here
    std::vector<Order> orders;                           ///< true wherever the access is executed
    std::vector<Limit> limits;                           ///< of `orders`
    bool from_begin = true;  ///< no interval leaves out the first values of its index
    bool IsPartOf(const Gate& other) const;
    bool Always() const { return open && indices.empty(); }
  };
  /// An index of a loop taken apart.
  struct Parts;
  Gate GateOf(ir::Inst loop, ir::Inst access);
  /// Adds the interval of an index, of a loop in or around `loop`, in which `order` holds; false if `order`
  /// is no such interval.
  bool AddInterval(ir::Inst loop, const Order& order, Gate& gate);
  /// Adds what is equal to values from outside of `loop` wherever `condition` is `holds`.
  void CollectFixed(ir::Inst loop, ir::Value condition, bool holds, Gate& gate) const;
  /// Adds what an order leaves no number but 0.
  void CollectZero(const Order& order, Gate& gate);
  /// The end of a loop from `lo` to `hi` without guards: where `hi` is a select between an end and `lo`,
  /// there are no iterations, or those up to that end (transform/guard_tasks.h makes such loops).
  ir::Value EndBehindGuard(ir::Value lo, ir::Value hi);
  /// The value that a widened index has before it is widened.
  ir::Value Unwidened(ir::Value index) const;
  /// True when all that the term multiplies is from outside of `loop`.
  bool IsUniform(const AffineTerm& term, ir::Inst loop) const;
  /// Modulo what the polynomials of two indices say their difference.
  IndexWord CommonWord(ir::Value index_a, ir::Value index_b);
  /// The polynomial of `v` is its value over the integers.
  bool IsExact(ir::Value v);
  void BoundByConstant(Digit& digit, int64_t count) const;
  /// Finds the interval of a digit's values: false where its bounds are not those of a counting loop, or are
  /// not the same in every iteration of `loop`.
  Wide MostOf(ir::Value v, Wide most) const;
  bool BoundDigit(ir::Inst loop, uint32_t word_bits, Digit& digit);
  bool TakeApart(ir::Inst loop, uint32_t word_bits, std::span<const ir::Value> own, const AffineForm& form,
                 Parts& parts);
  bool TuplesDistinct(ir::Inst loop, ir::Inst a, ir::Inst b);
  /// Values that are not zero wherever `access` is executed.
  std::vector<ir::Value> NonzeroAt(ir::Inst loop, ir::Inst access, const Gate& gate);
  bool AreNonzero(ir::Inst loop, ir::Inst access, const Gate& gate, std::span<const ir::Value> radices);
  /// The value that an index is widened from, which two iterations have in common as well.
  CommonIndex Narrowed(ir::Value& index) const;
  /// Adds what the axes determine together.
  void DecodeTogether(ir::Inst loop, ir::Inst a, ir::Inst b, const Gate& gate_a, const Gate& gate_b,
                      std::vector<ir::Value>& decoded);
  void Decode(ir::Inst loop, ir::Value index_a, ir::Value index_b, const Gate& gate_a, const Gate& gate_b,
              std::vector<ir::Value>& decoded);

  const ir::Module* module_;
  const ir::Function* function_;
  Structure structure_;
  MemoryClasses memory_;
  AffineForms forms_;
  QuotientForms quotients_;
  std::vector<Task> tasks_;
};

}  // namespace adc::analysis
