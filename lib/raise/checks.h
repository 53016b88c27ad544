#pragma once
// Checks become branches and reports.
//
//   %v = load %x[%i]          ->     %k = cast %i to u64
//                                    %n = cast (shape %x, 0 : i64) to u64
//                                    %v = if (lt %k, %n) guard { %u = load %x[%i]  yield %u }
//                                         else { status.raise access 3  yield 0.0 }
//   assert %c, "text"         ->     if (not %c) { status.raise assertion 0 }
//
// Accesses to one element share a check (access_groups.h), which has the number of the first of them. The
// counter of a loop that ends at the extent needs none. In parallel loops, loops and neighbouring accesses
// are there twice where one check tells that all of their accesses are in range (check_stretches.h):
//
//   for ... { ... load ... }       ->     if (all are in range) { for ... { ... load ... } }
//                                         else { for ... { ... each access with its check ... } }
//
// A report names a check by its number, in the order of the lowered kernel's text, in which the metadata
// lists their places. The passes after this one may change that order.

#include <vector>

#include "ir/function.h"
#include "raise/config.h"

namespace adc::raise {

/// The places that the status block can name. A check of a promise about writes (transform/check_writes.h)
/// counts as an access: the status names what was accessed.
struct KernelChecks {
  std::vector<ir::Inst> asserts;            ///< by number
  std::vector<ir::Inst> accesses;           ///< by number; an Assert with `promise` is one
  SideTable<ir::Inst, uint32_t> number_of;  ///< of an assertion or access, in its list
};

/// The checks of a lowered kernel.
KernelChecks NumberChecks(const ir::Function& kernel);

/// Requires: a kernel of a raised module before all other passes over it. Guarantees: no assertion is left;
/// with RaiseConfig::check_bounds every index of an access that is left is in range. Breaks: nothing.
void RaiseChecks(ir::Module& module, ir::Function& kernel, const RaiseConfig& config);

}  // namespace adc::raise
