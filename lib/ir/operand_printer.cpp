#include "ir/operand_printer.h"

#include "ir/known.h"
#include "ir/literal_places.h"
#include "ir/module.h"
#include "ir/number.h"

namespace adc::ir {

void OperandPrinter::Symbol(StringId name) {
  out_ += '@';
  out_ += module_.Text(name);
}

void OperandPrinter::Operand(Value v, bool typed) {
  if (!Known(function_, v)) {
    out_ += "%<none>";
    return;
  }
  const ValueData& data = function_[v];
  if (data.kind == ValueKind::Constant) {
    out_ += LiteralText(v);
  } else if (data.kind == ValueKind::Global) {
    if (data.owner < module_.constants.size()) {
      Symbol(module_.constants[data.owner].name);
    } else {
      out_ += "@<none>";
    }
  } else if (names_.Of(v).empty()) {
    out_ += "%<undefined " + std::to_string(v.raw) + ">";
  } else {
    out_ += '%';
    out_ += names_.Of(v);
  }
  if (typed) out_.append(":").append(Spelling(function_.TypeOf(v).scalar));
}

std::string OperandPrinter::LiteralText(Value v) const {
  const ConstantData& constant = function_.ConstantOf(v);
  if (constant.spelling.Valid()) return std::string(module_.Text(constant.spelling));
  return PrintNumber(constant.type.scalar, constant.bits);
}

bool OperandPrinter::IsLiteral(Value v) const {
  return Known(function_, v) && function_.IsConstant(v);
}

void OperandPrinter::Alone(Value v) {
  Operand(v, IsLiteral(v) && DefaultLiteralType(KindOfSpelling(LiteralText(v))) != function_.TypeOf(v));
}

void OperandPrinter::Asked(Value v, Type type) {
  Operand(v, IsLiteral(v) && function_.TypeOf(v) != type);
}

bool OperandPrinter::GroupNeedsType(std::span<const Value> group) const {
  LiteralKind kind = LiteralKind::Integer;
  Type type;
  for (Value v : group) {
    if (!IsLiteral(v)) return false;
    LiteralKind own = KindOfSpelling(LiteralText(v));
    if (own != LiteralKind::Integer) kind = own;
    type = function_.TypeOf(v);
  }
  return !group.empty() && DefaultLiteralType(kind) != type;
}

void OperandPrinter::Range(Value lo, Value hi, bool state_type) {
  Operand(lo, state_type);
  out_ += "..";
  Operand(hi);
}

void OperandPrinter::Field(Value base, uint32_t field) {
  Operand(base);
  if (field == kNoAttr) return;
  out_ += "::";
  Type type = Known(function_, base) ? function_.TypeOf(base) : kNoType;
  if (type.IsLayout() && type.count < module_.layouts.size() &&
      field < module_.layouts[type.count].fields.size()) {
    out_ += module_.Text(module_.layouts[type.count].fields[field].name);
  } else {
    out_ += "<field " + std::to_string(field) + ">";
  }
}

}  // namespace adc::ir
