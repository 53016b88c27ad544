#include "frontend/spirv/survey.h"

#include <algorithm>

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

using Kind = ir::ShaderBinding::Kind;

namespace {

/// Built-in inputs that number the invocations of a subgroup.
bool IsOfSubgroups(int64_t builtin) {
  return (builtin >= spv::BuiltInSubgroupSize && builtin <= spv::BuiltInSubgroupLocalInvocationId) ||
         (builtin >= spv::BuiltInSubgroupEqMask && builtin <= spv::BuiltInSubgroupLtMask);
}

}  // namespace

bool IsAtomic(const Instruction& inst) {
  return (inst.op >= spv::OpAtomicLoad && inst.op <= spv::OpAtomicXor) || inst.op == spv::OpAtomicFAddEXT ||
         inst.op == spv::OpAtomicFMinEXT || inst.op == spv::OpAtomicFMaxEXT;
}

bool Accesses(const Instruction& inst) {
  switch (static_cast<uint32_t>(inst.op)) {
    case spv::OpLoad:
    case spv::OpStore:
    case spv::OpCopyMemory:
    case spv::OpArrayLength:
    case spv::OpImageTexelPointer:
      return true;
    default:
      return IsChain(inst) || IsAtomic(inst);
  }
}

bool Writes(const Instruction& inst) {
  return inst.op == spv::OpStore || inst.op == spv::OpCopyMemory ||
         (IsAtomic(inst) && inst.op != spv::OpAtomicLoad);
}

Survey::Survey(const Request& request)
    : binary_(request.binary),
      types_(request.types),
      entry_(request.entry),
      config_(request.config),
      addresses_(request.types) {
  FindLocalSize();
  auto function = binary_.functions().find(entry_.function);
  if (function == binary_.functions().end() || function->second.blocks.empty())
    Refuse(diag::E0852, {}, "the entry point has no body");
  body_ = &function->second;
  FindVariables();
  CheckBindings();
}

void Survey::FindLocalSize() {
  for (const Instruction& inst : binary_.instructions()) {
    bool mode = (inst.op == spv::OpExecutionMode || inst.op == spv::OpExecutionModeId) &&
                inst.At(0) == entry_.function;
    for (uint32_t axis = 0; axis < 3; ++axis) {
      if (mode && inst.At(1) == spv::ExecutionModeLocalSize) SetLocalSize(axis, inst.At(2 + axis), {});
      if (mode && inst.At(1) == spv::ExecutionModeLocalSizeId)
        SetLocalSize(axis, types_.Integer(inst.At(2 + axis)), {});
      // A constant comes after the execution mode, and takes its place.
      if (binary_.IsWorkgroupSize(inst)) SetLocalSize(axis, types_.Integer(inst.At(axis)), inst.span);
    }
  }
}

void Survey::SetLocalSize(uint32_t axis, std::optional<int64_t> given, diag::SourceSpan place) {
  if (!given || *given < 1 || *given > 65536)
    Refuse(diag::E0853, place, "the size of a workgroup is no constant from 1 to 65536");
  local_size_[axis] = static_cast<uint32_t>(*given);
}

Id Survey::RootOf(Id pointer) const {
  for (uint32_t step = 0; step < kDeepest; ++step) {
    const Instruction* inst = binary_.Find(pointer);
    if (inst == nullptr) return 0;
    bool leads_on = IsChain(*inst) || inst->op == spv::OpImageTexelPointer ||
                    (inst->op == spv::OpLoad && types_.KindOf(inst->type) == spv::OpTypeImage);
    if (!leads_on) return pointer;
    pointer = inst->At(0);
  }
  return 0;
}

/// The variable that a pointer leads into, or the block that an address leads to.
Id Survey::OwnerOf(Id pointer) const {
  Id root = RootOf(pointer);
  const Instruction* inst = binary_.Find(root);
  if (inst == nullptr || inst->op == spv::OpVariable || !types_.IsAddress(inst->type)) return root;
  return types_.Element(inst->type);
}

