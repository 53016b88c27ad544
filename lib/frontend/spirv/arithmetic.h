#pragma once
// Operations on numbers, vectors and matrices, and on the parts of composite values: those of SPIR-V itself
// and of GLSL.std.450.

#include "frontend/spirv/values.h"

namespace adc::frontend::spirv {

struct Row;

class Arithmetic : public Values {
 protected:
  using Values::Values;
  bool Compute(const Instruction& inst) final { return Composite(inst) || Number(inst); }
  /// False where the operation takes or makes no composite value by its parts.
  bool Composite(const Instruction& inst);
  /// False where the operation is none of arithmetic.
  bool Number(const Instruction& inst);
  /// False where an instruction of GLSL.std.450 gives more than one number or vector, or is not known.
  bool GlslNumber(const Instruction& inst);

 private:
  // composites.cpp
  /// Leaves of a value that indices name, and the first index into a vector or matrix among them.
  struct LeafRange {
    size_t begin = 0, count = 0, next = 0;
  };
  void Extract(const Instruction& inst);
  void Insert(const Instruction& inst);
  void Shuffle(const Instruction& inst);
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
