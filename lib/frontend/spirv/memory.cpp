// Pointers, loads and stores. A pointer is never a value of the IR: it is where an access chain leads, known
// here, with indices that may be values.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/lowering.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

namespace {
constexpr uint32_t kDeepest = 64;
constexpr uint64_t kMostElements = uint64_t{1} << 24;
}  // namespace

// --- indices ---

Index Lowering::IndexOf(Id id) {
  if (std::optional<int64_t> known = types_.Integer(id); known && spec_params_.count(id) == 0) {
    const Instruction* inst = binary_.Find(id);
    if (inst->op == spv::OpConstant) return {*known, {}};
  }
  return {0, b_->Cast(GetOne(id), ir::kI32)};
}

Index Lowering::Scale(Index index, int64_t factor) {
  index.constant *= factor;
  if (index.dynamic.Valid() && factor != 1)
    index.dynamic = b_->Make(ir::Op::Mul, {index.dynamic, b_->I32(static_cast<int32_t>(factor))});
  return index;
}

Index Lowering::Sum(Index a, Index b) {
  a.constant += b.constant;
  if (!a.dynamic.Valid()) {
    a.dynamic = b.dynamic;
  } else if (b.dynamic.Valid()) {
    a.dynamic = b_->Make(ir::Op::Add, {a.dynamic, b.dynamic});
  }
  return a;
}

ir::Value Lowering::ValueOf(const Index& index) {
  if (index.constant < INT32_MIN || index.constant > INT32_MAX)
    Refuse(diag::E0853, b_->span(), "an index leaves 32 bits");
  ir::Value constant = b_->I32(static_cast<int32_t>(index.constant));
  if (!index.dynamic.Valid()) return constant;
  return index.constant == 0 ? index.dynamic : b_->Make(ir::Op::Add, {index.dynamic, constant});
}

// --- locals ---

void Lowering::MakeLeaves(Local& local, Id type, uint64_t count, uint32_t depth, ir::Words words) {
  if (depth > kDeepest || count > kMostElements)
    Refuse(diag::E0853, b_->span(), "a local variable is too large",
           "a local array holds at most 16,777,216 elements");
  if (types_.IsRegister(type)) {
    ir::Type element = types_.Register(type);
    if (local.leaves.size() >= 4096)
      Refuse(diag::E0853, b_->span(), "a local variable has more than 4096 members");
    ir::Type array = ir::Type::Array(element, static_cast<uint32_t>(count));
    ir::Inst inst = kernel_->NewInst(ir::Op::Alloca, {}, {&array, 1}, b_->span());
    (*kernel_)[inst].parent = home_;
    (*kernel_)[inst].words = words;
    arrays_.push_back(inst);
    local.leaves.push_back({.array = kernel_->Result(inst), .element = element, .address = {}});
    return;
  }
  if (types_.IsAddress(type)) {
    local.leaves.push_back({.array = {}, .element = ir::kI64, .address = {}});
    return;
  }
  if (types_.KindOf(type) == spv::OpTypeArray) {
    MakeLeaves(local, types_.Element(type), count * types_.Count(type), depth + 1, words);
    return;
  }
  if (types_.KindOf(type) != spv::OpTypeStruct)
    Refuse(diag::E0855, b_->span(), "a local variable holds what kernels do not have",
           "locals are numbers, vectors, matrices, arrays and structures of them");
  for (uint32_t n = 0; n < types_.Members(type); ++n)
    MakeLeaves(local, types_.Member(type, n), count, depth + 1, words);
}

uint32_t Lowering::LeavesOf(Id type, uint32_t depth) const {
  if (depth > kDeepest) Refuse(diag::E0853, b_->span(), "types nest deeper than 64 levels");
  if (types_.KindOf(type) == spv::OpTypeArray) return LeavesOf(types_.Element(type), depth + 1);
  if (types_.KindOf(type) != spv::OpTypeStruct) return 1;
  uint32_t sum = 0;
  for (uint32_t n = 0; n < types_.Members(type); ++n) sum += LeavesOf(types_.Member(type, n), depth + 1);
  return sum;
}

