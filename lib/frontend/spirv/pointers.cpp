#include "frontend/spirv/pointers.h"

#include <algorithm>

#include "diag/errors/shader.h"

namespace adc::frontend::spirv {

namespace {

/// Of the built-ins that kernels have: an index of 32 bits, or three of them. True of others, which are
/// refused where they are read.
bool HasTypeOfBuiltin(const Binary& binary, uint32_t builtin, Id type) {
  constexpr uint32_t kVectors[] = {spv::BuiltInGlobalInvocationId, spv::BuiltInWorkgroupId,
                                   spv::BuiltInLocalInvocationId, spv::BuiltInWorkgroupSize,
                                   spv::BuiltInNumWorkgroups};
  const Instruction* found = binary.Find(type);
  if (std::find(std::begin(kVectors), std::end(kVectors), builtin) != std::end(kVectors)) {
    if (found == nullptr || found->op != spv::OpTypeVector || found->At(1) != 3) return false;
    found = binary.Find(found->At(0));
  } else if (builtin != spv::BuiltInLocalInvocationIndex) {
    return true;
  }
  return found != nullptr && found->op == spv::OpTypeInt && found->At(0) == 32;
}

}  // namespace

Index Pointers::IndexOf(Id id) {
  if (std::optional<int64_t> known = types_.Integer(id); known && binary_.Find(id)->op == spv::OpConstant)
    return {*known, {}};
  return {0, b_.Cast(GetOne(id), ir::kI32)};
}

Index Pointers::Scale(Index index, int64_t factor) {
  index.constant *= factor;
  if (index.dynamic.Valid() && factor != 1)
    index.dynamic = b_.Make(ir::Op::Mul, {index.dynamic, b_.I32(static_cast<int32_t>(factor))});
  return index;
}

Index Pointers::Sum(Index a, Index b) {
  a.constant += b.constant;
  if (!a.dynamic.Valid()) {
    a.dynamic = b.dynamic;
  } else if (b.dynamic.Valid()) {
    a.dynamic = b_.Make(ir::Op::Add, {a.dynamic, b.dynamic});
  }
  return a;
}

ir::Value Pointers::ValueOf(const Index& index) {
  if (index.constant < INT32_MIN || index.constant > INT32_MAX)
    Refuse(diag::E0853, b_.span(), "an index leaves 32 bits");
  ir::Value constant = b_.I32(static_cast<int32_t>(index.constant));
  if (!index.dynamic.Valid()) return constant;
  return index.constant == 0 ? index.dynamic : b_.Make(ir::Op::Add, {index.dynamic, constant});
}

Pointer Pointers::GetPointer(Id id, const Instruction& user) {
  auto known = frame().pointers.find(id);
  if (known != frame().pointers.end() && IsSeen(known->second)) {
    Pointer pointer = known->second;
    if (pointer.texel.Valid()) pointer.texel = Seen(pointer.texel);
    return pointer;
  }
  const Instruction* inst = binary_.Find(id);
  Require(inst != nullptr, user, "a pointer is used that nothing defines");
  if (known != frame().pointers.end()) return FollowedAgain(*inst);
  if (types_.IsAddress(inst->type)) return PointerOf(GetOne(id), user);
  if (inst->op != spv::OpVariable) RefuseChosen(user);
  Pointer pointer;
  pointer.pointee = types_.Element(inst->type);
  if (inst->At(0) == spv::StorageClassInput) {
    int64_t builtin = binary_.Decorated(id, spv::DecorationBuiltIn);
    Require(builtin >= 0, *inst, "an input of a compute shader is no built-in");
    pointer.kind = Pointer::Kind::Builtin;
    pointer.builtin = static_cast<uint32_t>(builtin);
    // The validator asks for it only where the module names an environment of Vulkan.
    Require(HasTypeOfBuiltin(binary_, pointer.builtin, pointer.pointee), *inst,
            "a built-in input has another type than Vulkan gives it");
    return pointer;
  }
  if (inst->At(0) == spv::StorageClassPrivate || inst->At(0) == spv::StorageClassWorkgroup) {
    // A variable outside of functions is a local of the kernel, or of all its workgroup.
    Frame& home = *frames_.front();
    auto made = home.pointers.find(id);
    Require(made != home.pointers.end(), user, "a private variable is used that the module does not define");
    return made->second;
  }
  if (inst->At(0) == spv::StorageClassUniformConstant) {
    pointer.kind = Pointer::Kind::Handle;
    pointer.variable = id;
    return pointer;
  }
  pointer.kind = Pointer::Kind::Memory;
  pointer.resource = resources_.Find(id);
  if (pointer.resource == nullptr)
    Refuse(diag::E0855, user.span, "memory of a kind that kernels do not have",
           "use storage buffers, uniform blocks and push constants");
  return pointer;
}

/// Whether the builder sees the indices of a pointer.
bool Pointers::IsSeen(const Pointer& p) const {
  auto sees = [&](ir::Value value) { return !value.Valid() || Visible(kernel_.DefiningBlock(value)); };
  auto sees_index = [&](const std::optional<Index>& index) { return !index || sees(index->dynamic); };
  return sees(p.element.dynamic) && sees(p.outer.dynamic) && sees_index(p.column) &&
         sees_index(p.component) && sees_index(p.part) &&
         std::ranges::all_of(p.terms, [&](const auto& term) { return sees(term.first); });
}

/// The pointer of a chain that was followed where the builder does not see its indices.
Pointer Pointers::FollowedAgain(const Instruction& last) {
  std::vector<const Instruction*> chain;
  for (const Instruction* inst = &last;; inst = binary_.Find(inst->At(0))) {
    auto known = frame().pointers.find(inst->result);
    if (known == frame().pointers.end() || IsSeen(known->second)) break;
    chain.push_back(inst);
  }
  Spend(chain.size(), last);
  for (size_t n = chain.size(); n-- > 0;) {
    if (chain[n]->op == spv::OpCopyObject) {
      frame().pointers[chain[n]->result] = GetPointer(chain[n]->At(0), last);
    } else {
      AccessChain(*chain[n]);
    }
  }
  return frame().pointers[last.result];
}

void Pointers::RefuseChosen(const Instruction& user) {
  Refuse(diag::E0854, user.span, "a pointer that is chosen at run time",
         "index one buffer, or branch on what chooses");
}

uint32_t Pointers::LeavesOf(Id type) const {
  if (types_.KindOf(type) == spv::OpTypeArray) return LeavesOf(types_.Element(type));
  if (types_.KindOf(type) != spv::OpTypeStruct) return 1;
  uint32_t sum = 0;
  for (uint32_t n = 0; n < types_.Members(type); ++n) sum += LeavesOf(types_.Member(type, n));
  return sum;
}

uint32_t Pointers::MemberAt(Id index, const Instruction& inst) {
  std::optional<int64_t> known = types_.Integer(index);
  Require(known && *known >= 0 && *known < INT32_MAX, inst, "a member is named by no constant");
  return static_cast<uint32_t>(*known);
}

Pointer Pointers::StepLocal(Pointer p, Id index_id, const Instruction& inst) {
  Id type = p.pointee;
  if (types_.KindOf(type) == spv::OpTypeStruct) {
    uint32_t member = MemberAt(index_id, inst);
    for (uint32_t n = 0; n < member && n < types_.Members(type); ++n)
      p.leaf += LeavesOf(types_.Member(type, n));
    p.pointee = types_.Member(type, member);
    return p;
  }
  switch (static_cast<uint32_t>(types_.KindOf(type))) {
    case spv::OpTypeArray:
      p.element = Scale(p.element, types_.Count(type));
      p.element = Sum(p.element, IndexOf(index_id));
      break;
    case spv::OpTypeMatrix:
      p.column = IndexOf(index_id);
      break;
    case spv::OpTypeVector:
      p.component = IndexOf(index_id);
      break;
    default:
      Refuse(diag::E0852, inst.span, "a number is indexed");
  }
  p.pointee = types_.Element(type);
  return p;
}

/// From a pointer to a structure in memory. Blocks that follow each other are elements.
void Pointers::StepToMember(Pointer& p, uint32_t member) {
  MemberPlace place = types_.PlaceOf(p.pointee, member);
  if (place.matrix_stride != 0) p.matrix_stride = place.matrix_stride;
  p.row_major = place.row_major;
  p.pointee = types_.Member(p.pointee, member);
  if (p.in_block) {
    p.offset += place.offset;
    return;
  }
  p.in_block = true;
  if (p.resource->use.stride != 0) {
    p.has_outer = true;
    p.outer_stride = p.resource->use.stride;
    p.offset = place.offset;
  } else {
    p.member = member;
    p.member_offset = place.offset;
  }
}

/// Whether a pointer to an array leads to all of a member: the index is the first one after it.
bool Pointers::IsMember(const Pointer& p) const {
  return !p.has_outer && p.offset == 0 && p.terms.empty() &&
         p.pointee == types_.Member(p.resource->block, p.member);
}

/// From a pointer to an array in memory.
void Pointers::StepToElement(Pointer& p, Index index) {
  uint32_t stride = types_.ArrayStride(p.pointee);
  if (IsMember(p)) {
    p.has_outer = true;
    p.outer = index;
    p.outer_stride = stride;
  } else {
    p.offset += static_cast<uint64_t>(index.constant) * stride;
    if (index.dynamic.Valid()) p.terms.emplace_back(index.dynamic, stride);
  }
  p.pointee = types_.Element(p.pointee);
}

Pointer Pointers::Step(Pointer p, Id index_id, const Instruction& inst) {
  Id type = p.pointee;
  spv::Op kind = types_.KindOf(type);
  if (p.kind == Pointer::Kind::Builtin) {
    Require(kind == spv::OpTypeVector && !p.component, inst, "a built-in input is indexed too deep");
    p.component = IndexOf(index_id);
    p.pointee = types_.Element(type);
    return p;
  }
  if (p.kind == Pointer::Kind::Local) return StepLocal(std::move(p), index_id, inst);
  switch (static_cast<uint32_t>(kind)) {
    case spv::OpTypeStruct:
      StepToMember(p, MemberAt(index_id, inst));
      return p;
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray: {
      Require(p.in_block, inst, "a block is indexed");
      Index index = IndexOf(index_id);
      Require(index.constant >= 0 || IsMember(p), inst, "an index is negative");
      StepToElement(p, index);
      return p;
    }
    case spv::OpTypeMatrix: {
      Index index = IndexOf(index_id);
      uint32_t bytes = ir::ByteSize(types_.Register(type).scalar);
      uint32_t stride = p.row_major ? bytes : p.matrix_stride;
      p.component_stride = p.row_major ? p.matrix_stride : bytes;
      p.pointee = types_.Element(type);
      p.offset += static_cast<uint64_t>(std::max<int64_t>(index.constant, 0)) * stride;
      if (index.dynamic.Valid()) p.terms.emplace_back(index.dynamic, stride);
      return p;
    }
    case spv::OpTypeVector:
      p.part = IndexOf(index_id);
      p.vector = type;
      p.pointee = types_.Element(type);
      return p;
    default:
      Refuse(diag::E0852, inst.span, "a number is indexed");
  }
}

void Pointers::AccessChain(const Instruction& inst) {
  Pointer pointer = GetPointer(inst.At(0), inst);
  for (size_t n = 1; n < inst.operands.size(); ++n) pointer = Step(std::move(pointer), inst.At(n), inst);
  frame().pointers[inst.result] = std::move(pointer);
}

Pointer Pointers::Inner(const Pointer& pointer, Id type, uint32_t n, const Instruction& inst) {
  Pointer p = pointer;
  p.pointee = type;
  bool is_member = types_.KindOf(type) == spv::OpTypeStruct;
  Require(is_member || types_.KindOf(type) == spv::OpTypeArray, inst,
          "an array of unknown length is moved as a whole");
  is_member ? StepToMember(p, n) : StepToElement(p, {n, {}});
  return p;
}

}  // namespace adc::frontend::spirv
