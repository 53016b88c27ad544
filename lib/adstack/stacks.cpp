#include "adstack/stacks.h"

#include <algorithm>

#include "analysis/walk.h"
#include "diag/errors/adstack.h"

namespace adc::adstack {
namespace {

using analysis::ForEachInst;
using ir::Block, ir::Function, ir::Inst, ir::Op;

/// The innermost block that holds both.
Block CommonBlock(const Function& function, Block left, Block right) {
  while (!BlockContains(function, left, right)) left = function[function[left].owner].parent;
  return left;
}

/// Stacks with more gates than this claim at the block that holds them all.
constexpr size_t kMaxGates = 8;

/// The branches below `common` that hold all accesses: one for each outermost branch that has some, as far in
/// as its accesses allow. Empty where an access lies in none, or where one of the branches is always taken.
std::vector<Block> BranchesOf(const Function& function, Block common, const std::vector<Inst>& accesses) {
  struct Cluster {
    Block outermost, held;
  };
  std::vector<Cluster> clusters;
  for (Inst access : accesses) {
    Block outermost;
    for (Block block = function[access].parent; block != common;
         block = function[function[block].owner].parent) {
      if (function[function[block].owner].op == Op::If) outermost = block;
    }
    if (!outermost.Valid()) return {};
    auto known = std::find_if(clusters.begin(), clusters.end(),
                              [&](const Cluster& cluster) { return cluster.outermost == outermost; });
    if (known != clusters.end()) {
      known->held = CommonBlock(function, known->held, function[access].parent);
      continue;
    }
    if (clusters.size() == kMaxGates) return {};
    for (const Cluster& cluster : clusters) {
      if (function[cluster.outermost].owner == function[outermost].owner) return {};
    }
    clusters.push_back({outermost, function[access].parent});
  }
  std::vector<Block> gates;
  for (const Cluster& cluster : clusters) gates.push_back(GateOf(function, cluster.held));
  return gates;
}

std::vector<std::pair<ir::Value, bool>> ConditionsAround(const Function& function, Inst inst) {
  std::vector<std::pair<ir::Value, bool>> conditions;
  Block block = function[inst].parent;
  for (Inst owner = function[block].owner; owner.Valid(); owner = function[block].owner) {
    if (function[owner].op == Op::If)
      conditions.emplace_back(function.Operand(owner, 0), function[owner].regions[0] == block);
    block = function[owner].parent;
  }
  return conditions;
}

/// Those around all accesses.
std::vector<std::pair<ir::Value, bool>> CommonConditions(const Function& function,
                                                         const std::vector<Inst>& accesses) {
  std::vector<std::pair<ir::Value, bool>> common = ConditionsAround(function, accesses.front());
  for (Inst access : accesses) {
    if (common.empty()) break;
    std::vector<std::pair<ir::Value, bool>> own = ConditionsAround(function, access);
    std::erase_if(common,
                  [&](const auto& one) { return std::find(own.begin(), own.end(), one) == own.end(); });
  }
  return common;
}

/// One needs a condition to hold that the other needs not to hold, and that is the same for a whole run of
/// `common`, within which both live.
bool Contradict(const Function& kernel, Block common, const StackFacts& left, const StackFacts& right) {
  for (const auto& [value, holds] : left.conditions) {
    if (!BlockContains(kernel, kernel.DefiningBlock(value), common)) continue;
    for (const auto& [other, other_holds] : right.conditions) {
      if (other == value && other_holds != holds) return true;
    }
  }
  return false;
}

/// The instruction of `block` that is `inst` or holds it.
Inst AncestorIn(const Function& function, Block block, Inst inst) {
  while (function[inst].parent != block) inst = function[function[inst].parent].owner;
  return inst;
}

bool IsStackAccess(Op op) {
  return op == Op::StackPush || op == Op::StackPop || op == Op::StackTop;
}

}  // namespace

uint32_t TaskOf(const Function& kernel, const analysis::Structure& structure,
                const std::vector<analysis::Task>& tasks, Inst inst) {
  const std::vector<Inst>& body = kernel[kernel.Body()].insts;
  Inst top = analysis::TopLevelOf(kernel, inst);
  uint32_t place = 0;
  while (place < tasks.size() && structure.Position(body[tasks[place].last - 1]) < structure.Position(top))
    ++place;
  return place;
}

Block GateOf(const Function& function, Block block) {
  while (function[block].owner.Valid()) {
    Op op = function[function[block].owner].op;
    if (op == Op::If || analysis::IsParallel(op)) return block;
    block = function[function[block].owner].parent;
  }
  return block;
}

bool BlockContains(const Function& function, Block outer, Block inner) {
  while (inner != outer) {
    Inst owner = function[inner].owner;
    if (!owner.Valid()) return false;
    inner = function[owner].parent;
  }
  return true;
}

std::vector<StackFacts> CollectStacks(const Function& kernel, const analysis::Structure& structure,
                                      const std::vector<analysis::Task>& tasks,
                                      diag::Diagnostics& diagnostics) {
  std::vector<StackFacts> stacks;
  SideTable<ir::Value, uint32_t> position(0, UINT32_MAX);
  ForEachInst(kernel, [&](Inst inst) {
    if (kernel[inst].op == Op::StackNew) {
      position[kernel.Result(inst)] = static_cast<uint32_t>(stacks.size());
      StackFacts facts;
      facts.maker = inst;
      facts.scalar = kernel.TypeOf(kernel.Result(inst)).scalar;
      facts.param = kernel[inst].component;
      facts.place = kernel[inst].span;
      stacks.push_back(std::move(facts));
      return;
    }
    for (uint32_t n = 0; n < kernel[inst].operand_count; ++n) {
      uint32_t found = position.Get(kernel.Operand(inst, n));
      if (found == UINT32_MAX) continue;
      if (!IsStackAccess(kernel[inst].op) || n != 0) {
        diagnostics.Error(diag::E0502, kernel[inst].span, "an adstack is used as a value")
            .AddHelp("adstacks may only stand in stack.push, stack.pop and stack.top");
        stacks[found].accesses.clear();
        position[kernel.Operand(inst, n)] = UINT32_MAX;
        continue;
      }
      stacks[found].accesses.push_back(inst);
    }
  });

  auto task_of = [&](Inst inst) { return TaskOf(kernel, structure, tasks, inst); };
  std::vector<StackFacts> used;
  for (StackFacts& facts : stacks) {
    if (facts.accesses.empty()) continue;
    uint32_t with_slot = 0;
    Block common = kernel[facts.accesses.front()].parent;
    facts.task = task_of(facts.accesses.front());
    bool one_task = facts.task < tasks.size();
    for (Inst access : facts.accesses) {
      bool is_push = kernel[access].op == Op::StackPush;
      if (kernel[access].Has(ir::Word::HasSlot)) ++with_slot;
      if (is_push && !facts.pushed && kernel[access].span.Valid()) facts.place = kernel[access].span;
      facts.pushed = facts.pushed || is_push;
      facts.popped = facts.popped || !is_push;
      common = CommonBlock(kernel, common, kernel[access].parent);
      one_task = one_task && task_of(access) == facts.task;
    }
    facts.indexed = with_slot == facts.accesses.size();
    if (with_slot != 0 && !facts.indexed) {
      diagnostics.Error(diag::E0501, facts.place, "an adstack has accesses with and without a slot")
          .AddHelp("write 'at %slot' on every push and pop of the stack, or on none");
      continue;
    }
    if (!one_task) {
      diagnostics.Error(diag::E0502, facts.place, "an adstack is used in more than one task")
          .AddHelp("an adstack lives within one iteration; store values that cross tasks in a buffer");
      continue;
    }
    facts.gate = GateOf(kernel, common);
    if (tasks[facts.task].parallel.Valid()) facts.gates = BranchesOf(kernel, common, facts.accesses);
    if (facts.gates.empty()) facts.gates = {facts.gate};
    facts.conditions = CommonConditions(kernel, facts.accesses);
    used.push_back(std::move(facts));
  }
  return used;
}

bool NeverLiveTogether(const Function& kernel, const analysis::Structure& structure, const StackFacts& left,
                       const StackFacts& right) {
  Block left_block = kernel[left.maker].parent, right_block = kernel[right.maker].parent;
  Block common = CommonBlock(kernel, left_block, right_block);
  // First and last instruction of `common` that have to do with the stack.
  auto extent = [&](const StackFacts& facts, Block home) {
    if (home != common) {
      Inst holder = AncestorIn(kernel, common, facts.maker);
      return std::pair(holder, holder);
    }
    return std::pair(AncestorIn(kernel, common, facts.accesses.front()),
                     AncestorIn(kernel, common, facts.accesses.back()));
  };
  auto [left_first, left_last] = extent(left, left_block);
  auto [right_first, right_last] = extent(right, right_block);
  if (structure.Position(left_last) < structure.Position(right_first)) return true;
  if (structure.Position(right_last) < structure.Position(left_first)) return true;
  // Both inside one instruction: only the two branches of an `if` exclude each other.
  return (left_first == right_first && left_first == left_last && right_first == right_last &&
          left_block != common && right_block != common && kernel[left_first].op == Op::If) ||
         Contradict(kernel, common, left, right);
}

}  // namespace adc::adstack
