#pragma once
// Numbers of the places that the status block can name: assertions and memory accesses of a kernel.
//
// A check of `writeonce` counts as an access: the status names what was accessed.
//
// The code generator writes these numbers into the code and the metadata lists the places by number, so both
// take them from here. The order is that of the text, regions included.

#include <vector>

#include "ir/function.h"

namespace adc::codegen {

struct KernelChecks {
  std::vector<ir::Inst> asserts;            ///< by assertion index
  std::vector<ir::Inst> accesses;           ///< by access index; an Assert with kFlagPromise is one
  SideTable<ir::Inst, uint32_t> number_of;  ///< the index of an assertion or access in its list
};

KernelChecks NumberChecks(const ir::Function& kernel);

}  // namespace adc::codegen
