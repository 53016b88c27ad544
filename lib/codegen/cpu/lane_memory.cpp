// The accesses of a lane body.

#include "codegen/cpu/lane_body.h"
#include "ir/layout.h"
#include "ir/reduction.h"
#include "support/check.h"

namespace adc::codegen {

using ir::Op, ir::Scalar;
using llvm::Value;

Value* LaneBody::IndexOf(ir::Value index, bool in_lanes) {
  return in_lanes ? Index(index) : context_.body.values().Index(index);
}

Value* LaneBody::Number(uint64_t number, bool in_lanes) {
  return in_lanes ? Splat(builder_.getInt64(number)) : builder_.getInt64(number);
}

void LaneBody::EmitAlloca(ir::Inst inst) {
  ir::Value result = function_.Result(inst);
  ir::Type type = function_.TypeOf(result);
  uint64_t length = uint64_t{type.count} * type.Components() * shape_.count;
  llvm::AllocaInst* memory = hooks_.Local(llvm::ArrayType::get(ElementType(type.scalar), length), "local");
  memory->setAlignment(llvm::Align(64));
  builder_.CreateMemSet(memory, builder_.getInt8(0), length * ir::ByteSize(type.scalar), memory->getAlign());
  arrays_.Set(result) = memory;
}

/// Elements of local arrays lie in groups of lanes.
LaneBody::Place LaneBody::LocalPlace(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Value base = function_.Operand(inst, 0);
  ir::Type element = context_.module.ElementType(function_, base, data.attr);
  bool in_lanes = false;
  for (ir::Value index : function_.Indices(inst)) in_lanes |= !IsShared(index);
  uint64_t component = ComponentOf(data);
  ADC_CHECK(function_.Indices(inst).size() == 1, "a local array has one axis");
  Value* position = IndexOf(function_.Indices(inst)[0], in_lanes);
  position = builder_.CreateMul(position, Number(uint64_t{element.Components()} * shape_.count, in_lanes));
  position = builder_.CreateAdd(position, Number(component * shape_.count, in_lanes));
  llvm::Type* type = ElementType(element.scalar);
  llvm::AllocaInst* array = arrays_.Get(base);
  if (!in_lanes)
    return {element.scalar, builder_.CreateInBoundsGEP(type, array, position), ir::ByteSize(element.scalar)};
  position = builder_.CreateAdd(position, LaneNumbers(builder_.getInt64Ty()));
  return {element.scalar, builder_.CreateGEP(type, array, position)};
}

LaneBody::Place LaneBody::BufferPlace(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  ir::Value base = function_.Operand(inst, 0);
  const ir::ValueData& base_data = function_[base];
  ir::Type element = context_.module.ElementType(function_, base, data.attr);
  std::span<const ir::Value> indices = function_.Indices(inst);
  // Even: but for the last one all indices are shared.
  bool even = true;
  int64_t slope = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (IsShared(indices[axis])) continue;
    slope = SlopeOf(indices[axis]);
    even = even && axis + 1 == indices.size() && slope != 0;
  }
  bool in_lanes = !even;
  Value* position = nullptr;
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    Value* index = IndexOf(indices[axis], in_lanes);
    if (position == nullptr) {
      position = index;
      continue;
    }
    Value* extent = hooks_.Extent(base_data.number, axis);
    position = builder_.CreateMul(position, in_lanes ? Splat(extent) : extent);
    position = builder_.CreateAdd(position, index);
  }
  if (position == nullptr) position = builder_.getInt64(0);
  uint64_t component = ComponentOf(data);
  if (element.Components() > 1) {
    position = builder_.CreateMul(position, Number(element.Components(), in_lanes));
    position = builder_.CreateAdd(position, Number(component, in_lanes));
  }
  Value* start = base_data.kind == ir::ValueKind::Global ? context_.body.memory().TableOf(base)
                                                         : hooks_.BufferAddress(base_data.number);
  Place place{element.scalar, builder_.CreateGEP(ElementType(element.scalar), start, position)};
  if (even) place.stride = slope * static_cast<int64_t>(element.ElementBytes());
  return place;
}

