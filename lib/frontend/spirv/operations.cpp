#include "frontend/spirv/operations.h"

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

void Operations::Emit(const Instruction& inst) {
  b_.SetSpan(inst.span);
  Spend(1, inst);
  if (survey_.addresses().IsPart(inst.result)) return;
  if (const Address* address = survey_.addresses().Of(inst.result)) return MakePointer(inst, *address);
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpVariable:
      MakeLocal(inst);
      return;
    case spv::OpLoad:
      if ((inst.At(1) & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile read sees what others write while the kernel runs",
               "kernels do not wait for each other: dispatch twice");
      if (!LoadHandle(inst)) Set(inst, Load(GetPointer(inst.At(0), inst), inst));
      return;
    case spv::OpStore: {
      if ((inst.At(2) & spv::MemoryAccessVolatileMask) != 0)
        Refuse(diag::E0856, inst.span, "a volatile write means something to those that wait for it",
               "kernels do not wait for each other: dispatch twice");
      Pointer to = GetPointer(inst.At(0), inst);
      bool to_table = to.kind == Pointer::Kind::Local && to.local->leaves[to.leaf].is_table;
      if (!to_table) Store(to, Get(inst.At(1)), inst);
      return;
    }
    case spv::OpCopyMemory: {
      Pointer from = GetPointer(inst.At(1), inst), to = GetPointer(inst.At(0), inst);
      Store(to, Load(from, inst), inst);
      return;
    }
    case spv::OpAccessChain:
    case spv::OpInBoundsAccessChain:
      AccessChain(inst);
      return;
    case spv::OpArrayLength:
      ArrayLength(inst);
      return;
    case spv::OpCopyObject:
    case spv::OpCopyLogical:
      if (types_.KindOf(inst.type) == spv::OpTypePointer && !types_.IsAddress(inst.type)) {
        frame().pointers[inst.result] = GetPointer(inst.At(0), inst);
      } else {
        Set(inst, Get(inst.At(0)));
      }
      return;
    case spv::OpUndef:
      Set(inst, ZeroOf(inst.type));
      return;
    case spv::OpExtInst:
      Extended(inst);
      return;
    case spv::OpFunctionCall: {
      Value result = Call(inst);
      if (!result.parts.empty()) Set(inst, std::move(result));
      return;
    }
    case spv::OpControlBarrier:
      if (survey_.by_workgroups()) b_.Create(ir::Op::Barrier, {}, {});
      return;
    case spv::OpMemoryBarrier:
      return;  // the survey has seen that it has no meaning here, or a barrier gives it one
    default:
      break;
  }
  if (IsAtomic(inst)) return Atomic(inst);
  if (ImageOperation(inst)) return;
  std::optional<Value> made = Composite(inst);
  if (!made) made = SubgroupOperation(inst);
  if (!made && types_.KindOf(inst.type) == spv::OpTypePointer)
    Refuse(diag::E0854, inst.span, "a pointer that is computed or chosen at run time",
           "index one buffer, or branch on what chooses");
  if (!made) made = Number(inst);
  if (!made) RefuseOperation(inst);
  Set(inst, std::move(*made));
}

void Operations::RefuseOperation(const Instruction& inst) {
  auto opcode = static_cast<uint32_t>(inst.op);
  std::string what = "operation " + std::to_string(opcode) + " of SPIR-V";
  std::string remedy = "docs/shaders.md lists what is taken";
  if (opcode >= spv::OpSampledImage && opcode <= spv::OpImageQuerySamples) {
    what = "this operation on an image";
    remedy = "docs/shaders.md lists what is taken of images";
  } else if (opcode >= spv::OpGroupAll && opcode <= spv::OpGroupSMax) {
    what = "an operation of a workgroup";
  } else if (opcode >= spv::OpGroupNonUniformElect && opcode <= spv::OpGroupNonUniformQuadSwap) {
    what = "an operation of a subgroup";
    remedy = "docs/shaders.md lists the operations of subgroups that are taken";
  } else if (opcode >= spv::OpDPdx && opcode <= spv::OpFwidthCoarse) {
    what = "a derivative between neighbouring fragments";
  }
  Refuse(diag::E0854, inst.span, what + " has no counterpart in a kernel", remedy);
}

}  // namespace adc::frontend::spirv
