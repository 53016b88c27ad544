#pragma once
// An iteration that the threads of a workgroup run together (raise/teams.h).

#include "codegen/spirv/body_part.h"

namespace adc::codegen::spirv {

class TeamEmitter : BodyPart {
 public:
  explicit TeamEmitter(const BodyPart& part) : BodyPart(part) {}

  /// Emits the block of a parallel loop whose iteration `size` threads run together; with `shares` as many
  /// iterations as these have lanes.
  void EmitBlock(ir::Block block, uint32_t size, const Shares* shares = nullptr);
  /// Emits the instructions [first, last) of a block, around loops that are apart.
  void EmitRange(ir::Block block, uint32_t first, uint32_t last);
  /// Whether the code of a task may have shares: where control flow in a turn were in step, threads of two
  /// shares would go different ways in it.
  bool MayShare(ir::Inst parallel) const;
  /// Memory of the workgroup for sums of a team.
  uint32_t SharedBytes() const { return shared_bytes_; }

 private:
  void EmitByFirst(std::span<const ir::Inst> writes);
  void EmitCommonArray(ir::Inst array);
  void EmitApart(ir::Inst inst);
  std::vector<Id> EmitShare(ir::Inst inst, std::span<const ir::Scalar> scalars);
  std::vector<Id> EmitTurnsApart(ir::Inst inst, std::span<const ir::Scalar> scalars);
  void Meet();
  template <class Turn>
  void EmitTurns(Id low, Id high, uint32_t width, Turn turn, std::span<OpenPhi> sums = {},
                 std::span<const ir::Scalar> scalars = {});
  Id SumsOf(Id type);
  Id SumOverTeam(ir::Scalar scalar, Id mine);
  Id SumOverShares(ir::Scalar scalar, Id mine);

  bool enters_met_ =
      false;  ///< the team has met where the block that comes next begins, and touched nothing since
  std::map<Id, Id> sums_;  ///< where threads leave sums, by type
  uint32_t shared_bytes_ = 0;
};

}  // namespace adc::codegen::spirv
