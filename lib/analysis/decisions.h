#pragma once
// Which instructions decide: about control flow, about addresses, and about which of two derivatives holds.
//
// A kernel, its derivatives and its size kernel each compute their values anew, in different surroundings.
// All of them must take the same branches, run loops equally often, touch the same cells and differentiate
// the side that the value was taken from: an iteration that passes a gate in the gradient and did not when
// its rows were counted has no row; an index that is rounded the other way is another cell, or none. Where
// one of them contracts a product and a sum to an fma, or regroups a sum, and another one does not, a value
// at the border falls to either side. So a value that decides is computed as it is written, in every kernel
// and mode of floats, and only the rest is open to the compiler.
//
//   %p = mul %a, %b                 decides: no part of an fma
//   %g = gt (sub %p, %c), 0.0
//   if %g { %y = add (mul %x, %x), %z  ... }     does not
//
// Two kinds of place decide. *Control and addresses*: conditions, bounds, slots and rows of adstacks, indices
// of every access. *Jumps and kinks*: an operation on floats whose result or derivative is not continuous in
// its operands (IsDecisive; not those with the word `either`, ir/either_side.h), and the operands of an
// atomic that compares. The second kind makes every integer and flag that is computed from floats exact where
// it is made; the walk backwards from the first finds floats that reach one through memory.

#include <unordered_map>
#include <vector>

#include "analysis/structure.h"
#include "ir/function.h"

namespace adc::analysis {

/// True for an operation on floats whose result jumps, or whose derivative does: comparisons, roundings to
/// integral values, remainders, casts and bit casts to integers; min, max, clamp, abs.
bool IsDecisive(const ir::Function& function, ir::Inst inst);

/// The instructions that decide, and what they are computed from through carried values, branches, local
/// memory, adstacks, and what the kernel itself writes into a parameter. Linear time. Stale after the
/// function is edited.
class Decisions {
 public:
  explicit Decisions(const ir::Function& function);

  /// True for an instruction that decides, or that something which decides is computed from.
  bool Has(ir::Inst inst) const { return insts_.Has(inst); }

 private:
  void Visit(ir::Value value);
  void VisitParam(ir::Value value);
  void VisitResult(ir::Value value);
  /// Visits the carried value of a loop in place `number`.
  void VisitCarried(ir::Inst loop, uint32_t number);
  /// All that is written into `container`: a local array, a parameter, an adstack.
  void VisitContent(ir::Value container);
  void VisitRoots(ir::Inst inst);
  void VisitRows(uint32_t stack);

  const ir::Function& function_;
  IndexSet<ir::Inst> insts_;
  IndexSet<ir::Value> seen_;
  std::vector<ir::Value> pending_;
  IndexSet<ir::Value> containers_;                                  ///< whose content was visited
  SideTable<ir::Value, std::vector<ir::Inst>> written_into_;        ///< by container
  std::unordered_map<uint32_t, std::vector<ir::Inst>> row_stores_;  ///< by stack
  std::vector<ir::Value> aliased_;                                  ///< parameters that may overlap
};

}  // namespace adc::analysis
