#pragma once
// The phases of a module: the passes that have run, and the operations that it may hold.

#include <cstdint>

namespace adc::ir {

enum class Phase : uint8_t {
  Parsed,  ///< as the text has it
  Scalar,  ///< only scalars in registers, no calls but those with a derivative of their own: shaped for AD
  Differentiated,  ///< derived kernels stand beside their primals; they may hold adstacks
  Lowered,         ///< adstacks are plain memory; tasks are self-contained; add_to is decided
  Raised,          ///< rewritten towards one kind of target: only printing is left
};

}  // namespace adc::ir
