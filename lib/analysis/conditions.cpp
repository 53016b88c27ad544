#include "analysis/conditions.h"

#include <algorithm>
#include <array>

namespace adc::analysis {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

/// Conditions inside of conditions; deeper ones say nothing.
constexpr uint32_t kMaxDepth = 16;

bool Collect(const Function& f, Value condition, bool holds, std::vector<Order>& orders, uint32_t depth);

/// `value` is not `holds` wherever `decider` is `taken`.
bool Excludes(const Function& f, Value value, bool holds, Value decider, bool taken, uint32_t depth) {
  if (f.IsConstant(value)) return (f.ConstantOf(value).bits != 0) != holds;
  if (value == decider) return holds != taken;
  // Where it is `holds`, the decider must have gone the other way.
  std::vector<Order> is, other;
  Collect(f, value, holds, is, depth);
  if (!Collect(f, decider, !taken, other, depth) || other.empty()) return false;
  return std::all_of(other.begin(), other.end(),
                     [&](const Order& order) { return std::find(is.begin(), is.end(), order) != is.end(); });
}

/// A condition that is `then` where `decider` holds, and `other` elsewhere. If one of them is never `holds`,
/// the decider has gone the other way.
bool CollectChosen(const Function& f, Value decider, Value then, Value other, bool holds,
                   std::vector<Order>& orders, uint32_t depth) {
  bool takes_then = Excludes(f, other, holds, decider, false, depth);
  if (!takes_then && !Excludes(f, then, holds, decider, true, depth)) return false;
  bool of_decider = Collect(f, decider, takes_then, orders, depth);
  bool of_value = Collect(f, takes_then ? then : other, holds, orders, depth);
  return of_decider && of_value;
}

bool CollectOrder(const Function& f, Inst inst, bool holds, std::vector<Order>& orders) {
  Op op = f[inst].op;
  Value left = f.Operand(inst, 0), right = f.Operand(inst, 1);
  // No order of floats holds where one of them is NaN, nor the opposite.
  if (!f.TypeOf(left).IsInteger() || !f.TypeOf(left).IsScalar()) return false;
  bool strict = op == Op::Lt || op == Op::Gt;
  if (op == Op::Gt || op == Op::Ge) std::swap(left, right);
  if (!holds) {
    std::swap(left, right);
    strict = !strict;
  }
  orders.push_back({left, right, strict});
  return true;
}

bool Collect(const Function& f, Value condition, bool holds, std::vector<Order>& orders, uint32_t depth) {
  Inst inst = f.DefiningInst(condition);
  if (!inst.Valid() || depth >= kMaxDepth || !f.TypeOf(condition).IsBool()) return false;
  auto operand = [&](uint32_t n) { return f.Operand(inst, n); };
  Op op = f[inst].op;
  if (op == Op::Not) return Collect(f, operand(0), !holds, orders, depth + 1);
  if (op == Op::And || op == Op::Or) {
    if (holds != (op == Op::And)) return false;
    bool left = Collect(f, operand(0), holds, orders, depth + 1);
    return Collect(f, operand(1), holds, orders, depth + 1) && left;
  }
  if (op == Op::Select) return CollectChosen(f, operand(0), operand(1), operand(2), holds, orders, depth + 1);
  if (op == Op::If) {
    uint32_t number = condition.raw - f.Result(inst).raw;
    std::array<Value, 2> yielded;
    for (uint32_t region = 0; region < 2; ++region) {
      Inst end = f[inst].regions[region].Valid() ? f.Terminator(f[inst].regions[region]) : Inst();
      if (!end.Valid() || f[end].op != Op::Yield) return false;
      yielded[region] = f.Operand(end, number);
    }
    return CollectChosen(f, operand(0), yielded[0], yielded[1], holds, orders, depth + 1);
  }
  bool compares = op == Op::Lt || op == Op::Le || op == Op::Gt || op == Op::Ge;
  return compares && CollectOrder(f, inst, holds, orders);
}

}  // namespace

bool CollectOrders(const Structure& structure, Inst loop, Value condition, bool holds,
                   std::vector<Order>& orders) {
  const Function& f = structure.function();
  Inst inst = f.DefiningInst(condition);
  bool both = inst.Valid() && f.TypeOf(condition).IsBool() && f[inst].op == (holds ? Op::And : Op::Or);
  if (both) {
    bool left = CollectOrders(structure, loop, f.Operand(inst, 0), holds, orders);
    return CollectOrders(structure, loop, f.Operand(inst, 1), holds, orders) && left;
  }
  // A condition from outside lets all iterations through, or none.
  return Collect(f, condition, holds, orders, 0) || structure.DefinedOutside(condition, loop);
}

}  // namespace adc::analysis
