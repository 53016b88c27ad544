#pragma once
// A builder of values as SPIR-V has them: operands are checked, and vectors and matrices have parts.

#include <functional>

#include "ir/builder.h"

namespace adc::frontend::spirv {

class KernelBuilder final : public ir::Builder {
 public:
  using ir::Builder::Builder;
  using ir::Builder::I32, ir::Builder::Make;
  ir::Value I32(uint32_t value) { return I32(static_cast<int32_t>(value)); }
  /// Refuses operands that do not fit, which an accepted module does not have.
  ir::Value Make(ir::Op op, std::span<const ir::Value> operands) override;

  ir::Type TypeOf(ir::Value value) const { return function_.TypeOf(value); }
  /// Of a vector; a number is its own component.
  ir::Value ComponentOf(ir::Value vector, uint32_t n);
  ir::Value MakeVector(std::span<const ir::Value> parts);
  /// Of what `of` makes for each number below `count`.
  template <class Of>
  ir::Value VectorOf(uint32_t count, Of&& of) {
    std::vector<ir::Value> parts;
    for (uint32_t n = 0; n < count; ++n) parts.push_back(of(n));
    return MakeVector(parts);
  }
  ir::Value Column(ir::Value matrix, ir::Value column);
  ir::Value Column(ir::Value matrix, uint32_t n) { return Column(matrix, I32(n)); }
  ir::Value MatrixOf(ir::Type type, std::span<const ir::Value> columns);
  /// A vector or matrix of the shape of `like` with the same number everywhere.
  ir::Value Splat(ir::Value scalar, ir::Type like);
  ir::Value FloatLike(ir::Value like, double value);
  ir::Value IntLike(ir::Type like, int64_t value) { return Splat(Int(like.ScalarType(), value), like); }
  ir::Value Scaled(ir::Value value, double factor);
  /// The same bits without a sign.
  ir::Value Unsigned(ir::Value value);
  /// The value of one of two regions: the first runs if `condition` holds, else the second.
  ir::Value Choose(ir::Value condition, ir::Type type, const std::function<ir::Value()>& first,
                   const std::function<ir::Value()>& second);
  /// Runs the operations that `body` writes if `condition` is `holds`.
  void When(ir::Value condition, const std::function<void()>& body, bool holds = true);
  /// Ends a region that nothing has ended.
  void Close(ir::Block region);
  /// Ends both arms of an `if`.
  void CloseArms(ir::Inst branch);
};

}  // namespace adc::frontend::spirv
