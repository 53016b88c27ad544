#pragma once
// Finds the values of a parallel loop's body that are the same in iterations that run side by side.
//
//   parallel %i in 0..%n {
//     %a = load %x[%i]                     varies
//     for %t in 0..%m carry(%v = %a) {     %t is shared: all of them are in the same trip
//       %w = load %table[%t]               shared: %table is not written
//       ...
//
// Iterations side by side differ in the counter of the innermost axis alone. Loops run in step, each lane
// until its own end: a counter that starts from a shared value is shared inside its loop even if the loops
// end at different trips, and so is what counts the trips of a `while`.

#include "analysis/structure.h"
#include "ir/function.h"

namespace adc::analysis {

/// Constant once made; stale after the function is edited.
class Uniform {
 public:
  /// Of the body of `parallel`, or, where that is invalid, of a function all of whose parameters vary.
  Uniform(const ir::Function& function, ir::Inst parallel);

  /// A value that is made outside of the body is shared.
  bool Has(ir::Value value) const { return !varying_.Has(value); }
  /// Whether lanes that enter the loop together leave it together.
  bool EndsTogether(ir::Inst loop) const { return !ragged_.Has(loop); }
  /// Whether lanes that enter a `for` begin it in the same trip: not where it runs backwards from bounds that
  /// differ, down to one that does not.
  bool BeginsTogether(ir::Inst loop) const;

 private:
  void Visit(ir::Block block);
  void VisitInst(ir::Inst inst);
  void VisitLoop(ir::Inst loop);
  void VisitIf(ir::Inst inst);
  void VisitCarried(ir::Inst loop, uint32_t n);
  bool AnyVaries(std::span<const ir::Value> values) const;
  void Vary(ir::Value value) { changed_ = varying_.Insert(value) || changed_; }
  bool IsRead(ir::Inst load) const;

  const ir::Function& function_;
  IndexSet<ir::Value> varying_;
  IndexSet<ir::Inst> ragged_;
  std::vector<ir::Inst> writes_;
  bool changed_ = false;
};

}  // namespace adc::analysis
