#include "autodiff/adjoint_slots.h"

#include "autodiff/rules.h"

namespace adc::autodiff {

using ir::Type, ir::Value;

AdjointSlots::AdjointSlots(const ir::Function& primal)
    : primal_(primal), vector_slot_(primal.ValueCount(), 0) {
  for (uint32_t n = 0; n < primal.ValueCount(); ++n) {
    Type type = primal.TypeOf(Value(n));
    if (!type.IsFloat() || type.IsScalar()) continue;
    vector_slot_[n] = Count();
    extra_types_.insert(extra_types_.end(), type.Components(), AdjointType(type.ScalarType()));
  }
}

Type AdjointSlots::TypeOf(uint32_t slot) const {
  return IsScalarValue(slot) ? AdjointType(primal_.TypeOf(Value(slot)).ScalarType())
                             : extra_types_[slot - primal_.ValueCount()];
}

uint32_t AdjointSlots::Add(Type type) {
  extra_types_.push_back(type);
  return Count() - 1;
}

}  // namespace adc::autodiff
