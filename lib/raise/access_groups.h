#pragma once
// Accesses to one element that a single check serves.
//
//   %a = load %p[%i].x                 loads are made where the first of them stands,
//   %b = mul %a, 2.0
//   %c = load %p[%i].y
//   add_to %q[%i].x, %b                writes where the last one does
//   %d = mul %c, 2.0
//   add_to %q[%i].y, %d
//
// Nothing between them could see the difference: there is no control flow, and no access that may touch the
// moved element.

#include <span>
#include <vector>

#include "ir/function.h"

namespace adc::raise {

class AccessGroups {
 public:
  explicit AccessGroups(const ir::Function& kernel);

  /// The accesses that are made where `access` stands, in order, itself among them; none where it is made
  /// with another one.
  std::span<const ir::Inst> At(ir::Inst access) const;
  /// The one of its group where `access` is made; itself if it has no indices.
  ir::Inst PlaceOf(ir::Inst access) const;

 private:
  const ir::Function& kernel_;
  std::vector<std::vector<ir::Inst>> groups_;
  SideTable<ir::Inst, uint32_t> group_of_;
};

}  // namespace adc::raise
