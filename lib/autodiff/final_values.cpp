#include "autodiff/final_values.h"

#include <algorithm>

namespace adc::autodiff {

using ir::Block, ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

bool IsParameter(const Function& function, Value v, ir::ParamRole role) {
  const ir::ValueData& data = function[v];
  return function.IsParameter(v) && function.params[data.number].role == role;
}

/// Whether `value` is the number in C order of the element that `indices` name in a buffer with `extents`.
class ElementNumber {
 public:
  ElementNumber(const Function& function, Value base) : function_(function), base_(base) {}

  bool Is(Value value, std::span<const Value> indices) const {
    value = Narrow(value);
    if (indices.empty()) return function_.IntegerConstant(value) == 0;
    if (indices.size() == 1) return value == indices[0];
    Inst sum = function_.DefiningInst(value);
    if (!sum.Valid() || function_[sum].op != Op::Add) return false;
    std::span<const Value> before = indices.first(indices.size() - 1);
    auto axis = static_cast<uint32_t>(before.size());
    for (uint32_t n = 0; n < 2; ++n) {
      if (Narrow(function_.Operand(sum, n)) != indices.back()) continue;
      Inst product = function_.DefiningInst(Narrow(function_.Operand(sum, 1 - n)));
      if (!product.Valid() || function_[product].op != Op::Mul) continue;
      for (uint32_t m = 0; m < 2; ++m)
        if (IsExtent(function_.Operand(product, m), axis) && Is(function_.Operand(product, 1 - m), before))
          return true;
    }
    return false;
  }

  bool IsExtent(Value value, uint32_t axis) const {
    Inst inst = function_.DefiningInst(Narrow(value));
    return inst.Valid() && function_[inst].op == Op::Shape && function_.Operand(inst, 0) == base_ &&
           function_[inst].attr == axis && function_[inst].component == ir::kNoAttr;
  }

 private:
  /// The operand of a cast that widens; any other value itself.
  Value Narrow(Value value) const {
    Inst inst = function_.DefiningInst(value);
    bool widens = inst.Valid() && function_[inst].op == Op::Cast && function_.TypeOf(value) == ir::kI64 &&
                  function_.TypeOf(function_.Operand(inst, 0)) == ir::kI32;
    return widens ? function_.Operand(inst, 0) : value;
  }

  const Function& function_;
  Value base_;
};

/// The load that `store` copies a whole buffer by, with all its iterations; invalid where it is something
/// else.
Inst CopyOf(const Function& function, Inst store) {
  if (function[store].op != Op::Store) return {};
  if (!IsParameter(function, function.Operand(store, 0), ir::ParamRole::Saved)) return {};
  Inst load = function.DefiningInst(function.AccessValues(store)[0]);
  if (!load.Valid() || function[load].op != Op::Load || function[load].parent != function[store].parent)
    return {};
  Value base = function.Operand(load, 0);
  if (!IsParameter(function, base, ir::ParamRole::Plain) || !function.TypeOf(base).IsBuffer()) return {};
  std::span<const Value> indices = function.Indices(load);
  ElementNumber number(function, base);
  if (!number.Is(function.Indices(store)[0], indices)) return {};
  Block block = function[store].parent;
  if (block == function.Body()) return indices.empty() ? load : Inst();
  Inst loop = function[block].owner;
  if (function[loop].op != Op::Parallel || function[loop].parent != function.Body()) return {};
  const std::vector<Value>& params = function[block].params;
  if (!std::equal(params.begin(), params.end(), indices.begin(), indices.end())) return {};
  for (uint32_t axis = 0; axis < indices.size(); ++axis) {
    if (function.IntegerConstant(function.Operand(loop, 2 * axis)) != 0) return {};
    if (!number.IsExtent(function.Operand(loop, 2 * axis + 1), axis)) return {};
  }
  return load;
}

/// True when nothing but the kind of `reader`, where it is an extremum, changes the buffer of the class from
/// the end of what holds it at the top level to before `position`.
bool LastsUntil(const analysis::Structure& structure, const analysis::MemoryClasses& memory, Inst reader,
                uint32_t memory_class, uint32_t position) {
  if (!memory.IsWritten(memory_class)) return true;
  uint32_t end = structure.End(analysis::TopLevelOf(structure.function(), reader));
  Op own = structure.function()[reader].op;
  for (Inst write : memory.Writes(memory_class)) {
    uint32_t at = structure.Position(write);
    bool between = end <= at && at < position;
    if (between && !(IsExtremum(own) && structure.function()[write].op == own)) return false;
  }
  return true;
}

}  // namespace

FinalValues::FinalValues(const Function& function) : function_(function) {
  analysis::Structure structure(function);
  for (Inst inst : structure.Order())
    if (Inst load = CopyOf(function, inst); load.Valid()) copies_.push_back({load, inst});
  if (copies_.empty()) return;
  analysis::MemoryClasses memory(structure);
  for (Inst inst : structure.Order()) {
    if (IsExtremum(function[inst].op)) AddCopies(structure, memory, inst, function.Operand(inst, 0));
    if (function[inst].op != Op::Call || function.RegionCount(inst) == 0) continue;
    for (Value operand : function.Operands(inst)) AddCopies(structure, memory, inst, operand);
  }
}

void FinalValues::AddCopies(const analysis::Structure& structure, const analysis::MemoryClasses& memory,
                            Inst reader, Value base) {
  uint32_t end = structure.End(analysis::TopLevelOf(structure.function(), reader));
  for (const Copied& copy : copies_) {
    uint32_t position = structure.Position(copy.load);
    if (position < end || function_.Operand(copy.load, 0) != base) continue;
    if (LastsUntil(structure, memory, reader, memory.ClassOf(copy.load), position))
      of_reader_[reader].push_back(copy);
  }
}

Inst FinalValues::Of(Inst reader, Value base, uint32_t component) const {
  for (const Copied& copy : of_reader_.Get(reader))
    if (function_.Operand(copy.load, 0) == base && function_[copy.load].component == component)
      return copy.store;
  return {};
}

}  // namespace adc::autodiff
