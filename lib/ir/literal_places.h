#pragma once
// The place from which a literal gets its type. The parser resolves literals by this table and the printer
// leaves a stated type (`1.0:f64`) away wherever the table gives it back, so that text and IR stay one to
// one.

#include "ir/op.h"

namespace adc::ir {

enum class LiteralPlace : uint8_t {
  Group,      ///< as the other operands of the group; i32 or f32 where none has a type
  Alone,      ///< nothing asks: i32 or f32
  Component,  ///< the scalar type of operand 0
  Condition,  ///< i1
  Wide,       ///< i64
};

/// The place of operand `position` of an operation that is written as a plain list of operands.
constexpr LiteralPlace PlaceOfOperand(Op op, uint32_t position) {
  if (op == Op::Select) return position == 0 ? LiteralPlace::Condition : LiteralPlace::Group;
  if (op == Op::VecGet || op == Op::MatGet) return position == 0 ? LiteralPlace::Group : LiteralPlace::Alone;
  if (op == Op::VecSet) return position == 1 ? LiteralPlace::Alone : LiteralPlace::Component;
  return LiteralPlace::Group;
}

enum class LiteralKind : uint8_t { Integer, Float, Bool };

/// How the spelling of a literal reads: `1`, `0x1F` are integers; `1.0`, `1e3`, `0x1p3`, `inf`, `nan` floats.
LiteralKind KindOfSpelling(std::string_view spelling);
/// The type of a literal, or of a group of literals, that nothing asks for: a float among them makes it f32.
constexpr Type DefaultLiteralType(LiteralKind kind) {
  return kind == LiteralKind::Bool ? kI1 : kind == LiteralKind::Float ? kF32 : kI32;
}

}  // namespace adc::ir
