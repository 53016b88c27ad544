#pragma once
// Pointers. None is a value of the IR: it is where an access chain leads, known while the module is read,
// with indices that may be values.

#include "frontend/spirv/invocations.h"

namespace adc::frontend::spirv {

class Pointers : public Invocations {
 protected:
  using Invocations::Invocations;
  Pointer GetPointer(Id id, const Instruction& user);
  [[noreturn]] static void RefuseChosen(const Instruction& user);
  void AccessChain(const Instruction& inst);
  /// Where part `n` of a composite of `type` in memory lies.
  Pointer Inner(const Pointer& pointer, Id type, uint32_t n, const Instruction& inst);

  /// Of an integer: a constant is known.
  Index IndexOf(Id id);
  Index Scale(Index index, int64_t factor);
  Index Sum(Index a, Index b);
  ir::Value ValueOf(const Index& index);

  // pointer_values.cpp
  /// The constant that stands for a pointer to `element` of a buffer.
  ir::Value AddressOf(Resource* resource, Index element);
  /// A pointer made of an address.
  void MakePointer(const Instruction& inst, const Address& address);

 private:
  bool IsSeen(const Pointer& p) const;
  Pointer FollowedAgain(const Instruction& last);
  /// A pointer to a buffer as a value: a constant of the IR, the position here plus one. 0 is none of them.
  struct PointedPlace {
    Resource* resource = nullptr;
    Index element;
    ir::Block block;  ///< where the index is defined
  };
  uint32_t LeavesOf(Id type) const;
  uint32_t MemberAt(Id index, const Instruction& inst);
  Pointer Step(Pointer pointer, Id index, const Instruction& inst);
  Pointer StepLocal(Pointer pointer, Id index, const Instruction& inst);
  bool IsMember(const Pointer& pointer) const;
  void StepToMember(Pointer& pointer, uint32_t member);
  void StepToElement(Pointer& pointer, Index index);
  Pointer PointerOf(ir::Value address, const Instruction& user);

  std::vector<PointedPlace> places_;
};

}  // namespace adc::frontend::spirv
