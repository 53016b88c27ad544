#include "autodiff/accumulate.h"

#include <algorithm>
#include <map>

#include "analysis/access.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Value;

namespace {

/// Accesses of one memory in one parallel loop with the same index values and the same component.
struct Group {
  Value base;
  uint32_t field = ir::kNoAttr;
  uint32_t component = ir::kNoAttr;
  /// One that every iteration executes, or else one for each block that holds some.
  std::vector<Inst> members;
  bool everywhere = false;
  bool inside = true;  ///< all stand in the loop
  std::vector<Inst> updates;
  bool plain = true;
};

/// Beyond this many different index tuples the pairs are not compared: the updates stay atomic.
constexpr size_t kMaxTuples = 96;

/// The groups of one memory class in one task.
struct Groups {
  /// By base, field and index values.
  std::map<std::pair<std::pair<uint32_t, uint32_t>, std::vector<Value>>, uint32_t> tuples;
  std::map<std::pair<uint32_t, uint32_t>, Group> by_tuple;  ///< number of the tuple, component
};

/// False for components of one element that differ. Buffers marked `alias` have no elements in common.
bool Overlap(const Group& a, const Group& b) {
  if (a.base != b.base || a.field != b.field) return true;
  return a.component == b.component || a.component == ir::kNoAttr || b.component == ir::kNoAttr;
}

}  // namespace

bool DecideAccumulation(ir::Module& module, Function& function) {
  analysis::AccessFacts facts(module, function);
  std::vector<analysis::Task> tasks = analysis::TasksOf(function);
  bool marked = false;
  auto mark = [&](Inst update) {
    marked = true;
    function[update].words.Add(ir::Word::Plain);
  };
  std::map<std::pair<uint32_t, uint32_t>, Groups> classes;  // per task and memory class
  for (Inst inst : facts.structure().Order()) {
    if (!ir::IsAccess(function[inst].op)) continue;
    if (function.TypeOf(function.Operand(inst, 0)).IsArray()) {
      if (function[inst].op == Op::AddTo) mark(inst);
      continue;
    }
    uint32_t task = facts.TaskOf(inst);
    if (task == ir::kNoAttr || tasks[task].kind == analysis::TaskKind::Serial) {
      if (function[inst].op == Op::AddTo && task != ir::kNoAttr) mark(inst);
      continue;
    }
    uint32_t memory_class = facts.memory().ClassOf(inst);
    if (memory_class == analysis::kNoClass) continue;
    Inst loop = tasks[task].parallel;
    std::span<const Value> indices = function.Indices(inst);
    Groups& groups = classes[{task, memory_class}];
    // Parameters marked `alias` share a class: their accesses are told apart like those of other indices.
    Value base = function.Operand(inst, 0);
    std::pair memory(base.raw, function[inst].attr);
    auto count = static_cast<uint32_t>(groups.tuples.size());
    uint32_t number =
        groups.tuples.try_emplace({memory, {indices.begin(), indices.end()}}, count).first->second;
    Group& group = groups.by_tuple[{number, function[inst].component}];
    bool inside = facts.structure().Contains(loop, inst);
    group.base = base;
    group.field = function[inst].attr;
    group.component = function[inst].component;
    group.inside = group.inside && inside;
    if (function[inst].op == Op::AddTo) group.updates.push_back(inst);
    if (group.everywhere || !inside) continue;
    // Accesses with the same index values touch a part of what the one touches that nothing gates.
    group.everywhere = facts.Everywhere(loop, inst);
    if (group.everywhere) group.members.clear();
    bool known = std::any_of(group.members.begin(), group.members.end(),
                             [&](Inst member) { return function[member].parent == function[inst].parent; });
    if (!known) group.members.push_back(inst);
  }
  auto distinct = [&](Inst loop, const Group& a, const Group& b) {
    if (!a.inside || !b.inside) return false;
    for (Inst one : a.members)
      for (Inst other : b.members)
        if (!facts.DistinctAcross(loop, one, other)) return false;
    return true;
  };
  for (auto& [key, groups] : classes) {
    if (groups.tuples.size() > kMaxTuples) continue;
    Inst loop = tasks[key.first].parallel;
    for (auto a = groups.by_tuple.begin(); a != groups.by_tuple.end(); ++a) {
      for (auto b = a; b != groups.by_tuple.end(); ++b) {
        if (!Overlap(a->second, b->second) || (!a->second.plain && !b->second.plain)) continue;
        if (distinct(loop, a->second, b->second)) continue;
        a->second.plain = false;
        b->second.plain = false;
      }
    }
    for (auto& [place, group] : groups.by_tuple)
      if (group.plain)
        for (Inst update : group.updates) mark(update);
  }
  return marked;
}

}  // namespace adc::autodiff
