#pragma once
// Which instructions decide about control flow.
//
// A kernel, its gradient and its size kernel each compute their conditions anew, in different surroundings.
// All three must take the same branches and run loops equally often: an iteration that passes a gate in the
// gradient and did not when its rows were counted has no row. Where one of them contracts a product and a sum
// to an fma, or regroups a sum, and another one does not, a value at the border falls to either side. So what
// decides is computed as it is written, in every kernel and mode of floats, and only the rest is open to the
// compiler.
//
//   %p = mul %a, %b                 decides: no part of an fma
//   %g = gt (sub %p, %c), 0.0
//   if %g { %y = add (mul %x, %x), %z  ... }     does not

#include <vector>

#include "analysis/structure.h"
#include "ir/function.h"

namespace adc::analysis {

/// The instructions that conditions of `if` and `while`, bounds of loops, and places in adstacks are computed
/// from, through carried values, branches, local memory, adstacks, and what the kernel itself writes into a
/// parameter. Linear time. Stale after the function is edited.
class Decisions {
 public:
  explicit Decisions(const ir::Function& function);

  /// True for an instruction that something about control flow is computed from.
  bool Has(ir::Inst inst) const { return insts_.Has(inst); }

 private:
  void Visit(ir::Value value);
  void VisitParam(ir::Value value);
  void VisitResult(ir::Value value);
  /// What is carried round a loop in place `number`.
  void VisitCarried(ir::Inst loop, uint32_t number);
  /// All that is written into `container`: a local array, a parameter, an adstack.
  void VisitContent(ir::Value container);
  void VisitRows(ir::Scalar scalar);

  const ir::Function& function_;
  IndexSet<ir::Inst> insts_;
  IndexSet<ir::Value> seen_;
  std::vector<ir::Value> pending_;
  IndexSet<ir::Value> containers_;                            ///< whose content was visited
  SideTable<ir::Value, std::vector<ir::Inst>> written_into_;  ///< by container
  std::vector<ir::Inst> row_stores_;
  uint64_t rows_seen_ = 0;  ///< bit of ir::Scalar: row stores of it were visited
};

}  // namespace adc::analysis
