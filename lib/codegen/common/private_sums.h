#pragma once
// The sums of a thread's own in a parallel loop, as the words `private` and `gathered` have them
// (raise/private_sums.h).

#include <vector>

#include "ir/function.h"
#include "ir/reduction.h"

namespace adc::codegen {

/// The bits of what such a sum starts from, which leaves what it is added to as it is, to the bit.
uint64_t StartOf(ir::Reduction reduction, ir::Scalar scalar);

/// A sum into one cell.
struct PrivateSum {
  ir::Inst first;  ///< the first of its accumulations: says base, indices, field, component
  ir::Reduction reduction = ir::Reduction::Add;
  ir::Scalar scalar = ir::Scalar::F32;  ///< of the total; wider than the cell's for sums of f16
  uint64_t start = 0;                   ///< StartOf
  bool touches =
      false;  ///< the cell may be updated only where something was accumulated: it may not be there
  ir::Op update = ir::Op::AtomicAdd;  ///< the operation that adds the sum to its cell
};

struct PrivateSums {
  std::vector<PrivateSum> sums;
  SideTable<ir::Inst, uint32_t> sum_of{0, ir::kNoAttr};  ///< accumulation -> position in `sums`
  std::vector<ir::Inst> gathered;  ///< one accumulation per buffer or field whose sums are gathered
  SideTable<ir::Inst, uint32_t> gathered_of{0, ir::kNoAttr};  ///< accumulation -> position in `gathered`
};

PrivateSums SumsOf(const ir::Function& kernel, ir::Inst parallel);

}  // namespace adc::codegen
