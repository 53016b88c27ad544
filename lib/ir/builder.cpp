#include "ir/builder.h"

#include "ir/module.h"
#include "ir/number.h"
#include "support/check.h"

namespace adc::ir {

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
  std::vector<Type> types;
  types.reserve(operands.size());
  for (Value v : operands) types.push_back(function_.TypeOf(v));
  std::optional<Type> result = ResultType(op, types);
  ADC_CHECK(result.has_value(), "operands of a built operation do not fit its rule");
  Type type = *result;
  return function_.Result(Create(op, operands, {&type, 1}));
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
  std::vector<Value> operands{base};
  operands.insert(operands.end(), indices.begin(), indices.end());
  Type type = module_.ElementType(function_, base, field);
  if (component != kNoAttr) type = type.ScalarType();
  Inst inst = Create(Op::Load, operands, {&type, 1});
  function_[inst].index_count = static_cast<uint8_t>(indices.size());
  function_[inst].attr = field;
  function_[inst].component = component;
  return function_.Result(inst);
}

Value Builder::Access(Op op, Value base, std::span<const Value> indices, std::span<const Value> values,
                      uint32_t field, uint32_t component, Words words) {
  std::vector<Value> operands{base};
  operands.insert(operands.end(), indices.begin(), indices.end());
  operands.insert(operands.end(), values.begin(), values.end());
  Type type = module_.ElementType(function_, base, field);
  if (component != kNoAttr) type = type.ScalarType();
  bool has_result = IsAtomic(op);
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
  std::vector<Type> types;
  for (Value v : initial) types.push_back(function_.TypeOf(v));
  Inst inst = Create(Op::For, operands, types);
  Block body = function_.NewBlock(inst);
  function_.AddParam(body, function_.TypeOf(lo));
  for (Type t : types) function_.AddParam(body, t);
  function_[inst].regions[0] = body;
  function_[inst].words = words;
  return inst;
}

Inst Builder::If(Value condition, std::span<const Type> results) {
  Inst inst = Create(Op::If, {&condition, 1}, results);
  Block then_block = function_.NewBlock(inst);
  Block else_block = function_.NewBlock(inst);
  function_[inst].regions[0] = then_block;
  function_[inst].regions[1] = else_block;
  return inst;
}

Inst Builder::Scope(std::span<const Type> results) {
  Inst inst = Create(Op::Scope, {}, results);
  Block body = function_.NewBlock(inst);
  function_.AddParam(body, kLabel);
  function_[inst].regions[0] = body;
  return inst;
}

Inst Builder::While(Value max, std::span<const Value> initial, Words words) {
  std::vector<Value> operands;
  if (max.Valid()) operands.push_back(max);
  operands.insert(operands.end(), initial.begin(), initial.end());
  std::vector<Type> types;
  for (Value v : initial) types.push_back(function_.TypeOf(v));
  Inst inst = Create(Op::While, operands, types);
  function_[inst].words = words;
  if (max.Valid()) function_[inst].words.Add(Word::HasMax);
  Block test = function_.NewBlock(inst);
  for (Type t : types) function_.AddParam(test, t);
  Block body = function_.NewBlock(inst);
  function_[inst].regions[0] = test;
  function_[inst].regions[1] = body;
  return inst;
}

Inst Builder::Parallel(std::span<const Value> bounds, uint32_t block_size) {
  Inst inst = Create(Op::Parallel, bounds, {});
  Block body = function_.NewBlock(inst);
  for (size_t axis = 0; axis + 1 < bounds.size(); axis += 2)
    function_.AddParam(body, function_.TypeOf(bounds[axis]));
  function_[inst].regions[0] = body;
  function_[inst].attr = block_size;
  return inst;
}

Inst Builder::ParallelOver(Value layout, uint32_t field) {
  Inst inst = Create(Op::ParallelOver, {&layout, 1}, {});
  Block body = function_.NewBlock(inst);
  uint32_t axes = module_.IndexCount(function_, layout, field);
  for (uint32_t axis = 0; axis < axes; ++axis) function_.AddParam(body, kI32);
  function_[inst].regions[0] = body;
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
