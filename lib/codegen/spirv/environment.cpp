#include "codegen/spirv/environment.h"

#include <algorithm>

#include "artifact/gpu_abi.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen::spirv {

using ir::Scalar;

Environment::Environment(ModuleContext& context, FunctionBuilder& builder, ScalarEmitter& scalars,
                         const ir::Function& kernel, const TaskRows* rows, Addressing addressing,
                         std::vector<ParamUse> uses)
    : context_(context),
      m_(context.module),
      f_(builder),
      scalars_(scalars),
      kernel_(kernel),
      rows_(rows),
      addressing_(addressing),
      uses_(std::move(uses)) {
  for (ir::Value param : kernel.Params()) {
    ir::Type type = kernel.TypeOf(param);
    first_word_.push_back(first_adstack_word_);
    first_adstack_word_ += type.IsBuffer() ? 1 + type.count : type.IsLayout() ? 1 : type.Components();
  }
  tail_ = first_adstack_word_;
  if (rows != nullptr) {
    tail_ += ADRT_GPU_GROUP_WORDS * rows->groups;
    for (uint32_t position : rows->row_position) tail_ += position == ir::kNoAttr ? 0 : ADRT_GPU_STACK_WORDS;
  }
  if (KeepsBindings()) layout_ = ShaderLayoutOf(context.ir, kernel, context.config.adjoint_set);
  if (addressing == Addressing::Far) return;
  // Bindings in the order of the parameters, so that a person can find them.
  for (uint32_t param = 0; param < uses_.size(); ++param) {
    const ParamUse& use = uses_[param];
    bool scratch = kernel.params[param].role == ir::ParamRole::Scratch;
    if ((addressing == Addressing::Near && scratch) || ImageOf(param) != nullptr) continue;
    bool alone = use.views.size() == 1 && !use.by_address && !kernel.params[param].alias;
    for (Storage storage : use.views) Bound(BindingOf::Param, param, storage, use.written, !alone);
    if (!HasAddresses(addressing) && use.by_address && use.views.count(Storage::U32) == 0)
      Bound(BindingOf::Param, param, Storage::U32, true, !use.views.empty());
  }
}

Id Environment::Bound(BindingOf of, uint32_t param, Storage storage, bool writable, bool aliased) {
  Id& known = bound_[{of, param, storage}];
  if (known != 0) return known;
  bool uniform = of == BindingOf::Param && IsUniform(param);
  Id block = 0;
  if (uniform) {
    // As std140 has arrays: elements of 16 bytes.
    uint32_t bytes = context_.ir.shader_bindings[kernel_.params[param].shader_binding].fixed_bytes;
    block = m_.BlockOfVectors(TypeOf(m_, storage), (bytes + 15) / 16, NamesOf(of, param));
  } else if (KeepsBindings()) {
    // A type of its own for each, since programs that bind by reflection look at names of types as well.
    block = m_.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable, NamesOf(of, param));
  } else {
    block = m_.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable);
  }
  known = m_.GlobalVariable(uniform ? spv::StorageClassUniform : spv::StorageClassStorageBuffer, block);
  DescriptorPlace place{0, static_cast<uint32_t>(bindings_.size())};
  if (KeepsBindings()) {
    place = of == BindingOf::Param   ? layout_.params[param]
            : of == BindingOf::Words ? layout_.words
            : of == BindingOf::Heap  ? layout_.heap
                                     : layout_.status;
    // Several parameters may have one block.
    aliased = aliased || (of == BindingOf::Param && kernel_.params[param].interleaved);
  }
  m_.Name(known, NamesOf(of, param).member);
  m_.Decorate(known, spv::DecorationDescriptorSet, {place.set});
  m_.Decorate(known, spv::DecorationBinding, {place.binding});
  if (!uniform) m_.Decorate(known, aliased ? spv::DecorationAliased : spv::DecorationRestrict);
  bindings_.push_back({place.binding, of, param, ScalarOf(storage), place.set});
  Uses(known);
  return known;
}

