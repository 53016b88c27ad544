#pragma once
// An iteration that the threads of a block run together (raise/teams.h).

#include "codegen/llvm/body_part.h"

namespace adc::codegen {

class TeamEmitter : BodyPart {
 public:
  explicit TeamEmitter(const BodyPart& part) : BodyPart(part) {}

  /// Emits the block of a parallel loop whose iteration `size` threads run together.
  void EmitBlock(ir::Block block, uint32_t size);
  /// The same where each lane of the waves has an iteration (common/wave_teams.h); `has`: this lane's is one.
  void EmitBlockOfWaves(ir::Block block, uint32_t size, llvm::Value* has);
  /// Whether the code that is being emitted is that of a team, around loops that are apart.
  bool IsOpen() const { return threads_ != 0; }
  /// Emits the instructions [first, last) of a block there.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Memory of the block of threads that teams take.
  uint32_t SharedBytes() const { return shared_bytes_; }

 private:
  void EmitByFirst(std::span<const ir::Inst> writes);
  void EmitCommonArray(ir::Inst array);
  void EmitApart(ir::Inst inst);
  void EmitShare(ir::Inst inst);
  void Meet();
  template <class Turn>
  llvm::SmallVector<llvm::Value*> EmitTurns(llvm::Value* low, llvm::Value* high,
                                            llvm::ArrayRef<llvm::Value*> starts, Turn turn);
  llvm::SmallVector<llvm::Value*> StartsOf(ir::Inst loop);
  template <class Sum>
  void BindSums(ir::Inst loop, llvm::ArrayRef<llvm::Value*> own, Sum sum);
  llvm::Value* SumOverTeam(ir::Scalar scalar, llvm::Value* mine);
  llvm::Value* SumOverWaves(ir::Scalar scalar, llvm::Value* mine);
  llvm::Value* PlaceOfSum(ir::Scalar scalar, llvm::Value* number);
  llvm::Value* Take(uint32_t bytes);

  uint32_t threads_ = 0;  ///< of the team, around loops that are apart; 0 elsewhere
  bool enters_met_ =
      false;  ///< the team has met where the block that comes next begins, and touched nothing since
  llvm::Value* has_iteration_ = nullptr;  ///< of a team of waves: whether this lane does
  llvm::Value* sums_memory_ = nullptr;    ///< where threads leave sums
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen
