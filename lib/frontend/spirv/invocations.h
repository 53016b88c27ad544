#pragma once
// The loop over the invocations of a dispatch, the built-in inputs that number them, and what the invocations
// of a subgroup do together.

#include "frontend/spirv/arithmetic.h"
#include "frontend/spirv/subgroups.h"

namespace adc::frontend::spirv {

class Invocations : public Arithmetic {
 protected:
  using Arithmetic::Arithmetic;
  /// Adds a parameter per axis: how many invocations are dispatched.
  void AddParameters();
  /// The loop over the invocations, along three axes (transform/axes.h); or over workgroups, with the
  /// invocations of one as its last axis.
  ir::Inst MakeLoop();
  ir::Value Builtin(uint32_t builtin, const Instruction& inst);
  /// Nothing where the operation is none of subgroups.
  std::optional<Value> SubgroupOperation(const Instruction& inst);

 private:
  /// How many workgroups are dispatched.
  ir::Value GroupsAlong(uint32_t axis);
  ir::Value GroupAxis(uint32_t axis);
  ir::Value LocalAxis(uint32_t axis);
  ir::Value InvocationAxis(uint32_t axis);

  // subgroup_operations.cpp
  SubgroupBuilder Subgroup();
  ir::Value LaneMask(uint32_t builtin);
  ir::Value BallotOf(ir::Value bits);
  std::optional<ir::Value> SubgroupBuiltin(uint32_t builtin);
  std::optional<Value> SubgroupReduction(const Instruction& inst);
  std::optional<Value> BallotOperation(const Instruction& inst);
  std::optional<Value> ShuffleOperation(const Instruction& inst);
  std::optional<Value> OfOneInvocation(const Instruction& inst);

  const bool by_workgroups_ = survey_.by_workgroups();
  const std::array<uint32_t, 3>& local_size_ = survey_.local_size();
  ir::Value invocations_[3];  ///< parameters
  ir::Value index_[3];        ///< of the loop: invocations, or workgroups
  ir::Value local_index_;     ///< of the loop over workgroups: the invocation's in its own
};

}  // namespace adc::frontend::spirv