LaneBody::Place LaneBody::LayoutPlace(ir::Inst inst) {
  const ir::InstData& data = function_[inst];
  const ir::ValueData& base = function_[function_.Operand(inst, 0)];
  const ir::LayoutField& field = context_.module.layouts[base.type.count].fields[data.attr];
  std::span<const ir::Value> indices = function_.Indices(inst);
  bool even = true;
  int64_t stride = 0;
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    if (IsShared(indices[axis])) continue;
    const std::vector<ir::LayoutLevel>& levels = field.axes[axis].levels;
    even = even && SlopeOf(indices[axis]) != 0 && levels.size() == 1;
    if (even) stride += SlopeOf(indices[axis]) * static_cast<int64_t>(levels[0].stride);
  }
  bool in_lanes = !even;
  ir::Type element = context_.module.ElementType(function_, function_.Operand(inst, 0), data.attr);
  uint64_t component = ComponentOf(data);
  Value* offset = Number(field.offset + component * ir::ByteSize(element.scalar), in_lanes);
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    Value* whole = IndexOf(indices[axis], in_lanes);
    for (const ir::LayoutDigit& of : ir::DigitsOf(field.axes[axis])) {
      Value* digit = of.divisor > 1 ? builder_.CreateUDiv(whole, Number(of.divisor, in_lanes)) : whole;
      if (of.modulus != 0) digit = builder_.CreateURem(digit, Number(of.modulus, in_lanes));
      offset = builder_.CreateAdd(offset, builder_.CreateMul(digit, Number(of.stride, in_lanes)));
    }
  }
  Place place{element.scalar,
              builder_.CreateGEP(builder_.getInt8Ty(), hooks_.BufferAddress(base.number), offset)};
  if (even) place.stride = stride;
  return place;
}

LaneBody::Place LaneBody::PlaceOf(ir::Inst inst) {
  BaseKind base = BaseOf(function_, inst);
  if (base == BaseKind::Layout) return LayoutPlace(inst);
  return base == BaseKind::Local ? LocalPlace(inst) : BufferPlace(inst);
}

Value* LaneBody::Addresses(const Place& place) {
  if (!place.stride) return place.address;
  llvm::SmallVector<llvm::Constant*, 16> distances;
  for (uint32_t lane = 0; lane < shape_.count; ++lane)
    distances.push_back(llvm::ConstantInt::getSigned(builder_.getInt64Ty(), *place.stride * lane));
  return builder_.CreateGEP(builder_.getInt8Ty(), place.address, llvm::ConstantVector::get(distances));
}

Value* LaneBody::Load(ir::Inst inst, const Place& place) {
  uint32_t size = ir::ByteSize(place.scalar);
  llvm::Type *element = ElementType(place.scalar), *type = InLanes(element);
  Value* none = llvm::Constant::getNullValue(type);
  llvm::Instruction* load = nullptr;
  Value* loaded = nullptr;
  if (place.stride == 0) {
    // A lane is active, so that the one element is there.
    load = builder_.CreateAlignedLoad(element, place.address, llvm::Align(size));
    loaded = Splat(load);
  } else if (place.stride == int64_t{size}) {
    load = builder_.CreateMaskedLoad(type, place.address, llvm::Align(size), mask_, none);
    loaded = load;
  } else {
    load = builder_.CreateMaskedGather(type, Addresses(place), llvm::Align(size), mask_, none);
    loaded = load;
  }
  context_.aliases.Mark(load, inst, false);
  return place.scalar == Scalar::I1 ? builder_.CreateICmpNE(loaded, none) : loaded;
}

void LaneBody::Store(ir::Inst inst, const Place& place, Value* value) {
  llvm::Align alignment(ir::ByteSize(place.scalar));
  if (place.scalar == Scalar::I1) value = builder_.CreateZExt(value, InLanes(builder_.getInt8Ty()));
  llvm::Instruction* store = nullptr;
  if (place.stride == static_cast<int64_t>(alignment.value())) {
    store = builder_.CreateMaskedStore(value, place.address, alignment, mask_);
  } else {
    store = builder_.CreateMaskedScatter(value, Addresses(place), alignment, mask_);
  }
  context_.aliases.Mark(store, inst, false);
}

void LaneBody::EmitAccess(ir::Inst inst, uint32_t position) {
  const ir::InstData& data = function_[inst];
  bool is_local = BaseOf(function_, inst) == BaseKind::Local;
  if (data.op == Op::Load) return Bind(function_.Result(inst), Load(inst, PlaceOf(inst)));
  if (data.op == Op::Store) return Store(inst, PlaceOf(inst), Get(function_.AccessValues(inst)[0]));
  bool plain = is_local || (data.op == Op::AddTo && data.Has(ir::Word::Plain));
  if (!plain) {
    if (!EmitReduced(inst, position)) EmitLaneByLane(inst, position);
    return;
  }
  ADC_CHECK(data.op == Op::AddTo || data.op == Op::AtomicAdd, "a plain update in lanes is a sum");
  Place place = PlaceOf(inst);
  Value* old = Load(inst, place);
  Value* value = Get(function_.AccessValues(inst)[0]);
  Op sum = *ir::CombinedBy(data.op, place.scalar);
  Store(inst, place, scalars_.Emit(sum, place.scalar, place.scalar, {old, value}));
  if (data.result_count != 0) Bind(function_.Result(inst), old);
}

}  // namespace adc::codegen
