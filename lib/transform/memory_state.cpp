#include "transform/memory_state.h"

namespace adc::transform {

using analysis::kNoClass, analysis::Relation;
using ir::Inst, ir::Value;

MemoryState::MemoryState(analysis::AccessFacts& facts, ValueNumbering& numbering)
    : facts_(facts), numbering_(numbering), classes_(facts.memory().Count()) {}

uint32_t MemoryState::VersionOf(Inst access) const {
  uint32_t memory_class = facts_.memory().ClassOf(access);
  return memory_class == kNoClass ? 0 : classes_[memory_class].version;
}

void MemoryState::Know(Inst from, Inst to, Value value) {
  uint32_t memory_class = facts_.memory().ClassOf(from);
  numbering_.AddCell(to, value, VersionOf(from));
  // Memory that is never written needs no list: its version stays.
  if (!facts_.memory().IsWritten(memory_class)) return;
  std::vector<Known>& known = classes_[memory_class].known;
  if (known.size() == kMaxKnown) known.erase(known.begin());
  ir::Block block = numbering_.BlockAt(numbering_.Depth());
  known.push_back({from, to, value, block, numbering_.EpochOf(block)});
}

Value MemoryState::Find(Inst from, std::span<const Value> cell) {
  const ir::InstData& load = facts_.structure().function()[from];
  Value value = numbering_.FindCell(cell, load.attr, load.component, VersionOf(from));
  uint32_t memory_class = facts_.memory().ClassOf(from);
  if (value.Valid() || !facts_.memory().IsWritten(memory_class)) return value;
  for (const Known& known : classes_[memory_class].known) {
    if (!numbering_.IsVisible(known.block, known.epoch)) continue;
    if (numbering_.IsCell(known.to, cell, load.attr, load.component)) return known.value;
  }
  return {};
}

void MemoryState::Write(Inst from) {
  uint32_t memory_class = facts_.memory().ClassOf(from);
  ClassState& state = classes_[memory_class];
  state.version = next_version_++;
  std::vector<Known> unchanged;
  for (const Known& known : state.known) {
    if (!numbering_.IsVisible(known.block, known.epoch)) continue;
    if (facts_.SameIteration(known.from, from) != Relation::Distinct) continue;
    unchanged.push_back(known);
  }
  state.known = std::move(unchanged);
}

void MemoryState::Clobber(uint32_t memory_class) {
  if (memory_class == kNoClass) return;
  classes_[memory_class].version = next_version_++;
  classes_[memory_class].known.clear();
}

void MemoryState::ClobberWrittenIn(Inst control) {
  for (uint32_t memory_class : facts_.memory().WrittenIn(control)) Clobber(memory_class);
}

MemoryState::Snapshot MemoryState::Save(Inst control) const {
  Snapshot snapshot;
  for (uint32_t memory_class : facts_.memory().WrittenIn(control))
    snapshot.emplace_back(memory_class, classes_[memory_class]);
  return snapshot;
}

void MemoryState::Restore(const Snapshot& snapshot) {
  for (const auto& [memory_class, state] : snapshot) classes_[memory_class] = state;
}

}  // namespace adc::transform
