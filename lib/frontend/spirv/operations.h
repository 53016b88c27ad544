#pragma once
// One instruction, whatever it does.

#include "frontend/spirv/image_operations.h"

namespace adc::frontend::spirv {

class Operations : public Images {
 protected:
  using Images::Images;
  void Emit(const Instruction& inst);
  /// The body of a function in the place of its call.
  virtual Value Call(const Instruction& inst) = 0;

 private:
  [[noreturn]] void RefuseOperation(const Instruction& inst);

  // extended.cpp
  void Extended(const Instruction& inst);
  bool TwoResults(const Instruction& inst);

  // atomics.cpp
  Place AtomicPlace(const Instruction& inst);
  ir::Value Inside(const Place& place, const std::function<ir::Value()>& access);
  void Atomic(const Instruction& inst);

  // debug_printf.cpp
  void DebugPrintf(const Instruction& inst);
};

}  // namespace adc::frontend::spirv
