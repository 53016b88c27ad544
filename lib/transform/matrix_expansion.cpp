#include "transform/matrix_expansion.h"

namespace adc::transform {

using ir::Op, ir::Type, ir::Value;

Value MatrixExpansion::Dot(const Parts& a, const Parts& b) {
  Value sum = Mul(a[0], b[0]);
  for (size_t k = 1; k < a.size(); ++k) sum = Add(sum, Mul(a[k], b[k]));
  return sum;
}

MatrixExpansion::Parts MatrixExpansion::Cross(const Parts& a, const Parts& b) {
  return {Minor(a[1], a[2], b[1], b[2]), Minor(a[2], a[0], b[2], b[0]), Minor(a[0], a[1], b[0], b[1])};
}

Value MatrixExpansion::Norm(const Parts& a) {
  return builder_.Make(Op::Sqrt, {Dot(a, a)});
}

MatrixExpansion::Parts MatrixExpansion::Normalize(const Parts& a) {
  Value length = Norm(a);
  Parts unit;
  for (Value part : a) unit.push_back(builder_.Make(Op::Div, {part, length}));
  return unit;
}

MatrixExpansion::Parts MatrixExpansion::Product(const Parts& a, const Parts& b, uint32_t rows, uint32_t inner,
                                                uint32_t columns) {
  Parts product;
  for (uint32_t r = 0; r < rows; ++r) {
    for (uint32_t c = 0; c < columns; ++c) {
      Value sum = Mul(a[r * inner], b[c]);
      for (uint32_t k = 1; k < inner; ++k) sum = Add(sum, Mul(a[r * inner + k], b[k * columns + c]));
      product.push_back(sum);
    }
  }
  return product;
}

MatrixExpansion::Parts MatrixExpansion::Transpose(const Parts& a, uint32_t rows, uint32_t columns) {
  Parts transposed;
  for (uint32_t c = 0; c < columns; ++c) {
    for (uint32_t r = 0; r < rows; ++r) transposed.push_back(a[r * columns + c]);
  }
  return transposed;
}

MatrixExpansion::Parts MatrixExpansion::Outer(const Parts& a, const Parts& b) {
  Parts product;
  for (Value left : a) {
    for (Value right : b) product.push_back(Mul(left, right));
  }
  return product;
}

Value MatrixExpansion::Determinant(const Parts& a, uint32_t n) {
  if (n == 2) return Minor(a[0], a[1], a[2], a[3]);
  if (n == 3) {
    Value sum = Mul(a[0], Minor(a[4], a[5], a[7], a[8]));
    sum = Sub(sum, Mul(a[1], Minor(a[3], a[5], a[6], a[8])));
    return Add(sum, Mul(a[2], Minor(a[3], a[4], a[6], a[7])));
  }
  // 4 by 4: the expansion along the first two rows, minors of the upper times minors of the lower half.
  auto upper = [&](uint32_t i, uint32_t j) { return Minor(a[i], a[j], a[4 + i], a[4 + j]); };
  auto lower = [&](uint32_t i, uint32_t j) { return Minor(a[8 + i], a[8 + j], a[12 + i], a[12 + j]); };
  Value sum = Mul(upper(0, 1), lower(2, 3));
  sum = Sub(sum, Mul(upper(0, 2), lower(1, 3)));
  sum = Add(sum, Mul(upper(0, 3), lower(1, 2)));
  sum = Add(sum, Mul(upper(1, 2), lower(0, 3)));
  sum = Sub(sum, Mul(upper(1, 3), lower(0, 2)));
  return Add(sum, Mul(upper(2, 3), lower(0, 1)));
}

MatrixExpansion::Parts MatrixExpansion::Adjugate(const Parts& a, uint32_t n) {
  auto neg = [&](Value v) { return builder_.Make(Op::Neg, {v}); };
  if (n == 2) return {a[3], neg(a[1]), neg(a[2]), a[0]};
  if (n == 3) {
    return {Minor(a[4], a[5], a[7], a[8]), Minor(a[2], a[1], a[8], a[7]), Minor(a[1], a[2], a[4], a[5]),
            Minor(a[5], a[3], a[8], a[6]), Minor(a[0], a[2], a[6], a[8]), Minor(a[2], a[0], a[5], a[3]),
            Minor(a[3], a[4], a[6], a[7]), Minor(a[1], a[0], a[7], a[6]), Minor(a[0], a[1], a[3], a[4])};
  }
  // s: minors of the upper two rows, c: of the lower two; number p stands for columns (0,1) (0,2) (0,3) (1,2)
  // (1,3) (2,3).
  Value s[6], c[6];
  constexpr uint32_t kColumns[6][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
  for (uint32_t p = 0; p < 6; ++p) {
    uint32_t i = kColumns[p][0], j = kColumns[p][1];
    s[p] = Minor(a[i], a[j], a[4 + i], a[4 + j]);
    c[p] = Minor(a[8 + i], a[8 + j], a[12 + i], a[12 + j]);
  }
  // x*u - y*v + z*w
  auto plus = [&](Value x, Value u, Value y, Value v, Value z, Value w) {
    Value first = Mul(x, u), second = Mul(y, v);
    Value difference = Sub(first, second), third = Mul(z, w);
    return Add(difference, third);
  };
  auto minus = [&](Value x, Value u, Value y, Value v, Value z, Value w) {
    return neg(plus(x, u, y, v, z, w));
  };
  return {plus(a[5], c[5], a[6], c[4], a[7], c[3]),     minus(a[1], c[5], a[2], c[4], a[3], c[3]),
          plus(a[13], s[5], a[14], s[4], a[15], s[3]),  minus(a[9], s[5], a[10], s[4], a[11], s[3]),
          minus(a[4], c[5], a[6], c[2], a[7], c[1]),    plus(a[0], c[5], a[2], c[2], a[3], c[1]),
          minus(a[12], s[5], a[14], s[2], a[15], s[1]), plus(a[8], s[5], a[10], s[2], a[11], s[1]),
          plus(a[4], c[4], a[5], c[2], a[7], c[0]),     minus(a[0], c[4], a[1], c[2], a[3], c[0]),
          plus(a[12], s[4], a[13], s[2], a[15], s[0]),  minus(a[8], s[4], a[9], s[2], a[11], s[0]),
          minus(a[4], c[3], a[5], c[1], a[6], c[0]),    plus(a[0], c[3], a[1], c[1], a[2], c[0]),
          minus(a[12], s[3], a[13], s[1], a[14], s[0]), plus(a[8], s[3], a[9], s[1], a[10], s[0])};
}

MatrixExpansion::Parts MatrixExpansion::Inverse(const Parts& a, uint32_t n) {
  Type type = builder_.function().TypeOf(a[0]);
  Value scale = builder_.Make(Op::Div, {builder_.Float(type, 1.0), Determinant(a, n)});
  Parts inverse = Adjugate(a, n);
  for (Value& part : inverse) part = Mul(part, scale);
  return inverse;
}

}  // namespace adc::transform
