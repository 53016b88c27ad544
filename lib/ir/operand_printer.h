#pragma once
// Operands as text: values, literals, fields, ranges.
//
// A literal shows its type (`1.0:f64`) only where its place would not give it back (literal_places.h).

#include <span>
#include <string>

#include "ir/function.h"
#include "ir/shown_names.h"

namespace adc::ir {

/// Appends to a text. A value that does not exist in a broken function is shown as such (`%<none>`).
class OperandPrinter {
 public:
  /// All must outlive this.
  OperandPrinter(const Module& module, const Function& function, const ShownNames& names, std::string& out)
      : module_(module), function_(function), names_(names), out_(out) {}

  void Symbol(StringId name);
  /// A value, or a literal; `typed`: with its type.
  void Operand(Value v, bool typed = false);
  /// A literal that nothing gives a type to.
  void Alone(Value v);
  /// A literal whose place gives it `type`.
  void Asked(Value v, Type type);
  /// `lo..hi`, with the type stated where two literals would read back with another one.
  void Range(Value lo, Value hi, bool state_type);
  /// An access base, and which field of a layout: `%grid::mass`.
  void Field(Value base, uint32_t field);

  bool IsLiteral(Value v) const;
  /// Whether the literals of a group would read back with another type.
  bool GroupNeedsType(std::span<const Value> group) const;

 private:
  std::string LiteralText(Value v) const;

  const Module& module_;
  const Function& function_;
  const ShownNames& names_;
  std::string& out_;
};

}  // namespace adc::ir
