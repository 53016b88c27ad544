#include "frontend/spirv/resources.h"

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/images.h"
#include "ir/module.h"
#include "ir/param_words.h"
#include "support/letters.h"

namespace adc::frontend::spirv {

using Kind = ir::ShaderBinding::Kind;

namespace {

constexpr uint32_t kMostValues = 256;

std::string Identifier(std::string_view text) {
  std::string word;
  for (char letter : text) {
    if (IsNameCharacter(letter)) word += letter;
  }
  if (!word.empty() && IsDigit(word[0])) word.insert(word.begin(), '_');
  return word;
}

/// Names that a compiler made: HLSL's "@data", "_m0" of one without names, Slang's "__member0".
bool IsMade(std::string_view name) {
  size_t letters = name.starts_with("__member") ? 8 : name.starts_with("_m") ? 2 : name.size();
  bool numbered =
      name.size() > letters && name.find_first_not_of("0123456789", letters) == std::string_view::npos;
  return name.empty() || name[0] == '@' || numbered || name == "_data";
}

/// The element type as the atomic minima and maxima of a buffer take it, where all of them agree.
ir::Scalar AsCompared(const Resource& resource, ir::Scalar scalar) {
  if (scalar == ir::Scalar::U32 && resource.use.compares_signed && !resource.use.compares_unsigned)
    return ir::Scalar::I32;
  if (scalar == ir::Scalar::I32 && resource.use.compares_unsigned && !resource.use.compares_signed)
    return ir::Scalar::U32;
  return scalar;
}

}  // namespace

bool SameKind(ir::Scalar a, ir::Scalar b) {
  return ir::IsFloat(a) == ir::IsFloat(b) && ir::ByteSize(a) == ir::ByteSize(b);
}

Unit* Resource::Find(uint32_t member, ir::Scalar scalar) {
  for (Unit& unit : units) {
    bool fits = SameKind(unit.scalar, scalar) || (unit.float_words && SameKind(scalar, ir::Scalar::U32));
    if (unit.view != View::Value && unit.member == member && fits) return &unit;
  }
  return nullptr;
}

Resource* Resources::Find(Id variable) {
  for (Resource& resource : resources_) {
    if (resource.variable == variable && !resource.by_pointer) return &resource;
  }
  return nullptr;
}

Resource* Resources::FindPointed(Id variable, uint64_t offset) {
  for (Resource& resource : resources_) {
    if (resource.by_pointer && resource.variable == variable && resource.pointer_offset == offset)
      return &resource;
  }
  return nullptr;
}

void Resources::Add(std::vector<Resource> found, const Pointed& pointed) {
  pointed_ = &pointed;
  std::sort(found.begin(), found.end(), [](const Resource& a, const Resource& b) {
    return std::tuple(a.kind, a.set, a.binding, a.variable) <
           std::tuple(b.kind, b.set, b.binding, b.variable);
  });
  for (Resource& resource : found) {
    here_ = types_.Of(resource.variable).span;
    resource.name = std::string(types_.binary().NameOf(resource.variable));
    if (resource.name.empty() || resource.name[0] == '_')
      resource.name = std::string(types_.binary().NameOf(resource.block));
    if (types_.IsImage(resource.block)) {
      AddImage(resource);
      continue;
    }
    if (types_.KindOf(resource.block) != spv::OpTypeStruct)
      Refuse(diag::E0853, types_.Of(resource.variable).span,
             "'" + resource.name + "' is an array of blocks, or no block at all",
             "declare each block by itself");
    if (resource.kind == Kind::StorageBuffer) {
      AddStorage(resource);
    } else {
      AddValues(resource);
    }
  }
  std::vector<Resource> behind;
  for (const Resource& resource : found) AddPointed(resource, resource.block, 0, "", behind);
  for (Resource& resource : behind) {
    here_ = types_.Of(resource.variable).span;
    resource.use.stride == 0 ? AddStorage(resource) : AddBlocks(resource);
  }
  found.insert(found.end(), behind.begin(), behind.end());
  resources_ = std::move(found);
}

/// Whether the block of `holder` has a pointer at `offset`, or an integer that is one.
bool Resources::IsPointer(const Resource& holder, Id type, uint64_t offset) const {
  return types_.IsAddress(type) || pointed_->addresses.count({holder.variable, offset}) != 0;
}

/// The blocks that the pointers at fixed places of a block lead to.
void Resources::AddPointed(const Resource& holder, Id type, uint64_t offset, const std::string& name,
                           std::vector<Resource>& out) {
  const Binary& binary = types_.binary();
  if (types_.KindOf(type) == spv::OpTypeStruct) {
    for (uint32_t n = 0; n < types_.Members(type); ++n) {
      AddPointed(holder, types_.Member(type, n), offset + types_.PlaceOf(type, n).offset,
                 (name.empty() ? "" : name + ".") + Identifier(binary.MemberName(type, n)), out);
    }
    return;
  }
  if (types_.KindOf(type) == spv::OpTypeArray && types_.IsAddress(types_.Element(type))) {
    uint32_t stride = types_.ArrayStride(type);
    for (uint32_t n = 0; n < std::min(types_.Count(type), kMostValues); ++n)
      AddPointed(holder, types_.Element(type), offset + uint64_t{stride} * n, name + "." + std::to_string(n),
                 out);
    return;
  }
  if (!IsPointer(holder, type, offset)) return;
  Resource resource;
  resource.by_pointer = true;
  resource.variable = holder.variable;
  resource.set = holder.set;
  resource.binding = holder.binding;
  resource.pointer_offset = offset;
  auto address = pointed_->addresses.find({holder.variable, offset});
  resource.block = address != pointed_->addresses.end() ? address->second : types_.Element(type);
  resource.name = name;
  if (auto found = pointed_->blocks.find(resource.block); found != pointed_->blocks.end())
    resource.use = found->second;
  resource.read_only = !resource.use.written;
  if (types_.KindOf(resource.block) == spv::OpTypeStruct) out.push_back(std::move(resource));
}

/// A pointer that is indexed: the block is an element of an array.
void Resources::AddBlocks(Resource& resource) {
  Kinds kinds;
  FindKinds(resource.block, kinds, 0);
  uint64_t fixed = 0;
  uint32_t repeated = 0;
  if (types_.Members(resource.block) != 0) Measure(resource, &fixed, &repeated);
  if (repeated != 0 || fixed > resource.use.stride)
    Refuse(diag::E0854, here_, "'" + resource.name + "' is computed with, so that its blocks overlap",
           "index inside of the block");
  Id first = types_.Members(resource.block) == 0 ? 0 : types_.Member(resource.block, 0);
  bool tight = types_.Members(resource.block) == 1 && IsTight(first, resource.use.stride);
  for (ir::Scalar scalar : kinds.scalars) {
    Unit unit{.view = tight ? View::Elements : View::Rows,
              .type = first,
              .stride = resource.use.stride,
              .scalar = AsCompared(resource, scalar)};
    if (resource.use.stride % ir::ByteSize(scalar) != 0)
      Refuse(diag::E0853, here_, "'" + resource.name + "' has elements that are no multiple of their numbers",
             "align the members of the block");
    ir::Type element = tight ? types_.Register(first) : ir::Type::Of(unit.scalar);
    std::string own = resource.name;
    if (!SameKind(scalar, kinds.scalars[0])) own += std::string(".") + ir::Spelling(scalar);
    AddUnit(resource, unit, ir::Type::Buffer(element.WithScalar(unit.scalar), tight ? 1 : 2), own,
            kinds.scalars.size() == 1);
  }
}

/// Whether elements of the type, numbers or vectors, lie one after the other without padding.
bool Resources::IsTight(Id type, uint32_t stride) const {
  return types_.IsRegister(type) && !types_.Register(type).IsMat() &&
         types_.Register(type).ElementBytes() == stride;
}

void Resources::FindKinds(Id type, Kinds& kinds, uint32_t depth) const {
  if (depth > kDeepest) Refuse(diag::E0853, types_.Of(type).span, "types nest deeper than 64 levels");
  if (types_.IsRegister(type)) {
    ir::Scalar scalar = types_.MemoryScalar(type);
    if (scalar == ir::Scalar::I1) Refuse(diag::E0853, types_.Of(type).span, "a block holds booleans");
    bool known = std::any_of(kinds.scalars.begin(), kinds.scalars.end(),
                             [&](ir::Scalar other) { return SameKind(other, scalar); });
    if (!known) kinds.scalars.push_back(scalar);
    return;
  }
  switch (static_cast<uint32_t>(types_.KindOf(type))) {
    case spv::OpTypeArray:
    case spv::OpTypeRuntimeArray:
      kinds.has_array = true;
      FindKinds(types_.Element(type), kinds, depth + 1);
      return;
    case spv::OpTypeStruct:
      for (uint32_t n = 0; n < types_.Members(type); ++n) FindKinds(types_.Member(type, n), kinds, depth + 1);
      return;
    case spv::OpTypePointer:
      return;  // what it leads to is a resource of its own, or refused where it is read
    default:
      Refuse(diag::E0853, types_.Of(type).span.Valid() ? types_.Of(type).span : here_,
             "a block holds what kernels do not have in memory",
             "blocks hold numbers, vectors, matrices, arrays and structures");
  }
}

uint64_t Resources::SizeOf(Id type, uint32_t matrix_stride, bool row_major) const {
  if (types_.IsRegister(type)) {
    ir::Type reg = types_.Register(type);
    if (!reg.IsMat()) return reg.ElementBytes();
    uint32_t lines = row_major ? reg.rows : reg.columns, length = row_major ? reg.columns : reg.rows;
    return uint64_t{matrix_stride} * (lines - 1) + uint64_t{length} * ir::ByteSize(reg.scalar);
  }
  if (types_.IsAddress(type)) return 8;
  if (types_.KindOf(type) == spv::OpTypeArray) return uint64_t{types_.ArrayStride(type)} * types_.Count(type);
  if (types_.KindOf(type) != spv::OpTypeStruct) return 0;
  uint64_t end = 0;
  for (uint32_t n = 0; n < types_.Members(type); ++n) {
    MemberPlace place = types_.PlaceOf(type, n);
    end = std::max(end, place.offset + SizeOf(types_.Member(type, n), place.matrix_stride, place.row_major));
  }
  return end;
}

void Resources::Measure(const Resource& resource, uint64_t* fixed, uint32_t* stride) const {
  uint32_t last = types_.Members(resource.block) - 1;
  *fixed = SizeOf(resource.block, 0, false);
  *stride = 0;
  Id type = types_.Member(resource.block, last);
  if (types_.KindOf(type) != spv::OpTypeRuntimeArray) return;
  *stride = types_.ArrayStride(type);
  *fixed = types_.PlaceOf(resource.block, last).offset;
}

std::string Resources::Free(std::string_view wanted) {
  std::string name(wanted.empty() ? "block" : wanted);
  for (uint32_t number = 2; !taken_.insert(name).second; ++number)
    name = std::string(wanted) + "_" + std::to_string(number);
  return name;
}

ir::ParamInfo Resources::MarksOf(const std::string& name, const Resource& resource, ir::Scalar scalar,
                                 bool buffer) {
  ir::ParamInfo all;
  std::string block = Identifier(resource.name);
  // A marker after the type of a pointer's block is one of all pointers to it.
  std::string type = resource.by_pointer ? Identifier(types_.binary().NameOf(resource.block)) : block;
  bool is_float = ir::IsFloat(scalar);
  if (is_float) names_.push_back(name);
  if (is_float && block != name && !block.empty()) names_.push_back(block);
  for (size_t n = 0; n < request_.config.marked.size(); ++n) {
    const MarkedName& mark = request_.config.marked[n];
    if (mark.name != name && mark.name != block && mark.name != type) continue;
    bool others = false;
    for (const ir::ParamWord& word : ir::kParamWords) {
      bool is_diff = word.flag == &ir::ParamInfo::diff;
      all.*word.flag |= mark.marks.*word.flag && (is_diff ? is_float : buffer);
      others |= !is_diff && mark.marks.*word.flag;
    }
    // An adjoint that is asked for must be there, and the other attributes must have their buffer.
    bool fits = mark.marks.diff ? is_float && (buffer || !others) : buffer;
    if (fits) request_.mark_used[n] = true;
  }
  return all;
}

void Resources::AddUnit(Resource& resource, Unit unit, ir::Type type, const std::string& name, bool whole) {
  std::string free = Free(name);
  ir::ParamInfo info = MarksOf(free, resource, unit.scalar, type.IsBuffer());
  if (request_.config.native_images && info.save)
    Refuse(diag::E0855, here_,
           "'" + free + "' is marked 'save', and --images=native makes no kernel that saves",
           "leave --images=native out: the kernel of a bundle saves what its gradient reads");
  if (request_.config.native_images) info.diff = false;
  info.readonly = type.IsBuffer() && resource.read_only;
  info.alias = type.IsBuffer() && resource.aliased;
  info.interleaved = !whole && type.IsBuffer();
  info.span = types_.Of(resource.variable).span;
  info.shader_binding = static_cast<uint32_t>(module_.shader_bindings.size());
  ir::ShaderBinding binding;
  binding.kind = resource.kind;
  binding.by_pointer = resource.by_pointer;
  binding.is_image = unit.view == View::Texels;
  binding.set = resource.set;
  binding.binding = resource.binding;
  binding.offset = static_cast<uint32_t>(unit.offset);
  // Several variables that see one block have the name of its type: uniform blocks, and those that may alias.
  std::string_view type_name = types_.binary().NameOf(resource.block);
  bool one_block = (resource.kind == Kind::UniformBuffer || resource.aliased) && !type_name.empty();
  binding.block = one_block ? std::string(type_name) : resource.name;
  if (type.IsBuffer() && unit.view != View::Texels) {
    uint64_t fixed = 0;
    Measure(resource, &fixed, &binding.element_stride);
    if (fixed > INT32_MAX) Refuse(diag::E0853, info.span, "a block is larger than 2 GiB");
    binding.fixed_bytes = static_cast<uint32_t>(fixed);
    binding.row_bytes = unit.stride;
    bool is_block = unit.view == View::Words || (resource.by_pointer && resource.use.stride != 0);
    Id holds = is_block ? resource.block : unit.type;
    if (is_block || unit.view == View::Rows) {
      std::optional<ir::StructMember> held = DescribeStruct(types_, holds, unit.stride);
      if (held) info.struct_words = module_.AddStruct(std::move(*held));
    }
  }
  module_.shader_bindings.push_back(binding);
  unit.param = kernel_.AddParameter(type, module_.Intern(free), info);
  resource.units.push_back(unit);
}

/// An array of words, such as a byte-address buffer, of which an adjoint is asked: the shader moves bits of
/// floats in them.
bool Resources::HasFloatWords(const Resource& resource, const std::string& name, Id array) const {
  if (!request_.turns_bits || types_.KindOf(array) != spv::OpTypeRuntimeArray) return false;
  Id element = types_.Element(array);
  if (types_.KindOf(element) != spv::OpTypeInt || types_.MemoryScalar(element) != ir::Scalar::U32)
    return false;
  return std::any_of(
      request_.config.marked.begin(), request_.config.marked.end(), [&](const MarkedName& mark) {
        return mark.marks.diff && (mark.name == name || mark.name == Identifier(resource.name));
      });
}

/// The name of a parameter for a member. Two blocks may have members of one name.
std::string Resources::NameOfMember(const Resource& resource, uint32_t member) const {
  std::string_view given = types_.binary().MemberName(resource.block, member);
  std::string name = Identifier(IsMade(given) ? std::string_view(resource.name) : given);
  if (resource.by_pointer) name = resource.name + (types_.Members(resource.block) == 1 ? "" : "." + name);
  return taken_.count(name) != 0 && !resource.name.empty() ? Identifier(resource.name) + "." + name : name;
}

void Resources::AddStorage(Resource& resource) {
  uint32_t members = types_.Members(resource.block);
  for (uint32_t member = 0; member < members; ++member) {
    Kinds kinds;
    Id type = types_.Member(resource.block, member);
    FindKinds(type, kinds, 0);
    std::string name = NameOfMember(resource, member);
    for (ir::Scalar scalar : kinds.scalars) {
      Unit unit{.type = type, .member = member};
      unit.float_words = members == 1 && HasFloatWords(resource, name, type);
      unit.scalar = scalar = unit.float_words ? ir::Scalar::F32 : AsCompared(resource, scalar);
      bool array = types_.KindOf(type) == spv::OpTypeRuntimeArray || types_.KindOf(type) == spv::OpTypeArray;
      bool is_all =
          members == 1 && types_.binary().MemberDecorated(resource.block, member, spv::DecorationOffset) == 0;
      bool one_kind = kinds.scalars.size() == 1;
      ir::Type element = ir::Type::Of(scalar);
      uint32_t rank = 1;
      if (is_all && types_.IsRegister(type) && !types_.Register(type).IsMat()) {
        unit.view = View::Single;
        element = types_.Register(type).WithScalar(scalar);
        rank = 0;
      } else if (is_all && array) {
        unit.type = types_.Element(type);
        unit.stride = types_.ArrayStride(type);
        if (IsTight(unit.type, unit.stride)) {
          unit.view = View::Elements;
          element = types_.Register(unit.type).WithScalar(scalar);
        } else if (unit.stride % ir::ByteSize(scalar) == 0) {
          unit.view = View::Rows;
          rank = 2;
        }
      }
      std::string own = name;
      if (!one_kind && !SameKind(scalar, kinds.scalars[0])) own += std::string(".") + ir::Spelling(scalar);
      AddUnit(resource, unit, ir::Type::Buffer(element, rank), own, members == 1 && one_kind);
    }
  }
}

void Resources::AddImage(Resource& resource) {
  TexelLayout layout =
      LayoutOfImage(types_, ImageTypeOf(types_, resource.block), request_.config.native_images, here_);
  AddUnit(resource, {.view = View::Texels, .scalar = layout.scalar}, layout.Buffer(),
          Identifier(resource.name), true);
  if (layout.is_native) module_.shader_bindings.back().image = NativeImageOf(types_, resource.block);
}

void Resources::AddValues(Resource& resource) {
  for (uint32_t member = 0; member < types_.Members(resource.block); ++member) {
    Id type = types_.Member(resource.block, member);
    Kinds kinds;
    FindKinds(type, kinds, 0);
    std::string name = NameOfMember(resource, member);
    if (kinds.has_array && resource.kind == Kind::UniformBuffer) {
      for (ir::Scalar scalar : kinds.scalars) {
        Unit unit{.type = type, .member = member, .scalar = scalar};
        std::string own = name;
        if (scalar != kinds.scalars[0]) own += std::string(".") + ir::Spelling(scalar);
        resource.read_only = true;
        AddUnit(resource, unit, ir::Type::Buffer(ir::Type::Of(scalar), 1), own, false);
      }
      continue;
    }
    AddValue(resource, type, types_.PlaceOf(resource.block, member), name, member);
  }
}

void Resources::AddValue(Resource& resource, Id type, MemberPlace place, const std::string& name,
                         uint32_t member) {
  const Binary& binary = types_.binary();
  if (IsPointer(resource, type, place.offset)) return;
  if (types_.IsRegister(type)) {
    if (resource.units.size() >= kMostValues)
      Refuse(diag::E0853, types_.Of(resource.block).span,
             "'" + resource.name + "' has more than " + std::to_string(kMostValues) + " values",
             "put arrays into a storage buffer");
    Unit unit{.view = View::Value, .type = type, .member = member, .offset = place.offset};
    unit.scalar = types_.MemoryScalar(type);
    AddUnit(resource, unit, types_.Register(type).WithScalar(unit.scalar), name, true);
    ir::ShaderBinding& binding = module_.shader_bindings.back();
    binding.matrix_stride = place.matrix_stride;
    binding.row_major = place.row_major;
    return;
  }
  if (types_.KindOf(type) == spv::OpTypeStruct) {
    for (uint32_t n = 0; n < types_.Members(type); ++n) {
      MemberPlace part = types_.PlaceOf(type, n);
      part.offset += place.offset;
      AddValue(resource, types_.Member(type, n), part, name + "." + Identifier(binary.MemberName(type, n)),
               member);
    }
    return;
  }
  uint32_t stride = types_.ArrayStride(type);
  for (uint32_t n = 0; n < types_.Count(type); ++n, place.offset += stride)
    AddValue(resource, types_.Element(type), place, name + "." + std::to_string(n), member);
}

ir::Value Resources::AddScalar(std::string_view name, ir::Type type, ir::ShaderBinding binding,
                               ir::ParamInfo info) {
  info.shader_binding = static_cast<uint32_t>(module_.shader_bindings.size());
  module_.shader_bindings.push_back(std::move(binding));
  std::string word = Identifier(name);
  return kernel_.AddParameter(type, module_.Intern(Free(word.empty() ? "constant" : word)), info);
}

}  // namespace adc::frontend::spirv
