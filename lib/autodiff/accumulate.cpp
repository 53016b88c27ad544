#include "autodiff/accumulate.h"

#include <map>

#include "analysis/access.h"

namespace adc::autodiff {

using ir::Function;
using ir::Inst;
using ir::Op;
using ir::Value;

namespace {

/// Accesses of one memory in one parallel loop with the same index values.
struct TupleGroup {
  Inst first;
  std::vector<Inst> updates;
  bool plain = true;
};

/// Beyond this many different index tuples the pairs are not compared: the updates stay atomic.
constexpr size_t kMaxTuples = 96;

}  // namespace

bool DecideAccumulation(ir::Module& module, Function& function) {
  analysis::AccessFacts facts(module, function);
  std::vector<analysis::Task> tasks = analysis::TasksOf(function);
  bool marked = false;
  auto mark = [&](Inst update) {
    marked = true;
    function[update].flags |= ir::kFlagPlain;
  };
  // Per task and memory class, the groups by index tuple.
  std::map<std::pair<uint32_t, uint32_t>, std::map<std::vector<Value>, TupleGroup>> groups;
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
    std::span<const Value> indices = function.Indices(inst);
    TupleGroup& group = groups[{task, memory_class}][std::vector<Value>(indices.begin(), indices.end())];
    if (!group.first.Valid()) group.first = inst;
    if (function[inst].op == Op::AddTo) group.updates.push_back(inst);
  }
  for (auto& [key, tuples] : groups) {
    if (tuples.size() > kMaxTuples) continue;
    Inst loop = tasks[key.first].parallel;
    for (auto a = tuples.begin(); a != tuples.end(); ++a) {
      for (auto b = a; b != tuples.end(); ++b) {
        if (!a->second.plain && !b->second.plain) continue;
        bool a_inside = facts.structure().Contains(loop, a->second.first);
        bool b_inside = facts.structure().Contains(loop, b->second.first);
        if (a_inside && b_inside && facts.DistinctAcross(loop, a->second.first, b->second.first)) continue;
        a->second.plain = false;
        b->second.plain = false;
      }
    }
    for (auto& [indices, group] : tuples)
      if (group.plain)
        for (Inst update : group.updates) mark(update);
  }
  return marked;
}

}  // namespace adc::autodiff