BlockNames Environment::NamesOf(BindingOf of, uint32_t param) const {
  switch (of) {
    case BindingOf::Words:
      return {"adc.Words", "adc.words"};
    case BindingOf::Heap:
      return {"adc.Heap", "adc.heap"};
    case BindingOf::Status:
      return {"adc.Status", "adc.status"};
    case BindingOf::Param:
      break;
  }
  const ir::ParamInfo& info = kernel_.params[param];
  std::string name(context_.ir.Text(kernel_[kernel_.Params()[param]].name)), block = name;
  uint32_t primal =
      info.shader_binding == ir::kNoAttr && info.companion_of != ir::kNoAttr ? info.companion_of : param;
  uint32_t binding = kernel_.params[primal].shader_binding;
  if (binding != ir::kNoAttr && !context_.ir.shader_bindings[binding].block.empty()) {
    std::string_view of_primal = context_.ir.Text(kernel_[kernel_.Params()[primal]].name);
    block = context_.ir.shader_bindings[binding].block;
    if (name.starts_with(of_primal)) block += name.substr(of_primal.size());
  }
  return {block, name};
}

Id Environment::BlockAt(Id address, Storage storage, bool writable) {
  Id& known = blocks_[{address, storage, writable}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Id block = m_.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable);
  known =
      f_.Emit(spv::OpConvertUToPtr, m_.PointerType(spv::StorageClassPhysicalStorageBuffer, block), {address});
  return known;
}

Place Environment::InBlock(Id block, spv::StorageClass memory, Storage storage, Id index) {
  Id type = m_.PointerType(memory, TypeOf(m_, storage));
  Id pointer = f_.Emit(spv::OpAccessChain, type, {block, f_.Int(32, 0), f_.ShortIndex(index)});
  return {pointer, memory == spv::StorageClassPhysicalStorageBuffer ? BytesOf(storage) : 0, storage};
}

Id Environment::Word(uint32_t position) {
  Id& known = loaded_[position];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  bool addressed = HasAddresses(addressing_);
  // The loader's words of parameters are none of a host's that has the shader's bindings.
  if (KeepsBindings()) position -= first_adstack_word_;
  if (words_ == 0) {
    if (!addressed) {
      words_ = Bound(BindingOf::Words, 0, narrow_ ? Storage::U32 : Storage::U64, false, false);
    } else {
      Uses(context_.push_constants);
      Id type = m_.PointerType(spv::StorageClassPushConstant, m_.IntType(64));
      Id place = f_.Emit(spv::OpAccessChain, type, {context_.push_constants, f_.Int(32, 0)});
      words_ = BlockAt(f_.Load(m_.IntType(64), place, 0), Storage::U64, false);
    }
  }
  if (narrow_) {
    known = HalfWord(2 * position);
    return known;
  }
  Place place =
      InBlock(words_, addressed ? spv::StorageClassPhysicalStorageBuffer : spv::StorageClassStorageBuffer,
              Storage::U64, f_.Int(32, position));
  known = f_.Load(m_.IntType(64), place.pointer, place.alignment);
  return known;
}

Id Environment::HalfWord(uint32_t position) {
  Place place = InBlock(words_, spv::StorageClassStorageBuffer, Storage::U32, f_.Int(32, position));
  return f_.Load(m_.IntType(32), place.pointer, 0);
}

