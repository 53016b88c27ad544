#pragma once
// Which floats carry a derivative.
//
// *Varied*: may depend on a `diff` input. *Useful*: may reach a `diff` output. *Active*: both. Only an active
// value gets an adjoint; forward mode needs varied alone. Memory is a source of varied and a drain of useful
// where it is differentiable: `diff` buffers and scalars, `diff` fields of layouts, scratch buffers between
// tasks. A local array is active when something varied is stored in it and something useful loaded from it.

#include "analysis/memory.h"
#include "analysis/uses.h"
#include "ir/function.h"

namespace adc::autodiff {

/// The parameters of a kernel that are differentiated.
struct DiffParameters {
  std::vector<bool> is_diff;  ///< per parameter: it has a companion (an adjoint or a tangent)

  /// The parameters that the attributes name: `diff` floats, layouts with a `diff` field, scratch of floats.
  static DiffParameters FromAttributes(const ir::Module& module, const ir::Function& kernel);
};

class Activity {
 public:
  Activity(const ir::Module& module, const ir::Function& function, DiffParameters parameters);

  bool Varied(ir::Value v) const { return varied_.Has(v); }
  bool Useful(ir::Value v) const { return useful_.Has(v); }
  bool Active(ir::Value v) const { return varied_.Has(v) && useful_.Has(v); }
  /// True when parameter number `n` has a companion.
  bool IsDiff(uint32_t n) const { return parameters_.is_diff[n]; }
  /// True when the memory of `base` (a parameter or a local array; `field` of a layout) has adjoint memory.
  bool ActiveMemory(ir::Value base, uint32_t field) const;
  /// The same for tangent memory: varied is enough for a local array.
  bool VariedMemory(ir::Value base, uint32_t field) const;
  /// Active value that `inst` produces in result `n`.
  bool ActiveResult(ir::Inst inst, uint32_t n = 0) const { return Active(function_.Result(inst, n)); }

 private:
  bool DiffParameter(ir::Value base, uint32_t field) const;
  void SpreadVaried();
  void SpreadUseful();

  const ir::Module& module_;
  const ir::Function& function_;
  analysis::Structure structure_;
  DiffParameters parameters_;
  IndexSet<ir::Value> varied_;  ///< values; local arrays by their alloca
  IndexSet<ir::Value> useful_;
};

/// True for an operation through which a float's derivative passes to its result.
bool PassesDerivative(ir::Op op);

}  // namespace adc::autodiff
