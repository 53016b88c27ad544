// Sets of extended instructions, and those of GLSL.std.450 that give two results.

#include <spirv/unified1/GLSL.std.450.h>

#include "diag/errors/shader.h"
#include "frontend/spirv/bits.h"
#include "frontend/spirv/operations.h"

namespace adc::frontend::spirv {

using ir::Op;

/// The second result of modf and frexp goes to a pointer, or to a structure with the first one.
bool Operations::TwoResults(const Instruction& inst) {
  bool is_modf = inst.At(1) == GLSLstd450Modf || inst.At(1) == GLSLstd450ModfStruct;
  bool by_pointer = inst.At(1) == GLSLstd450Modf || inst.At(1) == GLSLstd450Frexp;
  if (!is_modf && !by_pointer && inst.At(1) != GLSLstd450FrexpStruct) return false;
  Pointer to = by_pointer ? GetPointer(inst.At(3), inst) : Pointer{};
  ir::Type type = types_.Register(by_pointer ? to.pointee : types_.Member(inst.type, 1));
  ir::Value value = GetOne(inst.At(2));
  ir::Value taken = is_modf ? b_.Make(Op::Trunc, {value}) : ExponentOf(b_, value);
  ir::Value second = b_.Cast(taken, type);
  if (by_pointer) Store(to, {{second}}, inst);
  ir::Value first =
      is_modf ? b_.Make(Op::Sub, {value, taken}) : TimesPowerOf2(b_, value, b_.Make(Op::Neg, {taken}));
  Set(inst, by_pointer ? Value{{first}} : Value{{first, second}});
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
  if (TwoResults(inst)) return;
  Refuse(diag::E0854, inst.span,
         "instruction " + std::to_string(inst.At(1)) + " of GLSL.std.450 has no counterpart in a kernel",
         "docs/shaders.md lists what is taken");
}

}  // namespace adc::frontend::spirv
