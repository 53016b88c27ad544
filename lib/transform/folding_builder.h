#pragma once
// A builder that does not make what it can see through: constants are folded, identities applied. Everything
// that emits arithmetic after parsing uses it, so that `mul %g, 1.0` is never born.

#include "ir/builder.h"
#include "transform/pass.h"

namespace adc::transform {

/// Takes the instructions that a folding builder could not fold.
class PureEmitter {
 public:
  virtual ~PureEmitter() = default;
  /// A value of `op` on `operands`: a new instruction, or one that computes the same and can be seen from
  /// where the builder stands. `attr` is the axis of a shape, the number of a row operation.
  virtual ir::Value EmitPure(ir::Op op, std::span<const ir::Value> operands, ir::Type type, uint32_t attr,
                             diag::SourceSpan span) = 0;
};

/// Make and Cast return an existing value or a literal where the result is known.
///
/// Integers: all identities of wrapping arithmetic; literals move to the right of commutative operations and
/// are gathered over chains of additions. Floats, under FloatRules::Ieee: only what gives the same bits for
/// every operand, signed zeros and NaN included (`x * 1`, `x - 0.0`, `x + -0.0`, `-(-x)`, division by a power
/// of two); `x * 0` and `x - x` stay. Functions that a target rounds in its own way (sin, exp, pow, fma) are
/// not evaluated, nor is anything whose result is NaN, so that the text does not depend on the machine that
/// compiles.
class FoldingBuilder : public ir::Builder {
 public:
  FoldingBuilder(ir::Module& module, ir::Function& function, ir::Block block, FoldConfig config = {})
      : Builder(module, function, block), config_(config) {}

  using Builder::Make;
  ir::Value Make(ir::Op op, std::span<const ir::Value> operands) override;
  ir::Value Cast(ir::Value value, ir::Type to) override;
  /// Bitcast, shape and what else is pure but for its attributes, through the emitter; not folded but for
  /// constants.
  ir::Value MakePure(ir::Op op, std::span<const ir::Value> operands, ir::Type type, uint32_t attr);
  /// From here on `emitter` (null: the block itself) gets what is not folded.
  void SetEmitter(PureEmitter* emitter) { emitter_ = emitter; }

  /// The value of `op` on `operands` if it needs no new instruction, or can be had as another, simpler one,
  /// which is then made. Invalid where Make should go ahead. `op` is pure arithmetic with a determined type.
  ir::Value Fold(ir::Op op, std::span<const ir::Value> operands);

 private:
  ir::Value FoldConstants(ir::Op op, std::span<const ir::Value> operands, ir::Type result);
  ir::Value FoldInteger(ir::Op op, std::span<const ir::Value> operands);
  ir::Value FoldFloat(ir::Op op, std::span<const ir::Value> operands);
  ir::Value FoldBool(ir::Op op, std::span<const ir::Value> operands);
  ir::Value FoldCompare(ir::Op op, std::span<const ir::Value> operands);
  ir::Value FoldSelect(std::span<const ir::Value> operands);
  ir::Value FoldVector(ir::Op op, std::span<const ir::Value> operands);
  /// The defining instruction of `v` where it is an `op`; invalid otherwise.
  ir::Inst Defined(ir::Value v, ir::Op op) const;
  bool IsInt(ir::Value v, int64_t number) const;
  bool IsFloat(ir::Value v, double number) const;

  FoldConfig config_;
  PureEmitter* emitter_ = nullptr;
};

}  // namespace adc::transform