/// Takes down the names, writes and calls of an instruction.
void Survey::SeeUses(const Instruction& inst, std::set<Id>& used, std::vector<Id>& pending) {
  auto see = [&](Id id) {
    const Instruction* named = binary_.Find(id);
    if (named != nullptr && named->op == spv::OpVariable && named->At(0) != spv::StorageClassFunction)
      used.insert(id);
  };
  SeeTables(inst);
  if (Accesses(inst)) see(inst.At(0));
  if (inst.op == spv::OpCopyMemory) see(inst.At(1));
  if (Writes(inst)) written_.insert(OwnerOf(inst.At(0)));
  bool of_subgroup = inst.op >= spv::OpGroupNonUniformElect && inst.op <= spv::OpGroupNonUniformQuadSwap;
  by_workgroups_ = by_workgroups_ || (of_subgroup && !binary_.IsPrinted());
  if (inst.op == spv::OpImageWrite) {
    written_.insert(RootOf(inst.At(0)));
    writes_images_ = true;
  }
  if (inst.op == spv::OpAtomicSMin || inst.op == spv::OpAtomicSMax)
    pointed_.blocks[OwnerOf(inst.At(0))].compares_signed = true;
  if (inst.op == spv::OpAtomicUMin || inst.op == spv::OpAtomicUMax)
    pointed_.blocks[OwnerOf(inst.At(0))].compares_unsigned = true;
  if (inst.op != spv::OpFunctionCall) return;
  if (called_.insert(inst.At(0)).second) pending.push_back(inst.At(0));
  for (size_t n = 1; n < inst.operands.size(); ++n) {
    see(inst.At(n));
    written_.insert(OwnerOf(inst.At(n)));
  }
}

/// Takes note of what the instruction may write.
void Survey::SeeTables(const Instruction& inst) {
  auto note = [&](Id pointer, Id value) {
    auto [known, fresh] = tables_.try_emplace(RootOf(pointer), value);
    if (!fresh && known->second != value) known->second = 0;
  };
  if (inst.op == spv::OpVariable) {
    if (inst.operands.size() > 1) note(inst.result, inst.At(1));
  } else if (Writes(inst)) {
    bool whole = inst.op == spv::OpStore && RootOf(inst.At(0)) == inst.At(0);
    note(inst.At(0), whole ? inst.At(1) : 0);
  } else if (inst.op == spv::OpFunctionCall || inst.op == spv::OpExtInst) {
    for (size_t n = inst.op == spv::OpExtInst ? 2 : 1; n < inst.operands.size(); ++n) note(inst.At(n), 0);
  }
}

/// The variables that the entry and what it calls name, and which of them something writes.
void Survey::FindVariables() {
  std::set<Id> used;
  std::vector<Id> pending{entry_.function};
  called_.insert(entry_.function);
  while (!pending.empty()) {
    auto found = binary_.functions().find(pending.back());
    pending.pop_back();
    if (found == binary_.functions().end()) continue;
    for (const Block& block : found->second.blocks) {
      for (const Instruction* inst : block.body) SeeUses(*inst, used, pending);
    }
  }
  for (Id id : called_) {
    if (auto found = binary_.functions().find(id); found != binary_.functions().end())
      functions_.push_back(&found->second);
  }
  for (const Function* function : functions_) {
    FindLeaving(*function);
    for (const Block& block : function->blocks) {
      all_.insert(all_.end(), block.body.begin(), block.body.end());
      all_.insert(all_.end(), block.phis.begin(), block.phis.end());
      if (block.terminator != nullptr) all_.push_back(block.terminator);
    }
  }
  addresses_.Find(all_, pointed_);
  for (Id block : written_) pointed_.blocks[block].written = true;
  for (Id variable : used) AddVariable(variable);
}

