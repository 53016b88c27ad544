#pragma once
// The common part of the two sweeps of a reverse kernel: making primal values available.

#include <functional>

#include "analysis/loops.h"
#include "autodiff/emitter.h"
#include "autodiff/reverse_analyses.h"

namespace adc::autodiff {

/// A reverse kernel while it is built.
struct ReverseKernel : DerivedBody {
  ReverseKernel(ir::Module& of, const ReverseAnalyses& analyses, diag::Diagnostics& reports,
                DerivedKernel derived, ScopedMap parameters)
      : DerivedBody(of, analyses.kernel, reports, std::move(derived), std::move(parameters)),
        facts(analyses) {}

  const ReverseAnalyses& facts;
};

/// The part of a sweep that is the same in both: making values available.
class Sweep : public Emitter {
 protected:
  explicit Sweep(ReverseKernel& kernel);

  /// Recomputes or loads what is not available and may be.
  ir::Value Provide(ir::Value v) override;
  bool IsAvailable(ir::Value v) const;
  /// A load whose memory the adjoint sweep finds unchanged.
  bool Reloadable(ir::Inst inst) const;
  void Recompute(ir::Inst inst);
  /// Reads what a store has left of `v`.
  void LoadStored(ir::Value v);
  /// The key of what an instruction has beside its results: the trips of a `while`, what a store overwrote.
  uint32_t AuxKey(ir::Inst inst) const;
  /// The number of the iteration of `loop` with the index `index`, from 0.
  ir::Value IterationSlot(ir::Inst loop, ir::Value index);
  /// In the built loop: this is the last iteration, in the order that is `reversed` or not.
  ir::Value IsLast(ir::Inst loop, bool reversed);
  /// The loop over the steps of a segment where `loop` runs over segments; invalid for every other loop.
  ir::Inst StepsOf(ir::Inst loop) const { return analysis::StepsOf(primal_, loop); }
  /// Says of the loop `made` for `loop` that its turns are apart, where those of `loop` are.
  void CopyApart(const ir::InstData& loop, ir::Inst made);
  /// Emits a loop over the elements of a local array.
  void ForEachElement(ir::Value array, const std::function<void(ir::Value index, uint32_t component)>& body);
  /// The slot in which a stack of snapshots of `array` holds a component of an element.
  ir::Value SnapshotSlot(ir::Value array, ir::Value iteration, ir::Value index, uint32_t component);
  /// Refuses the kernel because nothing provides `what`, made at `place`. Gives a value of the type to go on
  /// with.
  ir::Value Unavailable(diag::SourceSpan place, const std::string& what, ir::Type type);

  ReverseKernel& kernel_;
  const RegionTree& tree_;
  const Activity& activity_;
  const AdjointWork& work_;
  const RecordingPlan& plan_;
};

}  // namespace adc::autodiff
