#pragma once
// A shader's operations on images: which image an object is, and the operands of each operation.

#include "frontend/spirv/images.h"
#include "frontend/spirv/memory.h"

namespace adc::frontend::spirv {

class Images : public Memory {
 protected:
  using Memory::Memory;
  /// False where the instruction loads no image.
  bool LoadHandle(const Instruction& inst);
  /// False where the operation is none of images.
  bool ImageOperation(const Instruction& inst);
  /// The number that an atomic operation on a texel changes.
  Place TexelPlace(const Pointer& pointer, const Instruction& inst);

 private:
  Handle HandleOf(Id id, const Instruction& user);
  /// `never_native`: what the code of an image that stays one does not have, and `user` asks for.
  Image ImageOf(Id variable, const Instruction& user, const std::string& never_native = {});
  SamplerState SamplerOf(Id variable) const;
  bool IsZero(ir::Value v) const;
  ir::Value SampleOffset(const Instruction& inst);
  ir::Value FirstOf(ir::Value vector, Id type);
};

}  // namespace adc::frontend::spirv
