// Which values that a loop computes are used after it.

#include "frontend/spirv/survey.h"

namespace adc::frontend::spirv {

namespace {

/// How many operands, from the first on, are values; literals follow.
size_t ValuesOf(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpCompositeExtract:
    case spv::OpLoad:
    case spv::OpArrayLength:
    case spv::OpSwitch:
    case spv::OpBranchConditional:
      return 1;
    case spv::OpCompositeInsert:
    case spv::OpVectorShuffle:
    case spv::OpStore:
    case spv::OpCopyMemory:
      return 2;
    default:
      return inst.operands.size();
  }
}

}  // namespace

void Survey::FindLeaving(const Function& function) {
  std::map<Id, Id> loop_of, outer;  // of blocks, and of loops: by their headers; outer loops come first
  for (const Block& block : function.blocks) {
    if (block.merge == nullptr || block.merge->op != spv::OpLoopMerge) continue;
    outer[block.label] = loop_of[block.label];
    for (Id label : binary_.LoopBlocks(function, block)) loop_of[label] = block.label;
  }
  if (outer.empty()) return;
  std::map<Id, Id> computed_in;
  for (const Block& block : function.blocks) {
    for (const Instruction* inst : block.body) {
      if (inst->result != 0) computed_in[inst->result] = loop_of[block.label];
    }
  }
  auto leave = [&](Id value, Id label) {
    auto computed = computed_in.find(value);
    if (computed == computed_in.end() || computed->second == 0) return;
    Id loop = loop_of[label];
    while (loop != 0 && loop != computed->second) loop = outer[loop];
    if (loop == 0) leaving_.insert(value);
  };
  // A pointer is followed again where it is used, so that its indices are used there.
  auto use = [&](Id value, Id label) {
    for (uint32_t depth = 0; depth < kDeepest; ++depth) {
      const Instruction* inst = binary_.Find(value);
      bool is_pointer = inst != nullptr && types_.KindOf(inst->type) == spv::OpTypePointer;
      if (!is_pointer || !IsChain(*inst)) return leave(value, label);
      for (size_t n = 1; n < inst->operands.size(); ++n) leave(inst->At(n), label);
      value = inst->At(0);
    }
  };
  for (const Block& block : function.blocks) {
    for (const Instruction* phi : block.phis) {
      for (size_t n = 0; n + 1 < phi->operands.size(); n += 2) use(phi->At(n), phi->At(n + 1));
    }
    auto use_all = [&](const Instruction& inst) {
      // The number of an extended instruction is a literal too.
      for (size_t n = 0; n < ValuesOf(inst); ++n) {
        if (inst.op != spv::OpExtInst || n != 1) use(inst.At(n), block.label);
      }
    };
    for (const Instruction* inst : block.body) use_all(*inst);
    if (block.terminator != nullptr) use_all(*block.terminator);
  }
}

}  // namespace adc::frontend::spirv
