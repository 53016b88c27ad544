#pragma once
// The values that a value is made of, at one step back: the way that adjoints take.
//
//   %r = for ... carry(%c = %init) { ... yield %y }      %r and %c:   %init, %y
//   %r = if %b { yield %x } else { yield %y }            %r:          %x, %y
//   %r = load %memory[%k]                                %r:          all that is written into %memory
//   %r = mul %x, %y                                      %r:          %x, %y
//
// Breaks: nothing, it only looks. Stale after the function is edited.

#include <map>
#include <span>
#include <vector>

#include "analysis/structure.h"

namespace adc::autodiff {

class Sources {
 public:
  /// `structure` and its function must outlive it. Linear time.
  explicit Sources(const analysis::Structure& structure);

  /// None of parameters, literals, loops' indices and results of other effects than loads.
  std::vector<ir::Value> Of(ir::Value v) const;
  /// All values that accesses write into `memory`, an array or a parameter.
  std::span<const ir::Value> WrittenInto(ir::Value memory) const;

 private:
  const ir::Function& function_;
  std::map<ir::Value, std::vector<ir::Value>> written_;  ///< by memory
};

}  // namespace adc::autodiff
