#pragma once
// The adjoints that the adjoint sweep has built so far, by slot.

#include "autodiff/adjoint_slots.h"
#include "autodiff/emitter.h"

namespace adc::autodiff {

class Adjoints {
 public:
  /// Both must outlive it.
  Adjoints(DerivedBody& body, const AdjointSlots& slots) : body_(body), slots_(slots) {}

  /// Invalid while it is zero.
  ir::Value Of(uint32_t slot) const { return values_.Get(slot); }
  /// A constant, 0, while it is zero.
  ir::Value OrZero(uint32_t slot);
  void Append(std::span<const uint32_t> slots, std::vector<ir::Value>& adjoints);
  std::vector<ir::Type> TypesOf(std::span<const uint32_t> slots) const;
  void Set(uint32_t slot, ir::Value adjoint) { values_.Set(slot, adjoint); }
  /// From here on the adjoints of `slots` are results of `made`, from number `first` on.
  void Take(std::span<const uint32_t> slots, ir::Inst made, size_t first = 0);
  void Add(uint32_t slot, ir::Value contribution);
  /// Nothing, or the constant 0.
  bool IsZero(ir::Value adjoint) const;

  size_t Mark() const { return values_.Mark(); }
  void Rollback(size_t mark) { values_.Rollback(mark); }

 private:
  DerivedBody& body_;
  const AdjointSlots& slots_;
  ScopedMap values_;  ///< slot -> built value
};

}  // namespace adc::autodiff
