#pragma once
// Which instructions of a parallel loop's body all threads of a workgroup run in step.
//
//   parallel %i in 0..%n {              in step: while some thread of the workgroup has an iteration
//     %g = load %y.adj[%i]                where the thread has one
//     for %j in 0..32 {                 in step: the bounds are the same in all threads
//       %w = load %x[%i, %j]              where the thread has an iteration
//       %c = gt %w, 0.0
//       if %c {                         in step: both ways are run by all threads
//         %p = mul %g, %w                 where it has one, and the condition holds
//         add_to %a.adj[%j], %p         in step, from the threads where it is made
//       }
//     }
//   }
//
// Operations of a subgroup are right where all threads of a workgroup come to them together, and nowhere
// else: after a branch or a loop that a part of the threads took, a device may run them by parts. (One,
// NVIDIA's with driver 580, joined the threads that had left a loop in different turns, and their sums went
// to one cell.) So sums of several threads into one cell (raise/private_sums.h: `gathered`) are made in step,
// and the control flow around them with them. A loop whose length differs from thread to thread is not run in
// step, and each thread makes the sums in it by itself.

#include "codegen/common/private_sums.h"
#include "ir/function.h"

namespace adc::codegen::spirv {

class InStep {
 public:
  /// Nothing is in step.
  InStep() = default;
  /// `can_add`: whether values of a type can be added up over a subgroup.
  InStep(const ir::Function& kernel, ir::Inst parallel, const PrivateSums& sums, bool (*can_add)(ir::Scalar));

  /// Whether threads without an iteration may do `op` as well, on whatever they have.
  static bool IsFree(ir::Op op);
  bool Any() const { return any_; }
  /// A sum, loop or branch that is run in step.
  bool Has(ir::Inst inst) const { return in_step_.Has(inst); }
  /// Whether a value is the same number in all threads that are in step, those without an iteration included.
  bool IsShared(ir::Value value) const;
  /// Whether all iterations in step sum into one cell.
  bool IntoOneCell(ir::Inst sum) const;
  /// Sums into neighbouring components of an element, from `position` on and before `last`.
  std::vector<ir::Inst> SumsFrom(ir::Block block, uint32_t position, uint32_t last) const;

 private:
  bool Find(ir::Block block);
  bool FindIn(ir::Inst inst);

  const ir::Function* kernel_ = nullptr;
  const PrivateSums* sums_ = nullptr;
  bool (*can_add_)(ir::Scalar) = nullptr;
  bool any_ = false;
  IndexSet<ir::Inst> in_step_;
  IndexSet<ir::Block> inside_;
  IndexSet<ir::Value> shared_;
};

}  // namespace adc::codegen::spirv
