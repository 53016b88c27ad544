#include "codegen/spirv/blocks.h"

#include "support/check.h"

namespace adc::codegen::spirv {

Blocks::Blocks(Entry& entry) : entry_(entry), m_(entry.context.module), f_(entry.f) {
  if (entry.addressing == Addressing::Far) return;
  // Bindings in the order of the parameters, so that a person can find them.
  for (uint32_t param = 0; param < entry.uses.size(); ++param) {
    const ParamUse& use = entry.uses[param];
    if (!entry.IsBound(param) || entry.ImageOf(param) != nullptr) continue;
    bool alone = use.views.size() == 1 && !use.by_address && !entry.kernel.params[param].alias;
    for (Storage storage : use.views) Bound(BindingOf::Param, param, storage, use.written, !alone);
    if (!HasAddresses(entry.addressing) && use.by_address && use.views.count(Storage::U32) == 0)
      Bound(BindingOf::Param, param, Storage::U32, true, !use.views.empty());
  }
}

Id Blocks::Bound(BindingOf of, uint32_t param, Storage storage, bool writable, bool aliased) {
  Id& known = bound_[{of, param, storage}];
  if (known != 0) return known;
  bool uniform = of == BindingOf::Param && entry_.IsUniform(param);
  Id block = 0;
  if (uniform) {
    // As std140 has arrays: elements of 16 bytes.
    uint32_t bytes = entry_.ShaderBindingOf(param)->fixed_bytes;
    block = m_.types.BlockOfVectors(TypeOf(m_, storage), (bytes + 15) / 16, NamesOf(of, param));
  } else if (entry_.KeepsBindings()) {
    // A type of its own for each, since programs that bind by reflection look at names of types as well.
    block = m_.types.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable, NamesOf(of, param));
  } else {
    block = m_.types.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable);
  }
  known = m_.GlobalVariable(uniform ? spv::StorageClassUniform : spv::StorageClassStorageBuffer, block);
  DescriptorPlace place{0, static_cast<uint32_t>(bindings_.size())};
  if (entry_.KeepsBindings()) {
    place = of == BindingOf::Param   ? entry_.layout.params[param]
            : of == BindingOf::Words ? entry_.layout.words
            : of == BindingOf::Heap  ? entry_.layout.heap
                                     : entry_.layout.status;
    // Several parameters may have one block.
    aliased = aliased || (of == BindingOf::Param && entry_.kernel.params[param].interleaved);
  }
  m_.Name(known, NamesOf(of, param).member);
  m_.Decorate(known, spv::DecorationDescriptorSet, {place.set});
  m_.Decorate(known, spv::DecorationBinding, {place.binding});
  if (!uniform) m_.Decorate(known, aliased ? spv::DecorationAliased : spv::DecorationRestrict);
  bindings_.push_back({place.binding, of, param, ScalarOf(storage), place.set});
  entry_.Uses(known);
  return known;
}

BlockNames Blocks::NamesOf(BindingOf of, uint32_t param) const {
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
  const ir::ParamInfo& info = entry_.kernel.params[param];
  std::string name(entry_.NameOf(param)), block = name;
  uint32_t primal =
      info.shader_binding == ir::kNoAttr && info.companion_of != ir::kNoAttr ? info.companion_of : param;
  uint32_t binding = entry_.kernel.params[primal].shader_binding;
  if (binding != ir::kNoAttr && !entry_.context.ir.shader_bindings[binding].block.empty()) {
    std::string_view of_primal = entry_.NameOf(primal);
    block = entry_.context.ir.shader_bindings[binding].block;
    if (name.starts_with(of_primal)) block += name.substr(of_primal.size());
  }
  return {block, name};
}

std::pair<Id, Storage> Blocks::AnyOf(uint32_t param) {
  auto first = bound_.lower_bound({BindingOf::Param, param, Storage::U8});
  if (first != bound_.end() && std::get<0>(first->first) == BindingOf::Param &&
      std::get<1>(first->first) == param)
    return {first->second, std::get<2>(first->first)};
  Storage storage = entry_.StorageFor(param, entry_.TypeOfParameter(param).scalar);
  return {Bound(BindingOf::Param, param, storage, false, true), storage};
}

Place Blocks::BoundElement(uint32_t param, Storage storage, Id index) {
  auto bound = bound_.find({BindingOf::Param, param, storage});
  ADC_CHECK(bound != bound_.end(), "an access that the task's uses do not know");
  if (!entry_.IsUniform(param)) return In(bound->second, spv::StorageClassStorageBuffer, storage, index);
  uint32_t width = entry_.IndexWidth();
  Id row = f_.ShiftRight(width, index, f_.Int(width, 2)), column = f_.And(width, index, f_.Int(width, 3));
  Id type = m_.types.Pointer(spv::StorageClassUniform, TypeOf(m_, storage));
  return {f_.Emit(spv::OpAccessChain, type, {bound->second, f_.Int(32, 0), row, column}), 0, storage};
}

Id Blocks::At(Id address, Storage storage, bool writable) {
  Id& known = at_addresses_[{address, storage, writable}];
  if (known != 0) return known;
  FunctionBuilder::Head head(f_);
  Id block = m_.types.BlockOfArray(TypeOf(m_, storage), BytesOf(storage), writable);
  known = f_.Emit(spv::OpConvertUToPtr, m_.types.Pointer(spv::StorageClassPhysicalStorageBuffer, block),
                  {address});
  return known;
}

Place Blocks::In(Id block, spv::StorageClass memory, Storage storage, Id index) {
  Id type = m_.types.Pointer(memory, TypeOf(m_, storage));
  // Translators ask for 32 bits where the index is a constant that has them.
  std::optional<uint64_t> known = m_.constants.IntegerOf(index);
  Id zero = f_.Int(32, 0), at = known && *known <= INT32_MAX ? f_.Int(32, *known) : index;
  Id pointer = f_.Emit(spv::OpAccessChain, type, {block, zero, at});
  return {pointer, memory == spv::StorageClassPhysicalStorageBuffer ? BytesOf(storage) : 0, storage};
}

Place Blocks::AtAddress(Storage storage, Id address) {
  Id type = m_.types.Pointer(spv::StorageClassPhysicalStorageBuffer, TypeOf(m_, storage));
  return {f_.Emit(spv::OpConvertUToPtr, type, {address}), BytesOf(storage), storage};
}

Id Blocks::ArrayAt(Storage storage, uint32_t stride, Id address) {
  Id block = m_.types.BlockOfArray(TypeOf(m_, storage), stride, true);
  return f_.Emit(spv::OpConvertUToPtr, m_.types.Pointer(spv::StorageClassPhysicalStorageBuffer, block),
                 {address});
}

}  // namespace adc::codegen::spirv
