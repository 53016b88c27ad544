#pragma once
// Atomic updates of one element, in the way that the device has (AtomicWay). They are relaxed: a task orders
// only its end.

#include "codegen/spirv/environment.h"

namespace adc::codegen::spirv {

class AtomicEmitter {
 public:
  AtomicEmitter(FunctionBuilder& builder, ScalarEmitter& scalars)
      : m_(builder.module()), f_(builder), scalars_(scalars) {}

  /// The new value of an update.
  Id Combine(ir::Op op, ir::Scalar scalar, Id old, std::span<const Id> operands);
  /// Updates the element at `place`, seen as words or, for FloatAdd, as floats. Gives the value that was
  /// there before.
  Id Update(AtomicWay way, const Place& place, ir::Scalar scalar, ir::Op op, std::span<const Id> operands);
  /// Loop, of an element to which its task adds and with which it does nothing else. `keep_bindings`: the
  /// constants that are specialized are those of a shader.
  void Add(const Place& place, ir::Scalar scalar, ir::Op op, Id value, bool keep_bindings);
  /// SubWord: the element lies `shift` bits above the lowest of the word at `place`.
  Id UpdateInWord(const Place& place, Id shift, ir::Scalar scalar, ir::Op op, std::span<const Id> operands);
  /// Count: adds to the 64 bits of two words, or raises them.
  void UpdateCount(const Place& low_half, const Place& high_half, ir::Op op, Id value);

 private:
  Id WordUpdate(const Place& place, ir::Scalar scalar, ir::Op op, std::span<const Id> operands);
  Id FloatAdd(const Place& place, ir::Scalar scalar, ir::Op op, Id value);
  /// The bits of the sum of a value and the one whose bits are `word`.
  Id SumWith(ir::Scalar scalar, Id word, Id value);
  void AddByExchange(const Place& place, ir::Scalar scalar, Id value);
  /// Reads the word at `place`, replaces it by `next(word)`, until no other thread has changed it in between.
  /// The old word.
  template <class Next>
  Id Retry(const Place& place, Next next);

  ModuleBuilder& m_;
  FunctionBuilder& f_;
  ScalarEmitter& scalars_;
};

}  // namespace adc::codegen::spirv
