// Scopes without a stack of tables. An entry holds the block of its instruction; it is good while that block
// is open, and since a block is never opened again, an entry that is found closed is unlinked on the spot.
// Each entry is unlinked at most once, so lookups stay constant on average.
//
// A pure instruction depends on its operands alone and cannot trap, so it may stand wherever they can be
// seen. It is worth moving only out of loops: it goes to the block around the outermost open loop that lies
// inside the block of its innermost operand. Loops in progress are not in their blocks yet, so "the end of
// the outer block" is right before the loop.
//
// Reverse mode asks for more than values. A loop that does not run adds nothing to the adjoint of a value
// that was moved out of it, and its adjoint is 0 times a partial derivative:
//
//   for %t in 0..%n { ... div 1.0, %x ... }     =>     %r = div 1.0, %x   for %t in 0..%n { ... %r ... }
//
// which for %n = 0, %x = 0 is 0 times infinity: NaN, where no result depends on the loop. So before reverse
// mode an operation moves only as far as it would have been differentiated anyway, unless its partials are
// finite for all operands (sums, selections, products with literals) or they are not taken (integers, and
// values made of them and of parameters that are not differentiable). Afterwards everything moves: neither
// values nor tangents flow from where nothing is read.

#include "transform/value_numbering.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "ir/number.h"
#include "support/hash.h"