void Survey::AddVariable(Id variable) {
  const Instruction& inst = *binary_.Find(variable);
  Resource resource;
  resource.variable = variable;
  resource.block = types_.Element(inst.type);
  auto number = [&](spv::Decoration kind) {
    return static_cast<uint32_t>(std::max<int64_t>(0, binary_.Decorated(variable, kind)));
  };
  resource.aliased = binary_.Decorated(variable, spv::DecorationAliased) >= 0;
  resource.use = pointed_.blocks[variable];
  resource.set = number(spv::DecorationDescriptorSet);
  resource.binding = number(spv::DecorationBinding);
  std::string name = binary_.NameOf(variable, resource.block);
  switch (inst.At(0)) {
    case spv::StorageClassInput:
      by_workgroups_ = by_workgroups_ || IsOfSubgroups(binary_.Decorated(variable, spv::DecorationBuiltIn));
      return;
    case spv::StorageClassPrivate:
      privates_.push_back(variable);
      return;
    case spv::StorageClassStorageBuffer:
      break;
    case spv::StorageClassUniform:
      if (binary_.Decorated(resource.block, spv::DecorationBufferBlock) < 0)
        resource.kind = Kind::UniformBuffer;
      break;
    case spv::StorageClassPushConstant:
      resource.kind = Kind::PushConstant;
      break;
    case spv::StorageClassWorkgroup:
      shared_.push_back(variable);
      by_workgroups_ = true;
      return;
    case spv::StorageClassUniformConstant:
      if (types_.KindOf(resource.block) == spv::OpTypeSampler) return;
      if (!types_.IsImage(resource.block))
        Refuse(diag::E0855, inst.span, "'" + name + "' is an array of images, or another opaque object",
               "declare each image by itself");
      break;
    default:
      Refuse(diag::E0855, inst.span, "'" + name + "' lies in a class of memory that kernels do not have",
             "use storage buffers, uniform blocks and push constants");
  }
  bool is_volatile = binary_.Decorated(variable, spv::DecorationVolatile) >= 0;
  for (uint32_t n = 0;
       types_.KindOf(resource.block) == spv::OpTypeStruct && n < types_.Members(resource.block); ++n)
    is_volatile = is_volatile || binary_.MemberDecorated(resource.block, n, spv::DecorationVolatile) >= 0;
  if (is_volatile)
    Refuse(diag::E0856, inst.span,
           "'" + name + "' is volatile: it means something to invocations that wait for others",
           "kernels do not wait for each other: dispatch twice");
  resource.read_only =
      binary_.Decorated(variable, spv::DecorationNonWritable) >= 0 || written_.count(variable) == 0;
  resources_.push_back(std::move(resource));
}

/// Two variables at one binding are one memory, which accesses of kernels do not expect of buffers that do
/// not say so. HLSL counts the registers of read-only and other buffers apart, and means two.
void Survey::CheckBindings() const {
  if (config_.before_legalization) return;
  std::map<std::pair<uint32_t, uint32_t>, const Resource*> known;
  for (const Resource& resource : resources_) {
    if (resource.kind != Kind::StorageBuffer) continue;
    auto [place, fresh] = known.try_emplace({resource.set, resource.binding}, &resource);
    if (fresh || (resource.read_only && place->second->read_only)) continue;
    if (resource.aliased && place->second->aliased) continue;
    Refuse(diag::E0855, binary_.Find(resource.variable)->span,
           "'" + binary_.NameOf(resource.variable, resource.block) + "' has the binding of another buffer, " +
               std::to_string(resource.binding) + " of set " + std::to_string(resource.set) +
               ", and is the same memory",
           "declare one block, with all members that the shader accesses");
  }
}

Id Survey::TableOf(Id variable) const {
  auto found = tables_.find(variable);
  return found == tables_.end() ? 0 : found->second;
}

}  // namespace adc::frontend::spirv
