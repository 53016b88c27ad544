#pragma once
// Sums of a worker that runs in step with the other lanes of a wave: lanes that owe the same cell pay
// together.
//
// A sum into one cell is reduced over the wave when the task ends, where all lanes meet again, and one lane
// updates the cell. Gathered sums are paid by the lanes that have come to them together: those with the same
// cell add up first, and one of them makes one atomic update. Neighbouring components of one cell, which are
// summed one after another, are paid as one (adc.pay.<type>.<count>).

#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/sums.h"

namespace adc::codegen {

class LaneSums final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;

 private:
  struct Owed {
    ir::Inst inst;
    uint32_t component = 0;
    llvm::Value* value = nullptr;
  };

  void Flush() override;
  void BeginGathered(const ChunkSums&) override {}
  void AddGathered(ir::Inst inst, uint32_t number) override;
  void EndSum(const Sum& sum) override;
  void EndGathered() override {}
  bool IsNeighbour(ir::Inst inst, uint32_t component) const;
  /// adc.pay.<type>.<count>(address, values): adds the values of the lanes that are here to their cells,
  /// which lie one behind the other from `address` on.
  llvm::Function* PayFunction(ir::Scalar scalar, uint32_t count, llvm::Type* pointer);

  std::vector<Owed> owed_;  ///< components of one cell, to be paid by Flush
};

}  // namespace adc::codegen
