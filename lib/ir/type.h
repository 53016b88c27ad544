#pragma once
// Types are eight-byte values: no table, no pointer, compared bit by bit.

#include <cstdint>
#include <string>

#include "support/index.h"

namespace adc::ir {

enum class Scalar : uint8_t { I1, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64 };

constexpr bool IsFloat(Scalar s) {
  return s >= Scalar::F16;
}
constexpr bool IsSigned(Scalar s) {
  return s >= Scalar::I8 && s <= Scalar::I64;
}
constexpr bool IsUnsigned(Scalar s) {
  return s >= Scalar::U8 && s <= Scalar::U64;
}
/// i8 to u64; not i1.
constexpr bool IsInteger(Scalar s) {
  return IsSigned(s) || IsUnsigned(s);
}
/// Width of the value in bits; 1 for i1.
constexpr uint32_t BitWidth(Scalar s) {
  constexpr uint8_t kBits[] = {1, 8, 16, 32, 64, 8, 16, 32, 64, 16, 32, 64};
  return kBits[static_cast<uint8_t>(s)];
}
/// Bytes in memory; i1 takes one byte.
constexpr uint32_t ByteSize(Scalar s) {
  return s == Scalar::I1 ? 1 : BitWidth(s) / 8;
}
/// The integer of 8, 16 or 32 bits, or else of 64.
constexpr Scalar IntegerOf(uint32_t width, bool is_signed) {
  using enum Scalar;
  switch (width) {
    case 8:
      return is_signed ? I8 : U8;
    case 16:
      return is_signed ? I16 : U16;
    case 32:
      return is_signed ? I32 : U32;
    default:
      return is_signed ? I64 : U64;
  }
}
const char* Spelling(Scalar s);

enum class TypeKind : uint8_t {
  None,    ///< no value
  Scalar,  ///< `f32`
  Vec,     ///< `vec<f32, 3>`: rows = 3, columns = 0
  Mat,     ///< `mat<f32, 2, 3>`: rows = 2, columns = 3; components in row-major order
  Array,   ///< `array<elem, count>`, of `alloca`, or a module constant
  Buffer,  ///< `buffer<elem, rank>`: count = rank
  Layout,  ///< `@layout`: count = index in Module::layouts
  Stack,   ///< adstack of scalars, of `stack.new`
  Label,   ///< name of a scope, which `exit` takes
};

struct Type {
  TypeKind kind = TypeKind::None;
  Scalar scalar = Scalar::F32;  ///< of the element for containers
  uint8_t rows = 0;             ///< of a vector or matrix, or of the element; 0: scalar
  uint8_t columns = 0;          ///< of a matrix, or of the element; 0: not a matrix
  uint32_t count = 0;           ///< array: length; buffer: rank; layout: index

  friend constexpr bool operator==(const Type&, const Type&) = default;

  static constexpr Type Of(Scalar s) { return {TypeKind::Scalar, s, 0, 0, 0}; }
  static constexpr Type Vec(Scalar s, uint32_t n) {
    return {TypeKind::Vec, s, static_cast<uint8_t>(n), 0, 0};
  }
  static constexpr Type Mat(Scalar s, uint32_t r, uint32_t c) {
    return {TypeKind::Mat, s, static_cast<uint8_t>(r), static_cast<uint8_t>(c), 0};
  }
  /// `element` is a scalar, vector or matrix.
  static constexpr Type Array(Type element, uint32_t length) {
    return {TypeKind::Array, element.scalar, element.rows, element.columns, length};
  }
  static constexpr Type Buffer(Type element, uint32_t rank) {
    return {TypeKind::Buffer, element.scalar, element.rows, element.columns, rank};
  }
  static constexpr Type LayoutOf(uint32_t index) { return {TypeKind::Layout, Scalar::F32, 0, 0, index}; }
  static constexpr Type Stack(Scalar s) { return {TypeKind::Stack, s, 0, 0, 0}; }

  constexpr bool IsNone() const { return kind == TypeKind::None; }
  constexpr bool IsScalar() const { return kind == TypeKind::Scalar; }
  constexpr bool IsVec() const { return kind == TypeKind::Vec; }
  constexpr bool IsMat() const { return kind == TypeKind::Mat; }
  constexpr bool IsBuffer() const { return kind == TypeKind::Buffer; }
  constexpr bool IsArray() const { return kind == TypeKind::Array; }
  constexpr bool IsLayout() const { return kind == TypeKind::Layout; }
  constexpr bool IsStack() const { return kind == TypeKind::Stack; }
  /// Scalar, vector or matrix: something a register holds.
  constexpr bool IsRegister() const { return kind >= TypeKind::Scalar && kind <= TypeKind::Mat; }
  constexpr bool IsFloat() const { return IsRegister() && ir::IsFloat(scalar); }
  constexpr bool IsInteger() const { return IsRegister() && ir::IsInteger(scalar); }
  constexpr bool IsBool() const { return IsRegister() && scalar == Scalar::I1; }
  constexpr bool Is(Scalar s) const { return IsScalar() && scalar == s; }
  /// i32 or i64: the types of an index, a bound or an extent.
  constexpr bool IsIndex() const { return Is(Scalar::I32) || Is(Scalar::I64); }
  /// Components of a register type or of a container's element: 1, N, or R*C.
  constexpr uint32_t Components() const { return (rows ? rows : 1u) * (columns ? columns : 1u); }
  /// The element type of a container; of a vector or matrix its scalar; of a scalar itself.
  constexpr Type Element() const {
    if (kind == TypeKind::Vec || kind == TypeKind::Mat || kind == TypeKind::Scalar || kind == TypeKind::Stack)
      return Of(scalar);
    if (rows == 0) return Of(scalar);
    return columns == 0 ? Vec(scalar, rows) : Mat(scalar, rows, columns);
  }
  constexpr Type ScalarType() const { return Of(scalar); }
  /// The same shape with another scalar: `vec<f32, 3>` to `vec<i1, 3>`.
  constexpr Type WithScalar(Scalar s) const {
    Type t = *this;
    t.scalar = s;
    return t;
  }
  /// Bytes of one element in memory, packed as in C.
  constexpr uint32_t ElementBytes() const { return ByteSize(scalar) * Components(); }
};

inline constexpr Type kNoType{};
inline constexpr Type kLabel{TypeKind::Label};
inline constexpr Type kI1 = Type::Of(Scalar::I1);
inline constexpr Type kI32 = Type::Of(Scalar::I32);
inline constexpr Type kI64 = Type::Of(Scalar::I64);
inline constexpr Type kU32 = Type::Of(Scalar::U32);
inline constexpr Type kF32 = Type::Of(Scalar::F32);
inline constexpr Type kF64 = Type::Of(Scalar::F64);

inline constexpr uint32_t kMaxVector = 16;
inline constexpr uint32_t kMaxRank = 8;
/// Depth to which regions, parenthesised operands and layout trees may nest.
inline constexpr uint32_t kMaxNesting = 256;

}  // namespace adc::ir