namespace adc::transform {

using ir::Block, ir::Inst, ir::Op, ir::Type, ir::Value, ir::ValueKind;

namespace {

constexpr uint32_t kEnd = UINT32_MAX;

uint64_t TypeWord(Type type) {
  return static_cast<uint64_t>(type.kind) | (static_cast<uint64_t>(type.scalar) << 8) |
         (uint64_t{type.rows} << 16) | (uint64_t{type.columns} << 24) | (uint64_t{type.count} << 32);
}

}  // namespace

void ValueNumbering::Enter(Block block, bool is_loop, bool reversed_with_outer) {
  if (is_loop) loop_depths_.push_back(static_cast<uint32_t>(frames_.size()));
  depth_of_block_[block] = static_cast<uint32_t>(frames_.size());
  frames_.push_back({block, is_loop, reversed_with_outer});
  open_.Insert(block);
}

void ValueNumbering::Leave() {
  if (frames_.back().is_loop) loop_depths_.pop_back();
  open_.Erase(frames_.back().block);
  frames_.pop_back();
}

uint32_t ValueNumbering::DepthOf(Value v) const {
  ValueKind kind = into_[v].kind;
  if (kind == ValueKind::Constant || kind == ValueKind::Global) return 0;
  return depth_of_block_.Get(into_.DefiningBlock(v));
}

bool ValueNumbering::IsVisible(Block block, uint32_t epoch) const {
  return open_.Has(block) && epoch == EpochOf(block);
}

template <class Same>
Value ValueNumbering::Find(uint64_t hash, const Same& same) {
  if (buckets_.empty()) return {};
  uint32_t* link = &buckets_[hash & (buckets_.size() - 1)];
  while (*link != kEnd) {
    Entry& entry = entries_[*link];
    if (!IsVisible(entry.block, entry.epoch)) {
      *link = entry.next;
      continue;
    }
    if (entry.hash == hash && same(entry)) {
      ++found_;
      return entry.value;
    }
    link = &entry.next;
  }
  return {};
}

void ValueNumbering::Add(Entry entry) {
  if (entries_.size() >= buckets_.size()) Grow();
  uint32_t& head = buckets_[entry.hash & (buckets_.size() - 1)];
  entry.next = head;
  head = static_cast<uint32_t>(entries_.size());
  entries_.push_back(entry);
}

void ValueNumbering::Grow() {
  // Entries of closed blocks leave the table here too.
  std::vector<Entry> visible;
  for (const Entry& entry : entries_) {
    if (IsVisible(entry.block, entry.epoch)) visible.push_back(entry);
  }
  entries_ = std::move(visible);
  size_t size = 64;
  while (size < 2 * entries_.size() + 2) size *= 2;
  buckets_.assign(size, kEnd);
  for (uint32_t n = 0; n < entries_.size(); ++n) {
    uint32_t& head = buckets_[entries_[n].hash & (size - 1)];
    entries_[n].next = head;
    head = n;
  }
}

bool ValueNumbering::IsInert(Value v) const {
  const ir::ValueData& data = into_[v];
  if (!ir::IsFloat(data.type.scalar) || data.kind == ValueKind::Constant || data.kind == ValueKind::Global)
    return true;
  if (inert_.Has(v)) return true;
  // A parameter, or what is loaded from one.
  Value base = v;
  if (Inst inst = into_.DefiningInst(v); inst.Valid()) {
    ir::Derivative derivative = ir::InfoOf(into_[inst].op).derivative;
    if (derivative == ir::Derivative::None || derivative == ir::Derivative::Zero) return true;
    if (into_[inst].op != Op::Load) return false;
    base = into_.Operand(inst, 0);
    if (into_[base].kind == ValueKind::Global) return true;
  }
  bool is_parameter = into_.IsKernel() && into_.IsParameter(base) && !into_.TypeOf(base).IsLayout();
  if (!is_parameter) return false;
  const ir::ParamInfo& info = into_.params[into_[base].number];
  return !info.diff && info.role == ir::ParamRole::Plain;
}

bool ValueNumbering::KeepsZeros(Op op, std::span<const Value> operands) const {
  auto number = [&](Value v) {
    constexpr double kUnknown = std::numeric_limits<double>::infinity();
    if (!into_.IsConstant(v)) return kUnknown;
    const ir::ConstantData& constant = into_.ConstantOf(v);
    return ir::IsFloat(constant.type.scalar) ? ir::FloatFromBits(constant.type.scalar, constant.bits)
                                             : kUnknown;
  };
  auto is_finite = [&](Value v) { return std::isfinite(number(v)); };
  switch (ir::InfoOf(op).derivative) {
    case ir::Derivative::None:
    case ir::Derivative::Zero:
    case ir::Derivative::Linear:
      return true;
    case ir::Derivative::Partials:
      break;
    case ir::Derivative::Memory:
    case ir::Derivative::Control:
    case ir::Derivative::NotDifferentiable:
      return false;
  }
  // The partials of these are 0 or 1.
  if (op == Op::Min || op == Op::Max || op == Op::Select || op == Op::Clamp) return true;
  // The partial by a literal is not taken.
  if (op == Op::Mul || op == Op::Fma) return is_finite(operands[0]) || is_finite(operands[1]);
  if (op == Op::Div) return is_finite(operands[1]) && number(operands[1]) != 0;
  return false;
}

uint32_t ValueNumbering::DepthFor(Op op, std::span<const Value> operands, bool is_inert) const {
  uint32_t innermost = 0;
  for (Value v : operands) innermost = std::max(innermost, DepthOf(v));
  if (!before_reverse_ || is_inert || KeepsZeros(op, operands)) {
    auto loop = std::upper_bound(loop_depths_.begin(), loop_depths_.end(), innermost);
    return loop == loop_depths_.end() ? Depth() : *loop - 1;
  }
  uint32_t best = Depth();
  for (uint32_t depth = Depth(); depth > innermost && frames_[depth].reversed_with_outer; --depth)
    if (frames_[depth].is_loop) best = depth - 1;
  return best;
}

Value ValueNumbering::EmitPure(Op op, std::span<const Value> operands, Type type, uint32_t attr,
                               diag::SourceSpan span) {
  uint64_t hash = HashMix(HashMix(static_cast<uint64_t>(op), TypeWord(type)), attr);
  bool exchange = ir::Has(op, ir::Commutes) && operands[1] < operands[0];
  if (operands.size() == 2) {
    hash = HashMix(HashMix(hash, operands[exchange ? 1 : 0].raw), operands[exchange ? 0 : 1].raw);
  } else {
    for (Value v : operands) hash = HashMix(hash, v.raw);
  }
  Value known = Find(hash, [&](const Entry& entry) {
    const ir::InstData& data = into_[entry.inst];
    if (data.op != op || data.attr != attr || !(into_.TypeOf(entry.value) == type)) return false;
    std::span<const Value> others = into_.Operands(entry.inst);
    if (std::equal(others.begin(), others.end(), operands.begin(), operands.end())) return true;
    return ir::Has(op, ir::Commutes) && others[0] == operands[1] && others[1] == operands[0];
  });
  if (known.Valid()) return known;
  bool is_inert =
      before_reverse_ && std::all_of(operands.begin(), operands.end(), [&](Value v) { return IsInert(v); });
  uint32_t depth = DepthFor(op, operands, is_inert);
  if (depth != Depth()) ++hoisted_;
  Block block = frames_[depth].block;
  Inst inst = into_.NewInst(op, operands, {&type, 1}, span);
  into_[inst].attr = attr;
  into_.Append(block, inst);
  Value value = into_.Result(inst);
  if (is_inert) inert_.Insert(value);
  Add({hash, inst, value, block, EpochOf(block), 0, kEnd});
  return value;
}

namespace {

uint64_t CellHash(std::span<const Value> base_and_indices, uint32_t field, uint32_t component,
                  uint32_t version) {
  uint64_t hash = HashMix(HashMix(HashMix(~uint64_t{0}, field), component), version);
  for (Value v : base_and_indices) hash = HashMix(hash, v.raw);
  return hash;
}

}  // namespace

Value ValueNumbering::FindCell(std::span<const Value> base_and_indices, uint32_t field, uint32_t component,
                               uint32_t version) {
  return Find(CellHash(base_and_indices, field, component, version), [&](const Entry& entry) {
    return entry.version == version && IsCell(entry.inst, base_and_indices, field, component);
  });
}

bool ValueNumbering::IsCell(Inst access, std::span<const Value> base_and_indices, uint32_t field,
                            uint32_t component) const {
  const ir::InstData& data = into_[access];
  if (!ir::IsAccess(data.op) || data.attr != field || data.component != component) return false;
  std::span<const Value> others = into_.Operands(access).first(1u + data.index_count);
  return std::equal(others.begin(), others.end(), base_and_indices.begin(), base_and_indices.end());
}

void ValueNumbering::AddCell(Inst access, Value value, uint32_t version) {
  const ir::InstData& data = into_[access];
  std::span<const Value> cell = into_.Operands(access).first(1u + data.index_count);
  uint64_t hash = CellHash(cell, data.attr, data.component, version);
  Add({hash, access, value, data.parent, EpochOf(data.parent), version, kEnd});
}

}  // namespace adc::transform
