// Sets of extended instructions, and those of GLSL.std.450 that give two results.

#include <spirv/unified1/GLSL.std.450.h>

#include "diag/errors/shader.h"
#include "frontend/spirv/bits.h"
#include "frontend/spirv/operations.h"

namespace adc::frontend::spirv {

using ir::Op;

bool Operations::Modf(const Instruction& inst) {
  bool by_pointer = inst.At(1) == GLSLstd450Modf;
  if (!by_pointer && inst.At(1) != GLSLstd450ModfStruct) return false;
  ir::Value v = GetOne(inst.At(2)), whole = b_.Make(Op::Trunc, {v});
  if (by_pointer) Store(GetPointer(inst.At(3), inst), {{whole}}, inst);
  ir::Value rest = b_.Make(Op::Sub, {v, whole});
  Set(inst, by_pointer ? Value{{rest}} : Value{{rest, whole}});
  return true;
}

bool Operations::Frexp(const Instruction& inst) {
  bool by_pointer = inst.At(1) == GLSLstd450Frexp;
  if (!by_pointer && inst.At(1) != GLSLstd450FrexpStruct) return false;
  Pointer to = by_pointer ? GetPointer(inst.At(3), inst) : Pointer{};
  ir::Value value = GetOne(inst.At(2)), exponent = ExponentOf(b_, value);
  ir::Type type = types_.Register(by_pointer ? to.pointee : types_.Member(inst.type, 1));
  if (by_pointer) Store(to, {{b_.Cast(exponent, type)}}, inst);
  ir::Value factor = TimesPowerOf2(b_, value, b_.Make(Op::Neg, {exponent}));
  Set(inst, by_pointer ? Value{{factor}} : Value{{factor, b_.Cast(exponent, type)}});
  return true;
}

void Operations::Extended(const Instruction& inst) {
  const Instruction* set = binary_.Find(inst.At(0));
  std::string name = set == nullptr ? "" : TextIn(set->operands);
  if (name == "NonSemantic.DebugPrintf") return DebugPrintf(inst);
  if (name.starts_with("NonSemantic.")) return;
  if (name != "GLSL.std.450")
    Refuse(diag::E0854, inst.span, "the instruction set '" + name + "' is not known",
           "GLSL.std.450 is taken");
  if (std::optional<ir::Value> number = GlslNumber(inst)) return SetOne(inst, *number);
  if (Modf(inst) || Frexp(inst)) return;
  Refuse(diag::E0854, inst.span,
         "instruction " + std::to_string(inst.At(1)) + " of GLSL.std.450 has no counterpart in a kernel",
         "docs/shaders.md lists what is taken");
}

}  // namespace adc::frontend::spirv
