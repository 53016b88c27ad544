#pragma once
// Slots of adjoints, or of tangents: a scalar value of the primal has one, a vector or matrix one per
// component, and a sum of updates that is held in a register (held_updates.h) one more.

#include <vector>

#include "ir/function.h"

namespace adc::autodiff {

class AdjointSlots {
 public:
  explicit AdjointSlots(const ir::Function& primal);

  uint32_t Of(ir::Value v, uint32_t component = 0) const {
    return primal_.TypeOf(v).IsScalar() ? v.raw : vector_slot_[v.raw] + component;
  }
  uint32_t CountOf(ir::Value v) const { return primal_.TypeOf(v).Components(); }
  uint32_t Count() const { return static_cast<uint32_t>(primal_.ValueCount() + extra_types_.size()); }
  /// The type of the adjoint.
  ir::Type TypeOf(uint32_t slot) const;
  /// The slot is that of a scalar value of the primal.
  bool IsScalarValue(uint32_t slot) const { return slot < primal_.ValueCount(); }
  /// One more slot, of no value.
  uint32_t Add(ir::Type type);

 private:
  const ir::Function& primal_;
  std::vector<uint32_t> vector_slot_;  ///< first slot of a vector or matrix value
  std::vector<ir::Type> extra_types_;  ///< of the slots after those of scalar values
};

}  // namespace adc::autodiff
