#include "autodiff/adjoints.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

Value Adjoints::OrZero(uint32_t slot) {
  Value g = Of(slot);
  return g.Valid() ? g : body_.builder.Zero(slots_.TypeOf(slot));
}

void Adjoints::Append(std::span<const uint32_t> slots, std::vector<Value>& adjoints) {
  for (uint32_t slot : slots) adjoints.push_back(OrZero(slot));
}

std::vector<Type> Adjoints::TypesOf(std::span<const uint32_t> slots) const {
  std::vector<Type> types;
  for (uint32_t slot : slots) types.push_back(slots_.TypeOf(slot));
  return types;
}

void Adjoints::Take(std::span<const uint32_t> slots, Inst made, size_t first) {
  for (size_t n = 0; n < slots.size(); ++n)
    Set(slots[n], body_.built.Result(made, static_cast<uint32_t>(first + n)));
}

void Adjoints::Add(uint32_t slot, Value contribution) {
  if (IsZero(contribution)) return;
  contribution = body_.builder.Cast(contribution, slots_.TypeOf(slot));
  bool first = IsZero(Of(slot));
  Value sum = first ? contribution : body_.builder.Make(Op::Add, {Of(slot), contribution});
  Set(slot, sum);
  if (slots_.IsScalarValue(slot) && !first) body_.names.Name(sum, "g", body_.primal, Value(slot));
}

bool Adjoints::IsZero(Value adjoint) const {
  if (!adjoint.Valid()) return true;
  return body_.built.IsConstant(adjoint) && body_.built.ConstantOf(adjoint).bits == 0;
}

}  // namespace adc::autodiff
