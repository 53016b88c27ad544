#include "analysis/memory.h"

#include <algorithm>

namespace adc::analysis {

using ir::Effect, ir::Function, ir::InfoOf, ir::Inst, ir::Op, ir::Value;

bool ReadsMemory(Op op) {
  Effect effect = InfoOf(op).effect;
  return effect == Effect::Read || effect == Effect::Atomic;
}

bool WritesMemory(Op op) {
  Effect effect = InfoOf(op).effect;
  return effect == Effect::Write || effect == Effect::Atomic;
}

bool IsPureOrRead(Op op) {
  Effect effect = InfoOf(op).effect;
  return effect == Effect::Pure || effect == Effect::Read;
}

bool IsLocalAccess(const Function& function, Inst inst) {
  return ir::IsAccess(function[inst].op) && function.TypeOf(function.Operand(inst, 0)).IsArray();
}

namespace {

bool IsMemory(ir::Type type) {
  return type.IsBuffer() || type.IsLayout() || type.IsArray();
}

}  // namespace

ir::Value PrimalOf(const ir::Function& function, ir::Value buffer) {
  for (uint32_t steps = 0; steps < 3; ++steps) {
    const ir::ParamInfo& info = function.params[function[buffer].number];
    bool is_companion = info.role == ir::ParamRole::Adjoint || info.role == ir::ParamRole::Tangent;
    if (!is_companion || info.companion_of == ir::kNoAttr) break;
    buffer = function.Params()[info.companion_of];
  }
  return buffer;
}

MemoryClasses::MemoryClasses(const Structure& structure) : structure_(&structure) {
  const Function& function = structure.function();
  for (Inst inst : structure.Order()) {
    if (function[inst].op != Op::Call || function.RegionCount(inst) != 0) continue;
    for (Value v : function.Operands(inst)) {
      if (function.TypeOf(v).IsLayout()) whole_.Insert(v);
    }
  }
  std::vector<Inst> control;
  auto note_write = [&](uint32_t memory_class, Inst inst) {
    if (!writes_[memory_class].empty() && writes_[memory_class].back() == inst) return;
    writes_[memory_class].push_back(inst);
    write_positions_[memory_class].push_back(structure.Position(inst));
    for (Inst outer : control) {
      std::vector<uint32_t>& list = written_in_[outer];
      if (list.empty() || list.back() != memory_class) list.push_back(memory_class);
    }
  };
  for (Inst inst : structure.Order()) {
    while (!control.empty() && structure.Position(inst) >= structure.End(control.back())) control.pop_back();
    const ir::InstData& data = function[inst];
    if (ir::IsAccess(data.op)) {
      uint32_t memory_class = ClassFor(function.Operand(inst, 0), data.attr);
      if (WritesMemory(data.op)) note_write(memory_class, inst);
    } else if (data.op == Op::Call && function.RegionCount(inst) == 0) {
      for (uint32_t n = 0; n < data.operand_count; ++n) {
        Value v = function.Operand(inst, n);
        if (!IsMemory(function.TypeOf(v))) continue;
        note_write(ClassFor(v, ir::kNoAttr), inst);
      }
    }
    if (function.RegionCount(inst) != 0) control.push_back(inst);
  }
  // A class listed once per run of writes becomes a class listed once.
  for (Inst inst : structure.Order()) {
    if (function.RegionCount(inst) == 0 || inst.raw >= written_in_.Size()) continue;
    std::vector<uint32_t>& list = written_in_[inst];
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

uint64_t MemoryClasses::KeyOf(Value base, uint32_t field) const {
  if (whole_.Has(base)) field = ir::kNoAttr;
  return (uint64_t{base.raw} << 32) | field;
}

uint32_t MemoryClasses::ClassFor(Value base, uint32_t field) {
  const Function& function = structure_->function();
  const ir::ValueData& data = function[base];
  bool shared = function.IsParameter(base) && data.number < function.params.size() &&
                function.params[data.number].alias;
  uint32_t fresh = static_cast<uint32_t>(writes_.size());
  uint32_t memory_class = fresh;
  if (shared && alias_class_ != kNoClass) memory_class = alias_class_;
  if (shared) alias_class_ = memory_class;
  auto [place, inserted] = ids_.try_emplace(KeyOf(base, field), memory_class);
  if (inserted && memory_class == fresh) {
    writes_.emplace_back();
    write_positions_.emplace_back();
  }
  return place->second;
}

uint32_t MemoryClasses::ClassOf(Value base, uint32_t field) const {
  auto found = ids_.find(KeyOf(base, field));
  return found == ids_.end() ? kNoClass : found->second;
}

uint32_t MemoryClasses::ClassOf(Inst access) const {
  const Function& function = structure_->function();
  return ClassOf(function.Operand(access, 0), function[access].attr);
}

bool MemoryClasses::IsWrittenBetween(uint32_t memory_class, uint32_t begin, uint32_t end) const {
  if (memory_class == kNoClass) return false;
  const std::vector<uint32_t>& positions = write_positions_[memory_class];
  auto first = std::lower_bound(positions.begin(), positions.end(), begin);
  return first != positions.end() && *first < end;
}

bool MemoryClasses::IsWrittenIn(uint32_t memory_class, Inst control) const {
  return IsWrittenBetween(memory_class, structure_->Position(control), structure_->End(control));
}

}  // namespace adc::analysis
