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

}  // namespace adc::ir
