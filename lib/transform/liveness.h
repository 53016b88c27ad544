#pragma once
// The instructions that a function must keep: effects that others can see, and all that they depend on.

#include "ir/function.h"

namespace adc::transform {

/// The live part of a function. Const once made.
///
/// An instruction lives when it has a visible effect (a store to a buffer, an atomic, a report, a call), when
/// a live value is its result, or when it holds something live. Carried values and results of `if` live one
/// by one. A local array or adstack lives when something live reads it; only then do the writes to it. A loop
/// without effects and without live results is dead, but for a `while` that is not known to end.
class Liveness {
 public:
  explicit Liveness(const ir::Function& function);
  bool IsLive(ir::Inst inst) const { return insts_.Has(inst); }
  /// For results and region parameters.
  bool IsLive(ir::Value v) const { return values_.Has(v); }

 private:
  void MarkRoots();
  void Mark(ir::Inst inst);
  void Mark(ir::Value v);
  void Process(ir::Value v);

  const ir::Function& function_;
  IndexSet<ir::Inst> insts_;
  IndexSet<ir::Value> values_;
  std::vector<ir::Value> worklist_;
  SideTable<ir::Value, std::vector<ir::Inst>> writes_of_;  ///< of local arrays and adstacks
};

}  // namespace adc::transform
