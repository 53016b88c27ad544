#pragma once
// Checks whether an index points into a function's tables. Code that looks at a module that a defective pass
// may have broken asks before it follows one.

#include "ir/function.h"

namespace adc::ir {

inline bool Known(const Function& function, Value v) {
  return v.raw < function.ValueCount();
}
inline bool Known(const Function& function, Inst i) {
  return i.raw < function.InstCount();
}
inline bool Known(const Function& function, Block b) {
  return b.raw < function.BlockCount();
}

/// Whether `inst` is an `if` without a way past it: both branches end with what leaves.
inline bool IsLeftByBoth(const Function& function, Inst inst) {
  if (!Known(function, inst) || function[inst].op != Op::If) return false;
  for (Block branch : function[inst].regions) {
    if (!Known(function, branch) || function[branch].insts.empty()) return false;
    Inst end = function[branch].insts.back();
    if (!Known(function, end) || !IsLeave(function[end].op)) return false;
  }
  return true;
}

}  // namespace adc::ir
