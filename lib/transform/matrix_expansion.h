#pragma once
// The formulas of vector and matrix operations, written out in scalars. Matrices are lists of components in
// row-major order. Sums run left to right.

#include "transform/folding_builder.h"

namespace adc::transform {

class MatrixExpansion {
 public:
  using Parts = std::vector<ir::Value>;

  explicit MatrixExpansion(FoldingBuilder& builder) : builder_(builder) {}

  ir::Value Dot(const Parts& a, const Parts& b);
  Parts Cross(const Parts& a, const Parts& b);
  /// sqrt(a . a)
  ir::Value Norm(const Parts& a);
  /// a / sqrt(a . a)
  Parts Normalize(const Parts& a);
  /// (rows x inner) times (inner x columns)
  Parts Product(const Parts& a, const Parts& b, uint32_t rows, uint32_t inner, uint32_t columns);
  Parts Transpose(const Parts& a, uint32_t rows, uint32_t columns);
  Parts Outer(const Parts& a, const Parts& b);
  /// n from 2 to 4.
  ir::Value Determinant(const Parts& a, uint32_t n);
  /// Transposed cofactors times 1 / determinant; n from 2 to 4.
  Parts Inverse(const Parts& a, uint32_t n);

 private:
  ir::Value Mul(ir::Value a, ir::Value b) { return builder_.Make(ir::Op::Mul, {a, b}); }
  ir::Value Add(ir::Value a, ir::Value b) { return builder_.Make(ir::Op::Add, {a, b}); }
  ir::Value Sub(ir::Value a, ir::Value b) { return builder_.Make(ir::Op::Sub, {a, b}); }
  /// a*d - b*c
  ir::Value Minor(ir::Value a, ir::Value b, ir::Value c, ir::Value d) {
    ir::Value main = Mul(a, d), other = Mul(b, c);
    return Sub(main, other);
  }
  /// Transposed matrix of cofactors.
  Parts Adjugate(const Parts& a, uint32_t n);

  FoldingBuilder& builder_;
};

}  // namespace adc::transform
