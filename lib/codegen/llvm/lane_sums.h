#pragma once
// Sums of a worker that runs in step with the other lanes of a wave: warp-aggregated atomics. Lanes that sum
// into the same cell add up before they update it.
//
// A sum into one cell is reduced over the wave when the task ends, where all lanes meet again, then over the
// waves of the block through shared memory, and one thread updates the cell. Gathered sums are flushed by the
// lanes that have come to them together: those with the same cell add up first, and one of them makes one
// atomic update. Neighbouring components of one cell, which are summed one after another, are flushed as one
// (lane_flush.h).

#include <memory>

#include "codegen/llvm/gpu_dialect.h"
#include "codegen/llvm/sums.h"
#include "codegen/llvm/turn_sums.h"

namespace adc::codegen {

class LaneSums final : public SumEmitter {
 public:
  using SumEmitter::SumEmitter;
  uint32_t SharedBytes() const override { return shared_bytes_; }
  llvm::Value* ShareTurns(ir::Inst loop) override;
  llvm::Value* ShareBranch(ir::Inst branch, llvm::Value* condition) override;
  void BeginTurns(ir::Inst loop) override;
  void EndTurn(ir::Inst loop, uint32_t number, uint32_t copies) override;
  void EndTurns() override;
  void AddWhere(llvm::Value* condition) override { adds_where_ = condition; }

 private:
  struct Pending {
    ir::Inst inst;
    uint32_t component = 0;
    llvm::Value* value = nullptr;
  };

  struct Reduced {
    llvm::Value* total = nullptr;
    llvm::Value* touched = nullptr;  ///< i1, or null: the total shows it, or it does not matter
  };

  void Flush() override;
  /// Whether all lanes are there, and have the same values: an i1.
  llvm::Value* AllAgree(const std::vector<ir::Value>& values);
  void BeginGathered(const PrivateSums&) override {}
  void AddGathered(ir::Inst inst, uint32_t number) override;
  void EndSums(const std::vector<Sum>& sums) override;
  void EndGathered() override {}
  /// Over the lanes of the wave, or as many as `lanes`; every lane of the wave runs it.
  Reduced OverLanes(const Sum& sum, Reduced own, uint32_t lanes);
  llvm::Value* TotalOverLanes(Reduction reduction, ir::Scalar scalar, llvm::Value* own, uint32_t lanes);
  /// The sum of whole numbers by the wave's own instruction; null where there is none for them.
  llvm::Value* AddAtOnce(const Sum& sum, llvm::Value* own, uint32_t lanes);
  /// Over the waves of the block. Leaves the builder where the first wave goes on alone, and gives the block
  /// that it must lead to, where all go on; null, and nothing done, where there is one wave or too many sums.
  /// `leads`: this is the first lane of its wave.
  llvm::BasicBlock* OverBlock(const std::vector<Sum>& sums, std::vector<Reduced>& reduced,
                              llvm::Value* leads);
  bool IsNeighbour(ir::Inst inst, uint32_t component) const;

  /// A loop whose turns the lanes share.
  struct OpenTurns {
    ir::Inst loop;
    std::unique_ptr<TurnSums> sums;
  };

  uint32_t shared_bytes_ = 0;
  std::vector<OpenTurns> turns_;  ///< outermost first
  llvm::Value* adds_where_ = nullptr;
  std::vector<Pending> pending_;  ///< components of one cell, for Flush
};

}  // namespace adc::codegen
