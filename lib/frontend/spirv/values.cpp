#include "frontend/spirv/values.h"

#include <algorithm>

#include "diag/errors/shader.h"
#include "support/check.h"

namespace adc::frontend::spirv {

namespace {

constexpr uint64_t kWorkPerOperation = 64;

bool IsConstant(const Instruction& inst) {
  return (inst.op >= spv::OpConstantTrue && inst.op <= spv::OpSpecConstantOp) || inst.op == spv::OpUndef;
}

}  // namespace

void Values::Spend(uint64_t units, const Instruction& inst) {
  spent_ += units;
  if (spent_ > config_.operation_limit * kWorkPerOperation || kernel_.InstCount() > config_.operation_limit)
    Refuse(diag::E0861, inst.span,
           "with its functions inlined the shader has more than " + std::to_string(config_.operation_limit) +
               " operations",
           "use loops where code repeats, or allow more with --limit-operations=N");
}

Value Values::Get(Id id) {
  Frame& f = frame();
  const Instruction* inst = binary_.Find(id);
  if (inst == nullptr) Refuse(diag::E0852, b_.span(), "a value is used that nothing defines");
  auto found = f.values.find(id);
  auto visible = [&](ir::Value part) { return Visible(kernel_.DefiningBlock(part)); };
  bool known = found != f.values.end();
  if (known && std::ranges::all_of(found->second.parts, visible)) return found->second;
  if (auto slots = f.stored.find(id); slots != f.stored.end()) return LoadSlots(slots->second);
  if (!known || IsConstant(*inst)) return f.values[id] = ConstantValue(*inst, 0);
  Value value;
  for (ir::Value part : found->second.parts) value.parts.push_back(Seen(part));
  return value;
}

ir::Value Values::GetOne(Id id) {
  Value value = Get(id);
  if (value.parts.size() != 1) Refuse(diag::E0852, b_.span(), "a composite value stands for a number");
  return value.parts[0];
}

void Values::Set(const Instruction& inst, Value value) {
  Spend(value.parts.size(), inst);
  frame().values[inst.result] = std::move(value);
}

bool Values::Visible(ir::Block block) const {
  for (auto moved = moved_.find(block); moved != moved_.end(); moved = moved_.find(block))
    block = moved->second;
  for (ir::Block at = b_.block();;) {
    if (at == block) return true;
    ir::Inst owner = kernel_[at].owner;
    if (!owner.Valid()) return false;
    if (kernel_[owner].op == ir::Op::While && kernel_[owner].regions[1] == at &&
        kernel_[owner].regions[0] == block)
      return true;
    at = kernel_[owner].parent;
  }
}

ir::Value Values::Slot(ir::Type type, uint32_t count, ir::Words words) {
  ir::Type array = ir::Type::Array(type, count);
  ir::Inst inst = kernel_.NewInst(ir::Op::Alloca, {}, {&array, 1}, b_.span());
  kernel_[inst].parent = home_;
  kernel_[inst].words = words;
  slots_.push_back(inst);
  return kernel_.Result(inst);
}

std::vector<ir::Value> Values::Slots(Id type) {
  std::vector<ir::Type> leaves;
  types_.Leaves(type, leaves);
  std::vector<ir::Value> slots;
  for (ir::Type leaf : leaves) slots.push_back(Slot(leaf));
  return slots;
}

void Values::StoreSlot(ir::Value slot, ir::Value value) {
  ir::Value zero = b_.I32(0);
  b_.Access(ir::Op::Store, slot, {&zero, 1}, {&value, 1});
}

ir::Value Values::LoadSlot(ir::Value slot) {
  ir::Value zero = b_.I32(0);
  return b_.Load(slot, {&zero, 1});
}

Value Values::LoadSlots(std::span<const ir::Value> slots) {
  Value value;
  for (ir::Value slot : slots) value.parts.push_back(LoadSlot(slot));
  return value;
}

ir::Value Values::Seen(ir::Value value) {
  if (Visible(kernel_.DefiningBlock(value))) return value;
  ADC_CHECK(kernel_.DefiningInst(value).Valid(), "a parameter of a region is used outside it");
  ir::Value& slot = slot_of_[value];
  if (!slot.Valid()) slot = Slot(kernel_.TypeOf(value));
  return LoadSlot(slot);
}

void Values::PlaceSlots() {
  std::map<ir::Block, std::map<ir::Inst, std::vector<std::pair<ir::Value, ir::Value>>>> stores;
  for (const auto& [value, slot] : slot_of_)
    stores[kernel_.DefiningBlock(value)][kernel_.DefiningInst(value)].emplace_back(slot, value);
  for (const auto& [block, after] : stores) {
    std::vector<ir::Inst> insts = std::move(kernel_[block].insts);
    kernel_[block].insts.clear();
    b_.SetBlock(block);
    for (ir::Inst inst : insts) {
      kernel_.Append(block, inst);
      auto found = after.find(inst);
      if (found == after.end()) continue;
      b_.SetSpan(kernel_[inst].span);
      for (const auto& [slot, value] : found->second) StoreSlot(slot, value);
    }
  }
  std::vector<ir::Inst>& insts = kernel_[home_].insts;
  insts.insert(insts.begin(), slots_.begin(), slots_.end());
}

}  // namespace adc::frontend::spirv
