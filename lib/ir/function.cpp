#include "ir/function.h"

#include <algorithm>

#include "support/check.h"
#include "support/hash.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ADC_MOVE_ON_GROWTH 1
#endif
#endif

namespace adc::ir {

namespace {

/// Makes place for more in a table of a function. Code that holds a reference into a table across that is
/// wrong, and right by chance wherever the table has capacity left: so under the address sanitizer small
/// tables move each time.
template <typename T>
void Grow([[maybe_unused]] std::vector<T>& table) {
#if defined(ADC_MOVE_ON_GROWTH)
  constexpr size_t kSmall = 512;
  if (table.size() < kSmall) table.shrink_to_fit();
#endif
}

}  // namespace

size_t Function::ConstantKeyHash::operator()(const ConstantKey& key) const noexcept {
  uint64_t shape = static_cast<uint64_t>(key.type.scalar) | (static_cast<uint64_t>(key.type.kind) << 8);
  return HashMix(shape, key.bits);
}

Function::Function(FunctionKind function_kind, StringId function_name)
    : kind(function_kind), name(function_name) {
  NewBlock();
}

void Function::SetOperands(Inst i, std::span<const Value> operands) {
  InstData& d = insts_[i.raw];
  std::vector<Value> copy(operands.begin(), operands.end());  // they may lie in the pool
  if (copy.size() > d.operand_count) {
    d.first_operand = static_cast<uint32_t>(operand_pool_.size());
    operand_pool_.resize(operand_pool_.size() + copy.size());
  }
  std::copy(copy.begin(), copy.end(), operand_pool_.begin() + d.first_operand);
  d.operand_count = static_cast<uint32_t>(operands.size());
}

Inst Function::Terminator(Block b) const {
  const std::vector<Inst>& insts = blocks_[b.raw].insts;
  if (insts.empty() || !IsTerminator(insts_[insts.back().raw].op)) return {};
  return insts.back();
}

Block Function::DefiningBlock(Value v) const {
  const ValueData& d = values_[v.raw];
  switch (d.kind) {
    case ValueKind::Result:
      return insts_[d.owner].parent;
    case ValueKind::BlockParam:
      return Block(d.owner);
    case ValueKind::Constant:
    case ValueKind::Global:
      return Body();
  }
  ADC_UNREACHABLE("kind of a value");
}

std::optional<int64_t> Function::IntegerConstant(Value v) const {
  if (!IsConstant(v)) return std::nullopt;
  const ConstantData& c = ConstantOf(v);
  if (!c.type.IsInteger()) return std::nullopt;
  return static_cast<int64_t>(c.bits);
}

Value Function::Constant(Type type, uint64_t bits, StringId spelling) {
  ADC_CHECK(type.IsScalar(), "a constant is a scalar");
  auto [place, fresh] = constant_ids_.try_emplace(ConstantKey{type, bits});
  if (fresh) {
    place->second = Value(values_.size());
    Grow(values_);
    Grow(constants_);
    values_.push_back({type, ValueKind::Constant, 0, static_cast<uint32_t>(constants_.size()), {}});
    constants_.push_back({type, bits, spelling});
  }
  return place->second;
}

Value Function::Global(uint32_t position, Type type) {
  auto [place, fresh] = global_ids_.try_emplace(position);
  if (fresh) {
    place->second = Value(values_.size());
    Grow(values_);
    values_.push_back({type, ValueKind::Global, 0, position, {}});
  }
  return place->second;
}

Block Function::NewBlock(Inst owner) {
  Grow(blocks_);
  blocks_.push_back({{}, {}, owner});
  return Block(blocks_.size() - 1);
}

Value Function::AddParam(Block block, Type type, StringId value_name) {
  Value v(values_.size());
  Grow(values_);
  BlockData& b = blocks_[block.raw];
  values_.push_back(
      {type, ValueKind::BlockParam, static_cast<uint32_t>(b.params.size()), block.raw, value_name});
  b.params.push_back(v);
  return v;
}

Value Function::AddParameter(Type type, StringId value_name, ParamInfo info) {
  params.push_back(info);
  return AddParam(Body(), type, value_name);
}

Inst Function::NewInst(Op op, std::span<const Value> operands, std::span<const Type> results,
                       diag::SourceSpan place) {
  InstData d;
  d.op = op;
  d.first_operand = static_cast<uint32_t>(operand_pool_.size());
  d.operand_count = static_cast<uint32_t>(operands.size());
  d.span = place;
  Inst inst(insts_.size());
  d.first_result = Value(values_.size());
  d.result_count = static_cast<uint32_t>(results.size());
  Grow(values_);
  Grow(insts_);
  for (uint32_t n = 0; n < results.size(); ++n)
    values_.push_back({results[n], ValueKind::Result, n, inst.raw, {}});
  operand_pool_.insert(operand_pool_.end(), operands.begin(), operands.end());
  insts_.push_back(d);
  return inst;
}

void Function::Append(Block block, Inst inst) {
  insts_[inst.raw].parent = block;
  blocks_[block.raw].insts.push_back(inst);
}

Inst Function::TargetOf(Inst leave) const {
  if (insts_[leave.raw].op == Op::Exit) return blocks_[values_[Operand(leave, 0).raw].owner].owner;
  Inst owner = OwnerOf(leave);
  while (insts_[owner.raw].op == Op::If || insts_[owner.raw].op == Op::Scope) owner = OwnerOf(owner);
  return owner;
}

}  // namespace adc::ir
