// Whether the invocations of a workgroup wait for each other, which iterations of a kernel do not.

#include <algorithm>

#include "diag/errors/shader.h"
#include "diag/result.h"
#include "frontend/spirv/survey.h"

namespace adc::frontend::spirv {

/// The instruction that orders memory, a barrier of control where there is one; null where none does.
const Instruction* Survey::FindBarrier() const {
  const Instruction* barrier = nullptr;
  for (const Instruction* inst : all_) {
    bool orders = inst->op == spv::OpControlBarrier || inst->op == spv::OpMemoryBarrier;
    if (IsAtomic(*inst)) {
      std::optional<int64_t> semantics = types_.Integer(inst->At(2));
      // Relaxed, whatever memory it names.
      constexpr int64_t kOrdering = 0x2 | 0x4 | 0x8 | 0x10;
      orders = !semantics || (*semantics & kOrdering) != 0;
    }
    if (orders && (barrier == nullptr || inst->op == spv::OpControlBarrier)) barrier = inst;
  }
  return barrier;
}

Survey::Uses Survey::FindUses() const {
  Uses uses;
  for (const Instruction* inst : all_) uses.operands.insert(inst->operands.begin(), inst->operands.end());
  for (const Function* function : functions_) {
    std::set<Id> in_loops;
    for (const Block& block : function->blocks) {
      if (block.merge == nullptr || block.merge->op != spv::OpLoopMerge) continue;
      in_loops.merge(binary_.LoopBlocks(*function, block));
    }
    for (const Block& block : function->blocks) {
      for (const Instruction* inst : block.body) {
        Access access{inst, in_loops.count(block.label) != 0, function == body_};
        auto note = [&](size_t n) { uses.accesses[OwnerOf(inst->At(n))].push_back(access); };
        if (Accesses(*inst) && !IsChain(*inst) && inst->op != spv::OpArrayLength) note(0);
        if (inst->op == spv::OpCopyMemory) note(1);
        for (size_t n = 1; inst->op == spv::OpFunctionCall && n < inst->operands.size(); ++n) note(n);
      }
    }
  }
  return uses;
}

void Survey::FindOrder(std::span<const Resource> resources) {
  if (by_workgroups_) return;
  const Instruction* barrier = FindBarrier();
  if (barrier == nullptr) return;
  by_workgroups_ = writes_images_ && barrier->op == spv::OpControlBarrier;
  if (by_workgroups_) return;
  Uses uses = FindUses();
  for (const Resource& resource : resources) {
    Id owner = resource.by_pointer ? resource.block : resource.variable;
    if (resource.kind != ir::ShaderBinding::Kind::StorageBuffer || written_.count(owner) == 0) continue;
    const std::vector<Access>& own = uses.accesses[owner];
    bool sums = std::all_of(own.begin(), own.end(), [&](const Access& access) {
      bool adds = access.inst->op == spv::OpAtomicIAdd || access.inst->op == spv::OpAtomicFAddEXT;
      return adds && access.inst->op == own[0].inst->op && uses.operands.count(access.inst->result) == 0;
    });
    bool one_store = own.size() == 1 && own[0].inst->op == spv::OpStore && !own[0].in_loop && own[0].in_entry;
    if (sums || one_store) continue;
    by_workgroups_ = barrier->op == spv::OpControlBarrier;
    if (by_workgroups_) return;
    diag::Diagnostic reason =
        diag::Fail(diag::E0856, barrier->span,
                   "this orders what invocations write to '" + resource.name +
                       "' and what others read there; iterations of a kernel run in any order",
                   "dispatch the part before the barrier and the part after it as two shaders");
    if (!own.empty()) reason.AddNote(own[0].inst->span, "'" + resource.name + "' is accessed here");
    throw Refused{std::move(reason)};
  }
}

}  // namespace adc::frontend::spirv
