#include "frontend/spirv/values.h"

#include "diag/errors/shader.h"
#include "ir/module.h"

namespace adc::frontend::spirv {

namespace {

constexpr uint64_t kWorkPerOperation = 64;

bool IsConstant(const Instruction& inst) {
  return (inst.op >= spv::OpConstantTrue && inst.op <= spv::OpSpecConstantOp) || inst.op == spv::OpUndef;
}

}  // namespace

void Values::Spend(uint64_t units, const Instruction& inst) {
  attempt_.spent += units;
  if (attempt_.spent > config_.operation_limit * kWorkPerOperation ||
      kernel_.InstCount() > config_.operation_limit)
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
  bool seen = f.defined_in.count(id) == 0 || types_.IsAddress(inst->type) || Visible(f.defined_in[id]);
  if (found != f.values.end() && seen) return found->second;
  if (auto slots = f.stored.find(id); slots != f.stored.end()) return LoadSlots(slots->second);
  bool in_function = found != f.values.end() && !IsConstant(*inst);
  if (in_function) {
    // This attempt is given up: the next one has it in memory.
    attempt_.needs_slot.insert(id);
    return ZeroOf(inst->type);
  }
  Value value = ConstantValue(*inst, 0);
  f.defined_in[id] = b_.block();
  return f.values[id] = std::move(value);
}

ir::Value Values::GetOne(Id id) {
  Value value = Get(id);
  if (value.parts.size() != 1) Refuse(diag::E0852, b_.span(), "a composite value stands for a number");
  return value.parts[0];
}

void Values::Set(const Instruction& inst, Value value) {
  Spend(value.parts.size(), inst);
  frame().defined_in[inst.result] = b_.block();
  if (HasSlot(inst.result) && inst.op != spv::OpPhi) {
    std::vector<ir::Value>& slots = frame().stored[inst.result];
    if (slots.empty()) {
      for (ir::Value part : value.parts) slots.push_back(Slot(kernel_.TypeOf(part)));
    }
    for (size_t n = 0; n < value.parts.size(); ++n) StoreSlot(slots[n], value.parts[n]);
  }
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

void Values::PlaceSlots() {
  std::vector<ir::Inst>& insts = kernel_[home_].insts;
  insts.insert(insts.begin(), slots_.begin(), slots_.end());
}

}  // namespace adc::frontend::spirv