void Lowering::MakeLocal(const Instruction& variable, ir::Words words) {
  Spend(1, variable);
  auto local = std::make_unique<Local>();
  local->type = types_.Element(variable.type);
  bool is_table = MakeTable(*local, variable);
  if (!is_table) MakeLeaves(*local, local->type, 1, 0, words);
  std::string_view name = binary_.NameOf(variable.result);
  for (const Local::Leaf& leaf : local->leaves) {
    std::string word;
    for (char letter : name) {
      if ((letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || letter == '_')
        word += letter;
    }
    if (!word.empty() && leaf.array.Valid() && !is_table) (*kernel_)[leaf.array].name = FreeName(word);
  }
  Pointer pointer;
  pointer.kind = Pointer::Kind::Local;
  pointer.pointee = local->type;
  pointer.local = local.get();
  frame().locals[variable.result] = std::move(local);
  frame().pointers[variable.result] = pointer;
  if (variable.operands.size() > 1 && !is_table) Store(pointer, Get(variable.At(1)), variable);
}

// Each register of a value of `type`, in the order of its members, with where it lies in its array.
void Lowering::VisitLocal(const Pointer& pointer, Id type, uint32_t& leaf, Index element,
                          const std::function<void(Local::Leaf& leaf, ir::Value index)>& visit) {
  if (types_.IsRegister(type) || types_.IsAddress(type)) {
    ir::Value index = ValueOf(element);
    return visit(pointer.local->leaves[leaf++], index);
  }
  if (types_.KindOf(type) == spv::OpTypeArray) {
    uint32_t count = types_.Count(type), first = leaf;
    Index base = Scale(element, count);
    for (uint32_t n = 0; n < count; ++n) {
      leaf = first;
      VisitLocal(pointer, types_.Element(type), leaf, Sum(base, {n, {}}), visit);
    }
    return;
  }
  for (uint32_t n = 0; n < types_.Count(type); ++n)
    VisitLocal(pointer, types_.Member(type, n), leaf, element, visit);
}

// --- access chains ---

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

Pointer Lowering::GetPointer(Id id, const Instruction& user) {
  auto known = frame().pointers.find(id);
  if (known != frame().pointers.end()) return known->second;
  const Instruction* inst = binary_.Find(id);
  Require(inst != nullptr, user, "a pointer is used that nothing defines");
  if (types_.IsAddress(inst->type)) return PointerOf(GetOne(id), user);
  if (inst->op != spv::OpVariable)
    Refuse(diag::E0854, user.span, "a pointer that is chosen at run time",
           "index one buffer, or branch on what chooses");
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
    if (made == home.pointers.end())
      Refuse(diag::E0852, user.span, "a private variable is used that the module does not define");
    return made->second;
  }
  if (inst->At(0) == spv::StorageClassUniformConstant) {
    pointer.kind = Pointer::Kind::Handle;
    pointer.variable = id;
    return pointer;
  }
  pointer.kind = Pointer::Kind::Memory;
  pointer.resource = resources_->Find(id);
  if (pointer.resource == nullptr)
    Refuse(diag::E0855, user.span, "memory of a kind that kernels do not have",
           "use storage buffers, uniform blocks and push constants");
  return pointer;
}

namespace {

/// A pointer to a structure in memory as one to a member. Blocks that follow each other are elements.
void EnterMember(Pointer& p, uint32_t member, uint64_t offset) {
  if (p.in_block) {
    p.offset += offset;
    return;
  }
  p.in_block = true;
  if (p.resource->stride != 0) {
    p.has_outer = true;
    p.outer_stride = p.resource->stride;
    p.offset = offset;
  } else {
    p.member = member;
    p.member_offset = offset;
  }
}

}  // namespace

uint32_t Lowering::MemberAt(Id index, const Instruction& inst) {
  std::optional<int64_t> known = types_.Integer(index);
  Require(known && *known >= 0 && *known < INT32_MAX, inst, "a member is named by no constant");
  return static_cast<uint32_t>(*known);
}

