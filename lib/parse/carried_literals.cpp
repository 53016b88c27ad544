#include "parse/carried_literals.h"

#include <algorithm>

#include "ir/module.h"
#include "ir/op.h"
#include "parse/body.h"

namespace adc::parse {

/// Types the initial value of a carried one.
void BodyParser::ResolveCarried(Operand& operand) {
  bool waits = literals_ != nullptr && operand.IsLiteral() && TypeOf(operand).IsNone();
  uint32_t place = operand.span.begin;
  Type learned = waits ? literals_->TypeAt(place) : ir::kNoType;
  Resolve(operand, learned, waits && learned.IsNone());
  if (waits && !operand.IsPoison()) operand.begun_with = place;
}

/// The carried values of a loop, and its results, begin with what `initial` does.
void BodyParser::BeginWith(std::span<const Operand> initial, Block block, uint32_t first_param, Inst loop) {
  for (uint32_t n = 0; n < initial.size(); ++n) {
    uint32_t place = initial[n].begun_with;
    if (place == kNowhere) place = LiteralBehind(initial[n].value);
    if (place == kNowhere) continue;
    begun_with_[function_[block].params[first_param + n]] = place;
    begun_with_[function_.Result(loop, n)] = place;
  }
}

/// The place of the carried literal that gave `v` its type; nowhere: something else did, or it is far away.
uint32_t BodyParser::LiteralBehind(Value v) const {
  constexpr size_t kMostValues = 32;
  uint32_t place = kNowhere;
  std::vector<Value> open{v};
  for (size_t next = 0; next < open.size(); ++next) {
    if (!open[next].Valid() || open[next] == kPoison) return kNowhere;
    auto known = begun_with_.find(open[next]);
    if (known != begun_with_.end()) {
      place = std::min(place, known->second);
      continue;
    }
    Inst inst = function_.DefiningInst(open[next]);
    bool is_pure = inst.Valid() && ir::InfoOf(function_[inst].op).effect == ir::Effect::Pure;
    if (!is_pure || open.size() > kMostValues) return kNowhere;
    for (Value operand : function_.Operands(inst)) {
      bool gives_type = function_.TypeOf(operand) == function_.TypeOf(v) && !function_.IsConstant(operand);
      if (gives_type && std::ranges::find(open, operand) == open.end()) open.push_back(operand);
    }
  }
  return place;
}

/// `v` has another type than `wanted`, which its place asks for.
void BodyParser::LearnWanted(Value v, Type wanted) {
  if (literals_ == nullptr || !wanted.IsScalar() || wanted.IsBool() || !v.Valid() || v == kPoison) return;
  Type type = function_.TypeOf(v);
  if (type == wanted || !type.IsScalar() || type.IsFloat() != wanted.IsFloat()) return;
  if (uint32_t place = LiteralBehind(v); place != kNowhere) literals_->Learn(place, wanted);
}

/// A store or an atomic that does not fit: its values are to have the type of an element.
void BodyParser::LearnFromAccess(Inst inst, std::span<const Operand> operands) {
  if (literals_ == nullptr || !ir::IsAccess(function_[inst].op)) return;
  Type element = shared_.module.ElementType(function_, operands[0].value, function_[inst].attr);
  for (size_t n = 1u + function_[inst].index_count; n < operands.size(); ++n)
    LearnWanted(operands[n].value, element);
}

/// Operands that do not fit together: an operand that comes from a literal is to have the type of the others.
void BodyParser::LearnFromOperands(std::span<const Operand> operands) {
  constexpr size_t kMostOperands = 4;  // of an operation: longer lists are made of what stands in them
  if (literals_ == nullptr || operands.size() > kMostOperands) return;
  for (const Operand& other : operands) {
    if (other.IsLiteral() || other.IsPoison()) continue;
    // A carried literal of which nothing was learned has a guessed type.
    uint32_t place = LiteralBehind(other.value);
    if (place != kNowhere && literals_->TypeAt(place).IsNone()) continue;
    for (const Operand& operand : operands) LearnWanted(operand.value, function_.TypeOf(other.value));
  }
}

}  // namespace adc::parse
