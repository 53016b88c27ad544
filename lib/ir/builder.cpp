#include "ir/builder.h"

#include "ir/module.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::ir {
namespace {

std::vector<Type> TypesOf(const Function& function, std::span<const Value> values) {
  std::vector<Type> types;
  types.reserve(values.size());
  for (Value v : values) types.push_back(function.TypeOf(v));
  return types;
}

/// A region of `inst`, which begins with parameters of these types.
Block AddRegion(Function& function, Inst inst, uint32_t number, std::span<const Type> params = {}) {
  Block region = function.NewBlock(inst);
  function[inst].regions[number] = region;
  for (Type type : params) function.AddParam(region, type);
  return region;
}

}  // namespace

Value Builder::Int(Type type, int64_t value) {
  return Bits(type, WrapInteger(type.scalar, static_cast<uint64_t>(value)));
}

Value Builder::Float(Type type, double value) {
  return Bits(type, FloatToBits(type.scalar, value));
}

Inst Builder::Create(Op op, std::span<const Value> operands, std::span<const Type> results) {
  Inst inst = function_.NewInst(op, operands, results, span_);
  function_.Append(block_, inst);
  return inst;
}

Value Builder::Make(Op op, std::span<const Value> operands) {
  std::optional<Type> result = ResultType(op, TypesOf(function_, operands));
  ADC_CHECK(result.has_value(), "operands of a built operation do not fit its rule");
  return function_.Result(Create(op, operands, {&*result, 1}));
}

Value Builder::Cast(Value value, Type to) {
  if (function_.TypeOf(value) == to) return value;
  return function_.Result(Create(Op::Cast, {&value, 1}, {&to, 1}));
}

Value Builder::Bitcast(Value value, Type to) {
  if (function_.TypeOf(value) == to) return value;
  return function_.Result(Create(Op::Bitcast, {&value, 1}, {&to, 1}));
}

Value Builder::Shape(Value base, uint32_t axis, Type type) {
  Inst inst = Create(Op::Shape, {&base, 1}, {&type, 1});
  function_[inst].attr = axis;
  return function_.Result(inst);
}

Value Builder::Load(Value base, std::span<const Value> indices, uint32_t field, uint32_t component) {
  return Access(Op::Load, base, indices, {}, field, component);
}

Value Builder::Access(Op op, Value base, std::span<const Value> indices, std::span<const Value> values,
                      uint32_t field, uint32_t component, Words words) {
  std::vector<Value> operands{base};
  operands.insert(operands.end(), indices.begin(), indices.end());
  operands.insert(operands.end(), values.begin(), values.end());
  Type type = module_.ElementType(function_, base, field);
  if (component != kNoAttr) type = type.ScalarType();
  bool has_result = op == Op::Load || IsAtomic(op);
  Inst inst = Create(op, operands, {&type, has_result ? 1u : 0u});
  function_[inst].index_count = static_cast<uint8_t>(indices.size());
  function_[inst].attr = field;
  function_[inst].component = component;
  function_[inst].words = words;
  return has_result ? function_.Result(inst) : Value();
}

Value Builder::Alloca(Type array, Words words) {
  Inst inst = Create(Op::Alloca, {}, {&array, 1});
  function_[inst].words = words;
  return function_.Result(inst);
}

Inst Builder::For(Value lo, Value hi, Value step, std::span<const Value> initial, Words words) {
  std::vector<Value> operands{lo, hi, step};
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types = TypesOf(function_, initial);
  Inst inst = Create(Op::For, operands, types);
  types.insert(types.begin(), function_.TypeOf(lo));
  AddRegion(function_, inst, 0, types);
  function_[inst].words = words;
  return inst;
}

Inst Builder::If(Value condition, std::span<const Type> results) {
  Inst inst = Create(Op::If, {&condition, 1}, results);
  AddRegion(function_, inst, 0);
  AddRegion(function_, inst, 1);
  return inst;
}

Inst Builder::Scope(std::span<const Type> results) {
  Inst inst = Create(Op::Scope, {}, results);
  AddRegion(function_, inst, 0, {&kLabel, 1});
  return inst;
}

Inst Builder::While(Value max, std::span<const Value> initial, Words words) {
  std::vector<Value> operands;
  if (max.Valid()) operands.push_back(max);
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types = TypesOf(function_, initial);
  Inst inst = Create(Op::While, operands, types);
  function_[inst].words = words;
  if (max.Valid()) function_[inst].words.Add(Word::HasMax);
  AddRegion(function_, inst, 0, types);
  AddRegion(function_, inst, 1);
  return inst;
}

Inst Builder::Parallel(std::span<const Value> bounds, uint32_t block_size) {
  Inst inst = Create(Op::Parallel, bounds, {});
  Block body = AddRegion(function_, inst, 0);
  for (size_t axis = 0; axis + 1 < bounds.size(); axis += 2)
    function_.AddParam(body, function_.TypeOf(bounds[axis]));
  function_[inst].attr = block_size;
  return inst;
}

Inst Builder::ParallelOver(Value layout, uint32_t field) {
  Inst inst = Create(Op::ParallelOver, {&layout, 1}, {});
  AddRegion(function_, inst, 0, std::vector<Type>(module_.IndexCount(function_, layout, field), kI32));
  function_[inst].attr = field;
  return inst;
}

Inst Builder::Terminate(Op op, std::span<const Value> values) {
  return Create(op, values, {});
}

Value Builder::StackNew(Scalar scalar) {
  Type type = Type::Stack(scalar);
  return function_.Result(Create(Op::StackNew, {}, {&type, 1}));
}

void Builder::StackPush(Value stack, Value value, Value slot) {
  Value operands[] = {stack, value, slot};
  Inst inst = Create(Op::StackPush, {operands, slot.Valid() ? 3u : 2u}, {});
  if (slot.Valid()) function_[inst].words.Add(Word::HasSlot);
}

Value Builder::StackPop(Value stack, Value slot) {
  Value operands[] = {stack, slot};
  Type type = Type::Of(function_.TypeOf(stack).scalar);
  Inst inst = Create(Op::StackPop, {operands, slot.Valid() ? 2u : 1u}, {&type, 1});
  if (slot.Valid()) function_[inst].words.Add(Word::HasSlot);
  return function_.Result(inst);
}

}  // namespace adc::ir
