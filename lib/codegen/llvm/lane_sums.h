#pragma once
// Sums of a worker that runs in step with the other lanes of a wave: lanes that owe the same cell pay
// together.
//
// A sum into one cell is reduced over the wave when the task ends, where all lanes meet again, and one lane
// updates the cell. A gathered sum is paid at once by the lanes that have come to it together: those with the
// same cell add up first, and one of them makes one atomic update (adc.pay.<type>).

#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/sums.h"

namespace adc::codegen {

class LaneSums final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;

 private:
  void BeginGathered(const ChunkSums&) override {}
  void AddGathered(ir::Inst inst, uint32_t number) override;
  void EndSum(const Sum& sum) override;
  void EndGathered() override {}
  /// adc.pay.<type>(address, value): adds the values of the lanes that are here to their cells.
  llvm::Function* PayFunction(ir::Scalar scalar, llvm::Type* pointer);
};

}  // namespace adc::codegen
