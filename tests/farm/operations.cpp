// Operands go through what keeps them inside an operation's domain, away from where its derivative is
// infinite; results go through `sin` or a remainder.

#include "operations.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "ir/op.h"

namespace adc::farm {

namespace {

using ir::Op, ir::OpForm, ir::TypeRule;

enum class Domain : uint8_t { Small, Positive, Inside, AboveOne, Wide };

bool IsOneOf(std::initializer_list<Op> operations, Op op) {
  return std::find(operations.begin(), operations.end(), op) != operations.end();
}

Domain DomainOf(Op op) {
  if (IsOneOf({Op::Sqrt, Op::Rsqrt, Op::Rcp, Op::Log, Op::Log2, Op::Log10, Op::Cbrt, Op::Pow, Op::Atan2,
               Op::Hypot, Op::Div, Op::Rem, Op::Mod},
              op))
    return Domain::Positive;
  if (IsOneOf({Op::Asin, Op::Acos, Op::Atanh, Op::Log1p}, op)) return Domain::Inside;
  if (op == Op::Acosh) return Domain::AboveOne;
  return ir::InfoOf(op).derivative == ir::Derivative::Zero ? Domain::Wide : Domain::Small;
}

bool HasKink(Op op) {
  return IsOneOf({Op::Abs, Op::Min, Op::Max, Op::Clamp, Op::Rem, Op::Mod, Op::Copysign, Op::Fdim}, op) ||
         ir::InfoOf(op).derivative == ir::Derivative::Zero;
}

std::string Within(Domain domain, const std::string& value) {
  switch (domain) {
    case Domain::Small:
      return "(sin " + value + ")";
    case Domain::Positive:
      return "(add (mul " + value + ", " + value + "), 0.5)";
    case Domain::Inside:
      return "(mul (tanh " + value + "), 0.875)";
    case Domain::AboveOne:
      return "(add (mul " + value + ", " + value + "), 1.25)";
    case Domain::Wide:
      return "(mul (tanh " + value + "), 3.25)";
  }
  return value;
}

uint32_t OperandCount(OpForm form) {
  if (form == OpForm::Unary) return 1;
  if (form == OpForm::Binary) return 2;
  return form == OpForm::Ternary ? 3 : 0;
}

bool TakesFloats(Op op) {
  TypeRule rule = ir::InfoOf(op).rule;
  return rule == TypeRule::SameFloat || rule == TypeRule::SameNumber || rule == TypeRule::SameNumberScale;
}
bool TakesIntegers(Op op) {
  TypeRule rule = ir::InfoOf(op).rule;
  return rule == TypeRule::SameInteger || rule == TypeRule::SameBits || rule == TypeRule::SameNumber ||
         rule == TypeRule::SameNumberScale;
}

std::vector<Op> OperationsWhere(bool (*takes)(Op)) {
  std::vector<Op> operations;
  for (size_t n = 0; n < std::size(ir::kOpClasses); ++n) {
    Op op = static_cast<Op>(n);
    if (OperandCount(ir::InfoOf(op).form) != 0 && takes(op)) operations.push_back(op);
  }
  return operations;
}

std::string Spelling(Op op) {
  return std::string(ir::InfoOf(op).spelling);
}

std::string Floats(const std::string& scalar, bool smooth, const test::RandomSource& source) {
  static const std::vector<Op> kOperations = OperationsWhere(TakesFloats);
  Op op = kOperations[source.below(static_cast<uint32_t>(kOperations.size()))];
  while (smooth && HasKink(op)) op = kOperations[source.below(static_cast<uint32_t>(kOperations.size()))];
  std::string text = Spelling(op);
  for (uint32_t n = 0; n < OperandCount(ir::InfoOf(op).form); ++n) {
    // Clamp's bounds are in order.
    if (op == Op::Clamp && n > 0) {
      text += n == 1 ? ", -0.75:" + scalar : ", 0.5:" + scalar;
    } else {
      text += (n == 0 ? " " : ", ") + Within(DomainOf(op), source.pick(scalar));
    }
  }
  return "sin (" + text + ")";
}

/// Of any width, with a result that fits all of them.
std::string Integers(const test::RandomSource& source) {
  static const std::vector<Op> kOperations = OperationsWhere(TakesIntegers);
  static const char* const kTypes[] = {"i32", "i64", "u32", "u64", "i8", "u8", "i16", "u16"};
  Op op = kOperations[source.below(static_cast<uint32_t>(kOperations.size()))];
  std::string type = kTypes[source.below(8)], text = Spelling(op);
  for (uint32_t n = 0; n < OperandCount(ir::InfoOf(op).form); ++n) {
    // Small ones and ones of all bits, of a type that no literal leaves open.
    std::string value = source.below(3) == 0 ? "(mul " + source.pick("i32") + ", -1640531535:i32)"
                                             : "(add " + source.pick("i32") + ", 0:i32)";
    text += (n == 0 ? " (cast " : ", (cast ") + value + " to " + type + ")";
  }
  return "cast (rem (cast (" + text + ") to i64), 97) to i32";
}

std::string OfVectors(const std::string& t, const test::RandomSource& source) {
  auto small = [&] { return Within(Domain::Small, source.pick(t)); };
  std::string vector = "(vec.make " + small() + ", " + small() + ", 0.75:" + t + ")";
  std::string pair = "(vec.make " + small() + ", 0.5:" + t + ")";
  std::string matrix = "(mat.make " + Within(Domain::AboveOne, source.pick(t)) + ", (mul " + small() +
                       ", 0.5), " + small() + ", 1.5:" + t + ")";
  std::string column = std::to_string(source.below(2));
  switch (source.below(5)) {
    case 0:
      return "norm " + vector;
    case 1:
      return "sin (mat.get (inverse " + matrix + "), 1, " + column + ")";
    case 2:
      return "mat.get (outer " + vector + ", " + pair + "), 2, " + column;
    case 3:
      return "det (add " + matrix + ", (identity mat<" + t + ", 2, 2>))";
    default:
      return "vec.get (mat.mul (inverse " + matrix + "), " + pair + "), " + column;
  }
}

}  // namespace

test::RandomExpression RandomOperation(const std::string& scalar, bool smooth,
                                       const test::RandomSource& source) {
  static const char* const kClassify[] = {"isnan ", "isinf ", "isfinite "};
  switch (source.below(12)) {
    case 0:
    case 1:
    case 2:
      return {"i32", Integers(source)};
    case 3:
      return {scalar, OfVectors(scalar, source)};
    case 4:
      return {"i1", kClassify[source.below(3)] + Within(Domain::Small, source.pick(scalar))};
    case 5:
      return {scalar, "random " + source.pick("i32") + ", " + source.pick("i32") + " : " + scalar};
    case 6:
      return {scalar, "stop_gradient " + Within(Domain::Small, source.pick(scalar))};
    case 7:
      return {"i32", "bitcast (bitcast (add " + source.pick("i32") + ", 0:i32) to u32) to i32"};
    default:
      return {scalar, Floats(scalar, smooth, source)};
  }
}

}  // namespace adc::farm
