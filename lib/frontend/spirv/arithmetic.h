#pragma once
// Operations on numbers, vectors and matrices, and on the parts of composite values: those of SPIR-V itself
// and of GLSL.std.450.

#include "frontend/spirv/values.h"

namespace adc::frontend::spirv {

struct Row;

class Arithmetic : public Values {
 protected:
  using Values::Values;
  std::optional<Value> Compute(const Instruction& inst) final {
    std::optional<Value> parts = Composite(inst);
    return parts ? std::move(parts) : Number(inst);
  }
  /// Nothing where the operation takes or makes no composite value by its parts.
  std::optional<Value> Composite(const Instruction& inst);
  /// Nothing where the operation is none of arithmetic.
  std::optional<Value> Number(const Instruction& inst);
  /// Nothing where an instruction of GLSL.std.450 gives more than one number or vector, or is not known.
  std::optional<ir::Value> GlslNumber(const Instruction& inst);

 private:
  // composites.cpp
  /// Leaves of a value that indices name, and the first index into a vector or matrix among them.
  struct LeafRange {
    size_t begin = 0, count = 0, next = 0;
  };
  Value Extract(const Instruction& inst);
  Value Insert(const Instruction& inst);
  Value Shuffle(const Instruction& inst);
  /// Follows the indices from operand `at` on; the operand before is the value that they index.
  LeafRange FollowIndices(const Instruction& inst, size_t at, const Value& whole);
  void CheckComponent(const Instruction& inst, ir::Type type, size_t at);

  // arithmetic.cpp
  /// The row's operation on the instruction's operands from `first` on.
  ir::Value MakeRow(const Row& row, const Instruction& inst, size_t first);
  Value WithHighBits(const Instruction& inst);

  // glsl_numbers.cpp
  std::optional<ir::Value> Geometric(const Instruction& inst);
  std::optional<ir::Value> OfSteps(const Instruction& inst);
  std::optional<ir::Value> OfBits(const Instruction& inst);
};

}  // namespace adc::frontend::spirv
