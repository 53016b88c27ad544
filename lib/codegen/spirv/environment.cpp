#include "codegen/spirv/environment.h"

#include "artifact/gpu_abi.h"
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
  if (addressing == Addressing::Far) return;
  // Bindings in the order of the parameters, so that a person can find them.
  for (uint32_t param = 0; param < uses_.size(); ++param) {
    const ParamUse& use = uses_[param];
    bool scratch = kernel.params[param].role == ir::ParamRole::Scratch;
    if (addressing == Addressing::Near && scratch) continue;
    bool alone = use.views.size() == 1 && !use.by_address && !kernel.params[param].alias;
    for (Storage storage : use.views) Bound(BindingOf::Param, param, storage, use.written, !alone);
    if (!HasAddresses(addressing) && use.by_address && use.views.count(Storage::U32) == 0)
      Bound(BindingOf::Param, param, Storage::U32, true, !use.views.empty());
  }
}

Id Environment::Bound(BindingOf of, uint32_t param, Storage storage, bool writable, bool aliased) {
  Id& known = bound_[{of, param, storage}];
  if (known != 0) return known;
  Id block = m_.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable);
  known = m_.GlobalVariable(spv::StorageClassStorageBuffer, block);
  auto number = static_cast<uint32_t>(bindings_.size());
  m_.Decorate(known, spv::DecorationDescriptorSet, {0});
  m_.Decorate(known, spv::DecorationBinding, {number});
  m_.Decorate(known, aliased ? spv::DecorationAliased : spv::DecorationRestrict);
  bindings_.push_back({number, of, param, ScalarOf(storage)});
  Uses(known);
  return known;
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
  Id pointer = f_.Emit(spv::OpAccessChain, type, {block, f_.Int(32, 0), index});
  return {pointer, memory == spv::StorageClassPhysicalStorageBuffer ? BytesOf(storage) : 0, storage};
}

Id Environment::Word(uint32_t position) {
  Id& known = loaded_[position];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  bool addressed = HasAddresses(addressing_);
  if (words_ == 0) {
    if (!addressed) {
      words_ = Bound(BindingOf::Words, 0, Storage::U64, false, false);
    } else {
      Uses(context_.push_constants);
      Id type = m_.PointerType(spv::StorageClassPushConstant, m_.IntType(64));
      Id place = f_.Emit(spv::OpAccessChain, type, {context_.push_constants, f_.Int(32, 0)});
      words_ = BlockAt(f_.Load(m_.IntType(64), place, 0), Storage::U64, false);
    }
  }
  Place place =
      InBlock(words_, addressed ? spv::StorageClassPhysicalStorageBuffer : spv::StorageClassStorageBuffer,
              Storage::U64, f_.Int(32, position));
  known = f_.Load(m_.IntType(64), place.pointer, place.alignment);
  return known;
}

Id Environment::ParameterComponent(uint32_t param, uint32_t component) {
  Id& known = components_[{param, component}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Scalar scalar = kernel_.TypeOf(kernel_.Params()[param]).scalar;
  Id word = Word(first_word_[param] + component);
  Id bits = RegisterWidth(scalar) == 64 ? word : f_.Resize(word, 64, 32, false);
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
  return InBlock(bound->second, spv::StorageClassStorageBuffer, storage, index);
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
  Uses(context_.thread_index);
  Id word = m_.IntType(32);
  Id place = f_.Emit(spv::OpAccessChain, m_.PointerType(spv::StorageClassInput, word),
                     {context_.thread_index, f_.Int(32, 0)});
  thread_ = f_.Resize(f_.Load(word, place, 0), 32, 64, false);
  return thread_;
}

}  // namespace adc::codegen::spirv