Id Environment::ParameterComponent(uint32_t param, uint32_t component) {
  Id& known = components_[{param, component}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Scalar scalar = kernel_.TypeOf(kernel_.Params()[param]).scalar;
  if (KeepsBindings()) {
    known = ShaderValue(param, component);
    return known;
  }
  uint32_t position = first_word_[param] + component;
  Id word = Word(position);
  Id bits = RegisterWidth(scalar) == 64 ? word : f_.Resize(word, Wide(), 32, false);
  if (narrow_ && RegisterWidth(scalar) == 64) {
    Id high = f_.ShiftLeft(64, f_.Resize(HalfWord(2 * position + 1), 32, 64, false), f_.Int(32, 32));
    bits = f_.Emit(spv::OpBitwiseOr, m_.IntType(64), {f_.Resize(word, 32, 64, false), high});
  }
  if (scalar == Scalar::I1) bits = f_.And(32, bits, f_.Int(32, 0xFF));
  known = scalars_.FromBits(scalar, bits);
  return known;
}

Storage Environment::StorageFor(uint32_t param, Scalar scalar) const {
  Storage natural = NaturalStorage(scalar);
  return uses_[param].as_words.count(natural) != 0 ? WordStorage(scalar) : natural;
}

Place Environment::Element(uint32_t param, Storage storage, Id index) {
  bool scratch = kernel_.params[param].role == ir::ParamRole::Scratch;
  if (addressing_ == Addressing::Far || (addressing_ == Addressing::Near && scratch))
    return InBlock(BlockAt(Address(param), storage, uses_[param].written),
                   spv::StorageClassPhysicalStorageBuffer, storage, index);
  auto bound = bound_.find({BindingOf::Param, param, storage});
  ADC_CHECK(bound != bound_.end(), "an access that the task's uses do not know");
  if (IsUniform(param)) {
    uint32_t width = IndexWidth();
    Id row = f_.ShiftRight(width, index, f_.Int(width, 2)), column = f_.And(width, index, f_.Int(width, 3));
    Id type = m_.PointerType(spv::StorageClassUniform, TypeOf(m_, storage));
    return {f_.Emit(spv::OpAccessChain, type, {bound->second, f_.Int(32, 0), row, column}), 0, storage};
  }
  return InBlock(bound->second, spv::StorageClassStorageBuffer, storage, index);
}

/// An array in a uniform block that keeps its binding.
bool Environment::IsUniform(uint32_t param) const {
  uint32_t binding = kernel_.params[param].shader_binding;
  return KeepsBindings() && binding != ir::kNoAttr &&
         context_.ir.shader_bindings[binding].kind == ir::ShaderBinding::Kind::UniformBuffer;
}

Id Environment::GroupWord(uint32_t group, uint32_t number) {
  ADC_CHECK(rows_ != nullptr && group < rows_->groups, "a row of a claim group that the plan does not have");
  return Word(first_adstack_word_ + ADRT_GPU_GROUP_WORDS * group + number);
}

Id Environment::StackWord(uint32_t stack, uint32_t number) {
  ADC_CHECK(
      rows_ != nullptr && stack < rows_->row_position.size() && rows_->row_position[stack] != ir::kNoAttr,
      "a row stack that the plan does not have");
  return Word(first_adstack_word_ + ADRT_GPU_GROUP_WORDS * rows_->groups +
              ADRT_GPU_STACK_WORDS * rows_->row_position[stack] + number);
}

bool Environment::IsGated(uint32_t group) const {
  return rows_ != nullptr && group < rows_->gated.size() && rows_->gated[group];
}

Place Environment::AtAddress(Storage storage, Id address) {
  Id type = m_.PointerType(spv::StorageClassPhysicalStorageBuffer, TypeOf(m_, storage));
  return {f_.Emit(spv::OpConvertUToPtr, type, {address}), BytesOf(storage), storage};
}

Id Environment::ArrayAt(Storage storage, uint32_t stride, Id address) {
  Id block = m_.BlockOfArray(TypeOf(m_, storage), stride, true);
  return f_.Emit(spv::OpConvertUToPtr, m_.PointerType(spv::StorageClassPhysicalStorageBuffer, block),
                 {address});
}

Place Environment::HeapElement(Storage storage, Id index) {
  return InBlock(Bound(BindingOf::Heap, 0, storage, true, true), spv::StorageClassStorageBuffer, storage,
                 index);
}

Id Environment::StatusBlock() {
  return Bound(BindingOf::Status, 0, Storage::U32, true, false);
}

Id Environment::Thread() {
  if (thread_ != 0) return thread_;
  FunctionBuilder::Head head(f_);
  if (KeepsBindings()) {
    thread_ = ShaderThread();
    return thread_;
  }
  Uses(context_.thread_index);
  Id word = m_.IntType(32);
  Id type = m_.PointerType(spv::StorageClassInput, word);
  Id place = f_.Emit(spv::OpAccessChain, type, {context_.thread_index, f_.Int(32, 0)});
  Id number = f_.Load(word, place, 0);
  thread_ = f_.Resize(number, 32, Wide(), false);
  if (team_ != 0) {
    in_team_ = f_.Mod(32, number, f_.Int(32, team_));
    team_number_ = addressing_ == Addressing::Alone
                       ? f_.Resize(f_.Div(32, number, f_.Int(32, team_)), 32, Wide(), false)
                       : InputWord(context_.group, spv::BuiltInWorkgroupId, "adc.group", 0);
    if (always_team_) thread_ = team_number_;
  }
  return thread_;
}

Id Environment::InTeam() {
  Thread();
  return in_team_;
}

Id Environment::TeamNumber() {
  Thread();
  return team_number_;
}

/// The loader knows no number of a workgroup in code that is to run unverified.
Id Environment::FirstOfBlock(uint32_t size) {
  Id length = f_.Int(Wide(), size);
  if (addressing_ == Addressing::Alone) {
    Id thread = Thread();
    return f_.Sub(Wide(), thread, f_.Mod(Wide(), thread, length));
  }
  return f_.Mul(Wide(), InputWord(context_.group, spv::BuiltInWorkgroupId, "adc.group", 0), length);
}

// --- bindings of a shader ---

Id Environment::InputWord(Id& variable, spv::BuiltIn builtin, const char* name, uint32_t axis) {
  Id word = m_.IntType(32);
  if (variable == 0) {
    variable = m_.GlobalVariable(spv::StorageClassInput, m_.VectorType(word, 3));
    m_.Decorate(variable, spv::DecorationBuiltIn, {static_cast<uint32_t>(builtin)});
    m_.Name(variable, name);
  }
  Uses(variable);
  Id type = m_.PointerType(spv::StorageClassInput, word);
  Id place = f_.Emit(spv::OpAccessChain, type, {variable, f_.Int(32, axis)});
  return f_.Resize(f_.Load(word, place, 0), 32, Wide(), false);
}

Id Environment::InputNumber(Id& variable, spv::BuiltIn builtin, const char* name) {
  Id word = m_.IntType(32);
  if (variable == 0) {
    if (builtin != spv::BuiltInLocalInvocationIndex) m_.AddCapability(spv::CapabilityGroupNonUniform);
    variable = m_.GlobalVariable(spv::StorageClassInput, word);
    m_.Decorate(variable, spv::DecorationBuiltIn, {static_cast<uint32_t>(builtin)});
    m_.Name(variable, name);
  }
  Uses(variable);
  return f_.Load(word, variable, 0);
}

Id Environment::FillsSubgroups(uint32_t block_size, uint32_t lanes) {
  Id size = SubgroupSize(), invocations = f_.Mul(32, size, SubgroupsOfBlock());
  Id fills = f_.Compare(spv::OpIEqual, invocations, f_.Int(32, block_size));
  Id beyond = f_.And(32, f_.Int(32, lanes), f_.Sub(32, size, f_.Int(32, 1)));
  Id divides = f_.Compare(spv::OpIEqual, beyond, f_.Int(32, 0));
  return f_.Emit(spv::OpLogicalAnd, m_.BoolType(), {fills, divides});
}

Id Environment::InSubgroups() {
  return f_.Add(32, f_.Mul(32, SubgroupInBlock(), SubgroupSize()), PlaceInSubgroup());
}

Id Environment::Shared(Id element, uint32_t length) {
  Id type = m_.ArrayType(element, length);
  auto [place, fresh] = context_.shared.try_emplace({type, shared_[type]++}, 0);
  if (fresh) {
    place->second = m_.GlobalVariable(spv::StorageClassWorkgroup, type);
    m_.Name(place->second, "adc.shared");
  }
  Uses(place->second);
  return place->second;
}

Id Environment::Invocations(uint32_t axis) {
  Id groups = InputWord(context_.group_count, spv::BuiltInNumWorkgroups, "adc.groups", axis);
  return f_.Mul(Wide(), groups, f_.Int(Wide(), layout_.local_size[axis]));
}

/// A dispatch has as many iterations as invocations, and each runs one.
Id Environment::ShaderIterations() {
  if (serial_) return f_.Int(Wide(), 1);
  if (iterations_ != 0) return iterations_;
  FunctionBuilder::Head head(f_);
  iterations_ = f_.Int(Wide(), 1);
  for (uint32_t axis = 3; axis-- > 0;) {
    if (layout_.axes[axis]) iterations_ = f_.Mul(Wide(), iterations_, Invocations(axis));
  }
  return iterations_;
}

/// The axes of the loop are z, y, x, the last one fastest.
Id Environment::ShaderThread() {
  Id thread = f_.Int(Wide(), 0);
  for (uint32_t axis = 3; axis-- > 0;) {
    if (!layout_.axes[axis]) continue;
    thread = f_.Mul(Wide(), thread, Invocations(axis));
    thread = f_.Add(Wide(), thread, Invocation(axis));
  }
  return thread;
}

/// Extents follow from the memory that is bound, as the shader's `length()` does.
Id Environment::ShaderExtent(uint32_t param, uint32_t axis) {
  Id& known = loaded_[(uint32_t{1} << 31) + 8 * param + axis];
  if (known != 0) return known;
  if (ImageOf(param) != nullptr) {
    known = ImageExtent(param, axis);
    return known;
  }
  const ir::ParamInfo& info = kernel_.params[param];
  ir::Type type = kernel_.TypeOf(kernel_.Params()[param]);
  uint32_t bytes = ir::ByteSize(type.scalar), element = type.ElementBytes();
  uint32_t shape_of = info.shader_binding != ir::kNoAttr ? info.shader_binding : ir::kNoAttr;
  if (shape_of == ir::kNoAttr && info.companion_of != ir::kNoAttr)
    shape_of = kernel_.params[info.companion_of].shader_binding;
  uint32_t row = 0;
  uint64_t fixed = 0;
  if (shape_of != ir::kNoAttr) {
    const ir::ShaderBinding& binding = context_.ir.shader_bindings[shape_of];
    row = binding.row_bytes;
    fixed = binding.element_stride == 0 ? binding.fixed_bytes : 0;
  }
  FunctionBuilder::Head head(f_);
  if (axis == 1) {
    known = f_.Int(Wide(), row / bytes);
    return known;
  }
  uint32_t unit = row != 0 ? row : element;
  if (fixed != 0) {
    known = f_.Int(Wide(), fixed / unit);
    return known;
  }
  Storage storage = Storage::U32;
  Id variable = 0;
  for (const auto& [key, bound] : bound_) {
    if (std::get<0>(key) != BindingOf::Param || std::get<1>(key) != param || variable != 0) continue;
    storage = std::get<2>(key);
    variable = bound;
  }
  if (variable == 0) {
    storage = StorageFor(param, type.scalar);
    variable = Bound(BindingOf::Param, param, storage, false, true);
  }
  Id length = f_.Emit(spv::OpArrayLength, m_.IntType(32), {variable, 0});
  Id wide = f_.Resize(length, 32, Wide(), false);
  known = f_.Div(Wide(), f_.Mul(Wide(), wide, f_.Int(Wide(), BytesOf(storage))), f_.Int(Wide(), unit));
  return known;
}

/// A component of a value: of its block, where the shader has it.
Id Environment::ShaderValue(uint32_t param, uint32_t component) {
  const ir::ShaderBinding& binding = context_.ir.shader_bindings[kernel_.params[param].shader_binding];
  ir::Type type = kernel_.TypeOf(kernel_.Params()[param]);
  using Kind = ir::ShaderBinding::Kind;
  if (binding.kind == Kind::Invocations)
    return scalars_.FromBits(type.scalar, f_.Resize(Invocations(binding.number), Wide(), 32, false));
  if (binding.kind == Kind::SpecConstant) {
    uint32_t width = type.Is(Scalar::I1) ? 32 : RegisterWidth(type.scalar);
    Id bits = m_.SpecializedInt(width, binding.number, binding.default_bits,
                                context_.ir.Text(kernel_[kernel_.Params()[param]].name));
    return scalars_.FromBits(type.scalar, bits);
  }
  bool push = binding.kind == Kind::PushConstant;
  spv::StorageClass memory = push ? spv::StorageClassPushConstant : spv::StorageClassUniform;
  // One variable per block of the shader, with a member per value in it, and per component of a value that no
  // vector can stand for at its place.
  std::string key = push ? "push" : std::to_string(binding.set) + "." + std::to_string(binding.binding);
  std::map<uint32_t, BlockMember> members;  // by offset
  for (uint32_t n = 0; n < kernel_.params.size(); ++n) {
    if (kernel_.params[n].shader_binding == ir::kNoAttr) continue;
    const ir::ShaderBinding& other = context_.ir.shader_bindings[kernel_.params[n].shader_binding];
    ir::Type other_type = kernel_.TypeOf(kernel_.Params()[n]);
    bool same = other.kind == binding.kind &&
                (push || (other.set == binding.set && other.binding == binding.binding));
    if (!same || other_type.IsBuffer()) continue;
    std::string name(context_.ir.Text(kernel_[kernel_.Params()[n]].name));
    Id scalar = ScalarInBlock(other_type);
    if (IsWholeInBlock(other, other_type)) {
      members[other.offset] = {WholeInBlock(other, other_type), other.offset, name};
      continue;
    }
    for (uint32_t part = 0; part < other_type.Components(); ++part) {
      uint32_t offset = ComponentOffset(other, other_type, part);
      members[offset] = {scalar, offset, name + "." + std::to_string(part)};
    }
  }
  for (const auto& [offset, member] : members)
    key += "," + std::to_string(offset) + ":" + std::to_string(member.type);
  Id& variable = context_.value_blocks[key];
  if (variable == 0) {
    std::vector<BlockMember> list;
    for (const auto& [offset, member] : members) list.push_back(member);
    Id block = m_.BlockOf(list);
    variable = m_.GlobalVariable(memory, block);
    m_.Name(block, binding.block);
    m_.Name(variable, binding.block);
    if (!push) {
      m_.Decorate(variable, spv::DecorationDescriptorSet, {binding.set});
      m_.Decorate(variable, spv::DecorationBinding, {binding.binding});
    }
  }
  Uses(variable);
  bool whole = IsWholeInBlock(binding, type);
  auto position = [&](uint32_t offset) {
    return f_.Int(32, static_cast<uint64_t>(std::distance(members.begin(), members.find(offset))));
  };
  std::vector<Id> chain = {variable,
                           position(whole ? binding.offset : ComponentOffset(binding, type, component))};
  if (whole && type.IsMat()) {
    uint32_t row = component / type.columns, column = component % type.columns;
    chain.push_back(f_.Int(32, binding.row_major ? row : column));
    chain.push_back(f_.Int(32, binding.row_major ? column : row));
  } else if (whole && type.IsVec()) {
    chain.push_back(f_.Int(32, component));
  }
  Id scalar = ScalarInBlock(type);
  Id place = f_.Emit(spv::OpAccessChain, m_.PointerType(memory, scalar), chain);
  Id loaded = f_.Load(scalar, place, 0);
  return IsFloatInBlock(type) ? loaded : scalars_.FromBits(type.scalar, loaded);
}

bool Environment::IsFloatInBlock(ir::Type type) {
  return type.scalar == Scalar::F32 || type.scalar == Scalar::F64;
}

Id Environment::ScalarInBlock(ir::Type type) {
  uint32_t width = type.Is(Scalar::I1) ? 32 : RegisterWidth(type.scalar);
  return IsFloatInBlock(type) ? m_.FloatType(width) : m_.IntType(width);
}

/// Whether a vector, or an array of them, may lie where the shader has the value: not across 16 bytes, as a
/// scalar layout allows, and in uniform blocks at multiples of 16 bytes.
bool Environment::IsWholeInBlock(const ir::ShaderBinding& binding, ir::Type type) const {
  if (!type.IsVec() && !type.IsMat()) return type.IsScalar();
  uint32_t length = type.IsVec() ? type.rows : binding.row_major ? type.columns : type.rows;
  uint32_t alignment = ir::ByteSize(type.scalar) * (length == 2 ? 2 : 4);
  if (length < 2 || binding.offset % alignment != 0) return false;
  if (type.IsVec()) return true;
  uint32_t unit =
      binding.kind == ir::ShaderBinding::Kind::PushConstant ? alignment : std::max(alignment, 16u);
  return binding.offset % unit == 0 && binding.matrix_stride % unit == 0 &&
         binding.matrix_stride >= length * ir::ByteSize(type.scalar);
}

Id Environment::WholeInBlock(const ir::ShaderBinding& binding, ir::Type type) {
  Id scalar = ScalarInBlock(type);
  if (type.IsVec()) return m_.VectorType(scalar, type.rows);
  if (!type.IsMat()) return scalar;
  uint32_t lines = binding.row_major ? type.rows : type.columns;
  uint32_t length = binding.row_major ? type.columns : type.rows;
  return m_.ArrayInBlock(m_.VectorType(scalar, length), lines, binding.matrix_stride);
}

}  // namespace adc::codegen::spirv