Pointer Lowering::StepLocal(Pointer p, Id index_id, const Instruction& inst) {
  Id type = p.pointee;
  if (types_.KindOf(type) == spv::OpTypeStruct) {
    uint32_t member = MemberAt(index_id, inst);
    for (uint32_t n = 0; n < member && n < types_.Members(type); ++n)
      p.leaf += LeavesOf(types_.Member(type, n), 0);
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

Pointer Lowering::Step(Pointer p, Id index_id, const Instruction& inst) {
  Id type = p.pointee;
  spv::Op kind = types_.KindOf(type);
  if (p.kind == Pointer::Kind::Builtin) {
    Require(kind == spv::OpTypeVector && !p.component, inst, "a built-in input is indexed too deep");
    p.component = IndexOf(index_id);
    p.vector = type;
    p.pointee = types_.Element(type);
    return p;
  }
  if (p.kind == Pointer::Kind::Local) return StepLocal(std::move(p), index_id, inst);
  switch (static_cast<uint32_t>(kind)) {
    case spv::OpTypeStruct: {
      uint32_t member = MemberAt(index_id, inst);
      int64_t offset = binary_.MemberDecorated(type, member, spv::DecorationOffset);
      int64_t stride = binary_.MemberDecorated(type, member, spv::DecorationMatrixStride);
      p.pointee = types_.Member(type, member);
      if (stride >= 0) p.matrix_stride = static_cast<uint32_t>(stride);
      p.row_major = binary_.MemberDecorated(type, member, spv::DecorationRowMajor) >= 0;
      EnterMember(p, member, static_cast<uint64_t>(std::max<int64_t>(offset, 0)));
      return p;
    }
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray: {
      Require(p.in_block, inst, "a block is indexed");
      uint32_t stride = types_.ArrayStride(type);
      Index index = IndexOf(index_id);
      p.pointee = types_.Element(type);
      if (!p.has_outer && p.offset == 0 && p.terms.empty() &&
          type == types_.Member(p.resource->block, p.member)) {
        p.has_outer = true;
        p.outer = index;
        p.outer_stride = stride;
        return p;
      }
      if (index.constant < 0) Refuse(diag::E0852, inst.span, "an index is negative");
      p.offset += static_cast<uint64_t>(index.constant) * stride;
      if (index.dynamic.Valid()) p.terms.emplace_back(index.dynamic, stride);
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

void Lowering::AccessChain(const Instruction& inst) {
  Pointer pointer = GetPointer(inst.At(0), inst);
  for (size_t n = 1; n < inst.operands.size(); ++n) pointer = Step(std::move(pointer), inst.At(n), inst);
  frame().pointers[inst.result] = std::move(pointer);
}

// --- memory outside of the kernel ---

/// The unit and the element at `more` bytes behind a pointer.
Lowering::Place Lowering::PlaceOf(const Pointer& p, ir::Scalar scalar, uint64_t more,
                                  const Instruction& inst) {
  Place place;
  place.unit = p.resource->Find(p.member, scalar);
  Require(place.unit != nullptr && p.in_block, inst, "a member is accessed as another kind of number");
  const Unit& unit = *place.unit;
  uint32_t bytes = ir::ByteSize(unit.scalar);
  uint64_t offset = p.offset + more;
  bool misaligned = offset % bytes != 0;
  for (const auto& [value, stride] : p.terms) misaligned = misaligned || stride % bytes != 0;
  if (misaligned)
    Refuse(diag::E0853, inst.span, "a member does not lie at a multiple of its size",
           "align the members of the block");
  if (offset / bytes > INT32_MAX) Refuse(diag::E0853, inst.span, "a block is larger than 2 GiB");
  Index inner{static_cast<int64_t>(offset / bytes), {}};
  for (const auto& [value, stride] : p.terms) inner = Sum(inner, Scale({0, value}, stride / bytes));
  switch (unit.view) {
    case View::Single:
    case View::Elements:
      if (unit.view == View::Elements) {
        Require(p.has_outer, inst, "an array is accessed as a whole");
        place.indices.push_back(ValueOf(p.outer));
      }
      if (types_.Register(unit.type).IsVec()) {
        Require(!inner.dynamic.Valid(), inst, "a component is named by no constant");
        place.component = static_cast<uint32_t>(inner.constant);
      }
      return place;
    case View::Rows:
      Require(p.has_outer, inst, "an array is accessed as a whole");
      place.indices = {ValueOf(p.outer), ValueOf(inner)};
      return place;
    case View::Words: {
      bool whole = p.member_offset % bytes == 0 && p.outer_stride % bytes == 0;
      if (!whole)
        Refuse(diag::E0853, inst.span, "a member does not lie at a multiple of its size",
               "align the members of the block");
      inner.constant += static_cast<int64_t>(p.member_offset / bytes);
      if (p.has_outer) inner = Sum(Scale(p.outer, p.outer_stride / bytes), inner);
      place.indices = {ValueOf(inner)};
      return place;
    }
    case View::Value:
    case View::Texels:
      break;
  }
  Refuse(diag::E0852, inst.span, "a value is accessed as memory");
}

ir::Value Lowering::FromMemory(ir::Value value) {
  ir::Type type = kernel_->TypeOf(value);
  if (!ir::IsUnsigned(type.scalar)) return value;
  auto same = static_cast<ir::Scalar>(static_cast<uint8_t>(type.scalar) - 4);
  return b_->Cast(value, type.WithScalar(same));
}

ir::Value Lowering::ToMemory(ir::Value value, ir::Scalar scalar) {
  if (ir::IsFloat(scalar) && !kernel_->TypeOf(value).IsFloat())
    return b_->Bitcast(value, ir::Type::Of(scalar));
  return b_->Cast(value, kernel_->TypeOf(value).WithScalar(scalar));
}

ir::Value Lowering::LoadScalar(const Place& place) {
  ir::Value value = b_->Load(place.Base(), place.indices, ir::kNoAttr, place.component);
  return place.unit != nullptr && place.unit->float_words ? b_->Bitcast(value, ir::kI32) : FromMemory(value);
}

/// A register value of a block whose members are parameters by value.
ir::Value Lowering::LoadByValue(const Pointer& p, Id type, const Instruction& inst) {
  auto value_at = [&](uint64_t offset) {
    if (resources_->FindPointed(p.resource->variable, offset) != nullptr)
      Refuse(diag::E0854, inst.span, "an address is used as a number",
             "make a pointer of it where it is read, and nothing else");
    Unit* unit = p.resource->FindValue(offset);
    Require(unit != nullptr, inst, "a member of a block of constants is not where it should be");
    return FromMemory(unit->param);
  };
  uint64_t base = p.member_offset + p.offset;
  if (!p.has_outer || !p.outer.dynamic.Valid()) {
    if (p.has_outer) base += static_cast<uint64_t>(std::max<int64_t>(p.outer.constant, 0)) * p.outer_stride;
  }
  std::vector<std::pair<ir::Value, uint32_t>> terms = p.terms;
  if (p.has_outer && p.outer.dynamic.Valid()) terms.emplace_back(p.outer.dynamic, p.outer_stride);
  if (terms.empty()) {
    if (Unit* unit = p.resource->FindValue(base);
        unit != nullptr && types_.Register(unit->type) == types_.Register(type))
      return FromMemory(unit->param);
  }
  // A column of a matrix, or one of several values: what lies where, one after the other.
  ir::Type want = types_.Register(type);
  ir::Value result;
  for (Unit& unit : p.resource->units) {
    if (unit.view != View::Value || unit.member != p.member ||
        !SameKind(unit.scalar, types_.MemoryScalar(type)))
      continue;
    ir::Type have = types_.Register(unit.type);
    std::vector<std::pair<uint64_t, ir::Value>> candidates;
    if (have == want) {
      candidates.emplace_back(unit.offset, FromMemory(unit.param));
    } else if (have.IsMat() && want == ir::Type::Vec(have.scalar, have.rows)) {
      const ir::ShaderBinding& binding =
          module_.shader_bindings[kernel_->params[(*kernel_)[unit.param].number].shader_binding];
      uint32_t step = binding.row_major ? ir::ByteSize(have.scalar) : binding.matrix_stride;
      for (uint32_t column = 0; column < have.columns; ++column)
        candidates.emplace_back(unit.offset + uint64_t{step} * column,
                                Column(FromMemory(unit.param), column));
    }
    for (auto& [offset, value] : candidates) {
      if (terms.empty()) {
        if (offset == base) result = value;
        continue;
      }
      Index at;
      for (const auto& [index, stride] : terms) at = Sum(at, Scale({0, index}, stride));
      if (!result.Valid()) {
        result = value;
        continue;
      }
      ir::Value here =
          b_->Make(ir::Op::Eq, {at.dynamic, b_->I32(static_cast<int32_t>(static_cast<int64_t>(offset) -
                                                                         static_cast<int64_t>(base)))});
      result = b_->Make(ir::Op::Select, {here, value, result});
    }
  }
  if (!result.Valid()) value_at(base);
  return result;
}

/// Where part `n` of a composite in memory lies.
Pointer Lowering::Inner(const Pointer& pointer, Id type, uint32_t n, const Instruction& inst) {
  Pointer p = pointer;
  if (types_.KindOf(type) == spv::OpTypeStruct) {
    int64_t offset = binary_.MemberDecorated(type, n, spv::DecorationOffset);
    int64_t stride = binary_.MemberDecorated(type, n, spv::DecorationMatrixStride);
    if (stride >= 0) p.matrix_stride = static_cast<uint32_t>(stride);
    p.row_major = binary_.MemberDecorated(type, n, spv::DecorationRowMajor) >= 0;
    p.pointee = types_.Member(type, n);
    EnterMember(p, n, static_cast<uint64_t>(std::max<int64_t>(offset, 0)));
    return p;
  }
  Require(types_.KindOf(type) == spv::OpTypeArray, inst, "an array of unknown length is moved as a whole");
  p.pointee = types_.Element(type);
  uint32_t stride = types_.ArrayStride(type);
  if (!p.has_outer && p.offset == 0 && p.terms.empty() &&
      type == types_.Member(p.resource->block, p.member)) {
    p.has_outer = true;
    p.outer = {n, {}};
    p.outer_stride = stride;
  } else {
    p.offset += uint64_t{stride} * n;
  }
  return p;
}

void Lowering::LoadMemory(const Pointer& p, Id type, const Instruction& inst, Value& out) {
  Spend(1, inst);
  if (types_.IsAddress(type)) {
    out.parts.push_back(LoadAddress(p, inst));
    return;
  }
  if (!types_.IsRegister(type)) {
    types_.LeafCount(type);
    for (uint32_t n = 0; n < types_.Count(type); ++n) {
      Pointer part = Inner(p, type, n, inst);
      LoadMemory(part, part.pointee, inst, out);
    }
    return;
  }
  ir::Type reg = types_.Register(type);
  ir::Scalar scalar = types_.MemoryScalar(type);
  if (p.resource->Find(p.member, scalar) == nullptr &&
      p.resource->kind != ir::ShaderBinding::Kind::StorageBuffer) {
    out.parts.push_back(LoadByValue(p, type, inst));
    return;
  }
  uint32_t bytes = ir::ByteSize(reg.scalar);
  if (reg.IsScalar()) {
    out.parts.push_back(LoadScalar(PlaceOf(p, scalar, 0, inst)));
    return;
  }
  if (reg.IsVec()) {
    uint32_t stride = p.component_stride == 0 ? bytes : p.component_stride;
    Place first = PlaceOf(p, scalar, 0, inst);
    if (first.component != ir::kNoAttr) {
      first.component = ir::kNoAttr;
      out.parts.push_back(LoadScalar(first));
      return;
    }
    std::vector<ir::Value> parts{LoadScalar(first)};
    for (uint32_t n = 1; n < reg.rows; ++n)
      parts.push_back(LoadScalar(PlaceOf(p, scalar, uint64_t{stride} * n, inst)));
    out.parts.push_back(MakeVector(parts));
    return;
  }
  std::vector<ir::Value> columns;
  for (uint32_t column = 0; column < reg.columns; ++column) {
    std::vector<ir::Value> parts;
    for (uint32_t row = 0; row < reg.rows; ++row) {
      uint64_t at = p.row_major ? uint64_t{p.matrix_stride} * row + uint64_t{bytes} * column
                                : uint64_t{p.matrix_stride} * column + uint64_t{bytes} * row;
      parts.push_back(LoadScalar(PlaceOf(p, scalar, at, inst)));
    }
    columns.push_back(MakeVector(parts));
  }
  out.parts.push_back(MatrixOf(reg, columns));
}

void Lowering::StoreMemory(const Pointer& p, Id type, std::span<const ir::Value>& parts,
                           const Instruction& inst) {
  Spend(1, inst);
  if (types_.IsAddress(type))
    Refuse(diag::E0854, inst.span, "a pointer is written to memory",
           "write the number of an element instead");
  if (!types_.IsRegister(type)) {
    types_.LeafCount(type);
    for (uint32_t n = 0; n < types_.Count(type); ++n) {
      Pointer part = Inner(p, type, n, inst);
      StoreMemory(part, part.pointee, parts, inst);
    }
    return;
  }
  ir::Type reg = types_.Register(type);
  ir::Scalar scalar = types_.MemoryScalar(type);
  ir::Value value = parts[0];
  parts = parts.subspan(1);
  uint32_t bytes = ir::ByteSize(reg.scalar);
  auto store = [&](const Place& place, ir::Value what) {
    ir::Value memory = ToMemory(what, place.unit->scalar);
    b_->Access(ir::Op::Store, place.unit->param, place.indices, {&memory, 1}, ir::kNoAttr, place.component);
  };
  if (reg.IsScalar()) {
    store(PlaceOf(p, scalar, 0, inst), value);
    return;
  }
  if (reg.IsVec()) {
    uint32_t stride = p.component_stride == 0 ? bytes : p.component_stride;
    Place first = PlaceOf(p, scalar, 0, inst);
    if (first.component != ir::kNoAttr) {
      first.component = ir::kNoAttr;
      store(first, value);
      return;
    }
    for (uint32_t n = 0; n < reg.rows; ++n)
      store(PlaceOf(p, scalar, uint64_t{stride} * n, inst), ComponentOf(value, n));
    return;
  }
  for (uint32_t column = 0; column < reg.columns; ++column) {
    ir::Value whole = Column(value, column);
    for (uint32_t row = 0; row < reg.rows; ++row) {
      uint64_t at = p.row_major ? uint64_t{p.matrix_stride} * row + uint64_t{bytes} * column
                                : uint64_t{p.matrix_stride} * column + uint64_t{bytes} * row;
      store(PlaceOf(p, scalar, at, inst), ComponentOf(whole, row));
    }
  }
}

// --- loads and stores ---

/// The component of a vector in a local that a pointer names by a constant: others may access the rest of it.
std::optional<uint32_t> Lowering::FixedComponent(const Pointer& p) const {
  if (p.column || !p.component || p.component->dynamic.Valid()) return std::nullopt;
  ir::Type element = p.local->leaves[p.leaf].element;
  bool good = element.IsVec() && p.component->constant >= 0 && p.component->constant < element.Components();
  return good ? std::optional(static_cast<uint32_t>(p.component->constant)) : std::nullopt;
}

Value Lowering::Load(const Pointer& p, const Instruction& inst) {
  Value out;
  switch (p.kind) {
    case Pointer::Kind::Builtin: {
      ir::Value whole = Builtin(p.builtin, p.pointee, inst);
      if (p.component) {
        ir::Value index = ValueOf(*p.component);
        std::optional<int64_t> known = kernel_->IntegerConstant(index);
        whole = known && *known >= 0 && *known < 3 ? ComponentOf(whole, static_cast<uint32_t>(*known))
                                                   : b_->Make(ir::Op::VecGet, {whole, index});
      }
      out.parts.push_back(whole);
      return out;
    }
    case Pointer::Kind::Local: {
      uint32_t leaf = p.leaf;
      if (!p.column && !p.component) {
        VisitLocal(p, p.pointee, leaf, p.element, [&](Local::Leaf& part, ir::Value index) {
          ir::Value address = part.address.Valid() ? part.address : b_->Int(ir::kI64, 0);
          out.parts.push_back(part.array.Valid() ? LoadLeaf(part, index) : address);
        });
        return out;
      }
      ir::Value index = ValueOf(p.element);
      if (std::optional<uint32_t> component = FixedComponent(p)) {
        out.parts.push_back(LoadLeaf(p.local->leaves[leaf], index, *component));
        return out;
      }
      ir::Value whole = LoadLeaf(p.local->leaves[leaf], index);
      if (p.column) {
        ir::Value column = ValueOf(*p.column);
        ir::Type type = kernel_->TypeOf(whole);
        std::vector<ir::Value> parts;
        for (uint32_t row = 0; row < type.rows; ++row)
          parts.push_back(b_->Make(ir::Op::MatGet, {whole, b_->I32(static_cast<int32_t>(row)), column}));
        whole = MakeVector(parts);
      }
      if (p.component) whole = b_->Make(ir::Op::VecGet, {whole, ValueOf(*p.component)});
      out.parts.push_back(whole);
      return out;
    }
    case Pointer::Kind::Memory: {
      if (!p.part) {
        LoadMemory(p, p.pointee, inst, out);
        return out;
      }
      // A component of a vector in memory.
      ir::Scalar scalar = types_.MemoryScalar(p.vector);
      Unit* unit = p.resource->Find(p.member, scalar);
      bool known = !p.part->dynamic.Valid();
      bool element = unit != nullptr && (unit->view == View::Single || unit->view == View::Elements);
      if (unit == nullptr || (element && !known)) {
        Pointer whole = p;
        whole.part.reset();
        whole.pointee = p.vector;
        Value vector;
        LoadMemory(whole, p.vector, inst, vector);
        out.parts.push_back(b_->Make(ir::Op::VecGet, {vector.parts[0], ValueOf(*p.part)}));
        return out;
      }
      out.parts.push_back(LoadScalar(PlaceOf(ComponentPlace(p), scalar, 0, inst)));
      return out;
    }
    case Pointer::Kind::Handle:
    case Pointer::Kind::None:
      break;
  }
  Refuse(diag::E0852, inst.span, "a pointer leads nowhere");
}

/// A pointer to a component as one to a number.
Pointer Lowering::ComponentPlace(const Pointer& pointer) {
  Pointer p = pointer;
  uint32_t bytes = ir::ByteSize(types_.Register(p.vector).scalar);
  uint32_t stride = p.component_stride == 0 ? bytes : p.component_stride;
  p.offset += static_cast<uint64_t>(std::max<int64_t>(p.part->constant, 0)) * stride;
  if (p.part->dynamic.Valid()) p.terms.emplace_back(p.part->dynamic, stride);
  p.part.reset();
  return p;
}

/// A matrix whose column, or component of a column, that `p` names is `value`.
ir::Value Lowering::WithColumn(ir::Value matrix, const Pointer& p, ir::Value value) {
  ir::Type type = kernel_->TypeOf(matrix);
  std::vector<ir::Value> columns;
  for (uint32_t n = 0; n < type.columns; ++n) {
    ir::Value old = Column(matrix, n), now = value;
    if (p.component) now = b_->Make(ir::Op::VecSet, {old, ValueOf(*p.component), value});
    if (p.column->dynamic.Valid()) {
      ir::Value here = b_->Make(ir::Op::Eq, {ValueOf(*p.column), b_->I32(static_cast<int32_t>(n))});
      now = b_->Make(ir::Op::Select, {here, now, old});
    } else if (p.column->constant != n) {
      now = old;
    }
    columns.push_back(now);
  }
  return MatrixOf(type, columns);
}

void Lowering::StoreLocal(const Pointer& p, std::span<const ir::Value> parts, const Instruction& inst) {
  uint32_t leaf = p.leaf;
  Require(!parts.empty() || types_.Members(p.pointee) == 0, inst, "nothing is stored");
  if (!p.column && !p.component) {
    VisitLocal(p, p.pointee, leaf, p.element, [&](Local::Leaf& part, ir::Value index) {
      if (part.array.Valid()) {
        b_->Access(ir::Op::Store, part.array, {&index, 1}, parts.subspan(0, 1));
      } else {
        StoreAddress(part, parts[0], inst);
      }
      parts = parts.subspan(1);
    });
    return;
  }
  ir::Value index = ValueOf(p.element), array = p.local->leaves[leaf].array;
  if (std::optional<uint32_t> component = FixedComponent(p)) {
    b_->Access(ir::Op::Store, array, {&index, 1}, parts.subspan(0, 1), ir::kNoAttr, *component);
    return;
  }
  ir::Value whole = b_->Load(array, {&index, 1});
  if (p.column) {
    whole = WithColumn(whole, p, parts[0]);
  } else {
    whole = b_->Make(ir::Op::VecSet, {whole, ValueOf(*p.component), parts[0]});
  }
  b_->Access(ir::Op::Store, array, {&index, 1}, {&whole, 1});
}

void Lowering::Store(const Pointer& p, Value value, const Instruction& inst) {
  std::span<const ir::Value> parts = value.parts;
  switch (p.kind) {
    case Pointer::Kind::Local:
      return StoreLocal(p, parts, inst);
    case Pointer::Kind::Memory: {
      if (p.resource->kind != ir::ShaderBinding::Kind::StorageBuffer)
        Refuse(diag::E0852, inst.span, "a constant block is written");
      if (!p.part) {
        StoreMemory(p, p.pointee, parts, inst);
        return;
      }
      ir::Scalar scalar = types_.MemoryScalar(p.vector);
      Unit* unit = p.resource->Find(p.member, scalar);
      Require(unit != nullptr, inst, "a member is accessed as another kind of number");
      bool element = unit->view == View::Single || unit->view == View::Elements;
      ir::Value memory = ToMemory(parts[0], unit->scalar);
      if (element && p.part->dynamic.Valid()) {
        // Component by component: the others are not touched.
        ir::Value at = ValueOf(*p.part);
        Pointer one = p;
        for (uint32_t n = 0; n < types_.Count(p.vector); ++n) {
          one.part = Index{n, {}};
          ir::Inst branch = b_->If(b_->Make(ir::Op::Eq, {at, b_->I32(static_cast<int32_t>(n))}), {});
          ir::Block back = b_->block();
          b_->SetBlock((*kernel_)[branch].regions[0]);
          Place place = PlaceOf(ComponentPlace(one), scalar, 0, inst);
          b_->Access(ir::Op::Store, place.unit->param, place.indices, {&memory, 1}, ir::kNoAttr,
                     place.component);
          Close((*kernel_)[branch].regions[0]);
          Close((*kernel_)[branch].regions[1]);
          b_->SetBlock(back);
        }
        return;
      }
      Place place = PlaceOf(ComponentPlace(p), scalar, 0, inst);
      b_->Access(ir::Op::Store, place.unit->param, place.indices, {&memory, 1}, ir::kNoAttr, place.component);
      return;
    }
    case Pointer::Kind::Builtin:
    case Pointer::Kind::Handle:
    case Pointer::Kind::None:
      break;
  }
  Refuse(diag::E0852, inst.span, "something is written that cannot be");
}

void Lowering::ArrayLength(const Instruction& inst) {
  Pointer block = GetPointer(inst.At(0), inst);
  Require(block.kind == Pointer::Kind::Memory && !block.in_block && block.resource != nullptr, inst,
          "the length of something other than a block's array is asked for");
  Unit* unit = nullptr;
  for (Unit& candidate : block.resource->units) {
    if (candidate.member == inst.At(1)) unit = &candidate;
  }
  Require(unit != nullptr, inst, "the length of a member is asked for that is no array");
  ir::Value length = b_->Shape(unit->param, 0);
  if (unit->view == View::Words) {
    Id array = types_.Member(block.resource->block, inst.At(1));
    int64_t offset = binary_.MemberDecorated(block.resource->block, inst.At(1), spv::DecorationOffset);
    auto bytes = static_cast<int32_t>(ir::ByteSize(unit->scalar));
    auto stride = static_cast<int32_t>(types_.ArrayStride(array));
    ir::Value words = b_->Make(ir::Op::Sub, {length, b_->I32(static_cast<int32_t>(offset) / bytes)});
    length = b_->Make(ir::Op::Div, {words, b_->I32(std::max(1, stride / bytes))});
  }
  SetOne(inst, length);
}

}  // namespace adc::frontend::spirv
