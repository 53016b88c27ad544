#include "adstack/group_stacks.h"

#include <algorithm>

namespace adc::adstack {
namespace {

using ir::Block, ir::Function, ir::Inst, ir::Op;

/// Groups with more stacks than this share no bytes, and in tasks with more none join: comparing each with
/// each would not be linear any more.
constexpr size_t kMaxSharing = 512;
/// A task that has this many groups makes no more for stacks with several gates, or to join others: each
/// takes words of a launch and a register of each thread.
constexpr size_t kMaxGroups = 8;
/// Gates of a group that stacks have joined.
constexpr size_t kMaxJoinedGates = 64;

/// Stacks no two of which live at one time: they take the same bytes.
struct ByteSet {
  std::vector<uint32_t> stacks;
  std::vector<Block> gates;
};

class Grouping {
 public:
  Grouping(const Function& kernel, const analysis::Structure& structure, const artifact::SizeExprPool& exprs,
           const std::vector<const StackFacts*>& facts, TaskPlan& task)
      : kernel_(kernel), structure_(structure), exprs_(exprs), facts_(facts), task_(task) {}

  void Run() {
    std::vector<std::vector<uint32_t>> members = DivideByGates();
    size_t in_rows = 0;
    std::vector<ByteSet> sets;
    for (const std::vector<uint32_t>& own : members) {
      in_rows += own.size();
      std::vector<ByteSet> singles;
      for (uint32_t stack : own) singles.push_back({{stack}, task_.stacks[stack].gates});
      if (own.size() <= kMaxSharing)
        singles = Joined(std::move(singles), [](const ByteSet&, const ByteSet&) { return true; });
      sets.insert(sets.end(), singles.begin(), singles.end());
    }
    bool compares = in_rows <= kMaxSharing;
    std::sort(sets.begin(), sets.end(),
              [](const ByteSet& left, const ByteSet& right) { return left.stacks[0] < right.stacks[0]; });
    if (compares && members.size() > 1) {
      std::vector<ByteSet> joined =
          Joined(sets, [&](const ByteSet& left, const ByteSet& right) { return AlwaysAsLong(left, right); });
      // Some have come to gates that others had from the start.
      joined = Joined(std::move(joined),
                      [](const ByteSet& left, const ByteSet& right) { return left.gates == right.gates; });
      if (CountGroups(joined) <= std::max(kMaxGroups, members.size())) sets = std::move(joined);
    }
    Number(sets);
    for (ByteSet& set : sets) set.gates.clear();
    if (compares) sets = Joined(std::move(sets), [](const ByteSet&, const ByteSet&) { return true; });
    NumberOnCpu(sets);
  }

 private:
  /// The stacks in rows, by their gates.
  std::vector<std::vector<uint32_t>> DivideByGates() {
    std::vector<std::vector<uint32_t>> members;
    for (uint32_t n = 0; n < task_.stacks.size(); ++n) {
      PlannedStack& stack = task_.stacks[n];
      if (stack.storage != artifact::Storage::kRow) {
        stack.group = artifact::kNoIndex;
        stack.gates = {stack.gate};
        continue;
      }
      auto find = [&] {
        return std::find_if(members.begin(), members.end(), [&](const std::vector<uint32_t>& own) {
          return task_.stacks[own[0]].gates == stack.gates;
        });
      };
      if (find() == members.end() && members.size() >= kMaxGroups) stack.gates = {stack.gate};
      auto found = find();
      if (found == members.end()) found = members.insert(members.end(), std::vector<uint32_t>());
      found->push_back(n);
    }
    return members;
  }

  /// First fit in textual order: a set joins the first one that it `may` join and never lives with.
  template <class May>
  std::vector<ByteSet> Joined(std::vector<ByteSet> sets, const May& may) const {
    std::vector<ByteSet> joined;
    for (ByteSet& set : sets) {
      auto found = std::find_if(joined.begin(), joined.end(), [&](const ByteSet& other) {
        return may(other, set) && NeverTogether(other, set);
      });
      if (found == joined.end()) {
        joined.push_back(std::move(set));
        continue;
      }
      found->stacks.insert(found->stacks.end(), set.stacks.begin(), set.stacks.end());
      if (found->gates != set.gates) found->gates = GatesOfBoth(found->gates, set.gates);
    }
    return joined;
  }

  bool NeverTogether(const ByteSet& left, const ByteSet& right) const {
    for (uint32_t one : left.stacks) {
      for (uint32_t other : right.stacks) {
        if (!NeverLiveTogether(kernel_, structure_, *facts_[one], *facts_[other])) return false;
      }
    }
    return true;
  }

  /// The sizes that the bytes of the set follow from; empty where the bytes may be counted, and then differ
  /// from every expression.
  std::vector<std::pair<NodeId, ir::Scalar>> SizesOf(const ByteSet& set) const {
    std::vector<std::pair<NodeId, ir::Scalar>> sizes;
    for (uint32_t n : set.stacks) {
      const PlannedStack& stack = task_.stacks[n];
      if (stack.capacity == kNoNode || stack.loose || exprs_.HasLoops(stack.capacity)) return {};
      sizes.emplace_back(stack.capacity, stack.scalar);
    }
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  bool AlwaysAsLong(const ByteSet& left, const ByteSet& right) const {
    std::vector<std::pair<NodeId, ir::Scalar>> sizes = SizesOf(left);
    return !sizes.empty() && sizes == SizesOf(right) &&
           left.gates.size() + right.gates.size() <= kMaxJoinedGates;
  }

  /// As few gates as say the same: none inside another one, and in place of both branches of one condition
  /// what holds them, where every thread that comes there comes to the `if`s.
  std::vector<Block> GatesOfBoth(std::vector<Block> gates, const std::vector<Block>& more) const {
    gates.insert(gates.end(), more.begin(), more.end());
    for (size_t n = 0; n < gates.size(); ++n) {
      Inst owner = kernel_[gates[n]].owner;
      if (!owner.Valid() || kernel_[owner].op != Op::If) continue;
      Block around = kernel_[owner].parent;
      auto is_counterpart = [&](Block other) {
        Inst its = kernel_[other].owner;
        return its.Valid() && kernel_[its].op == Op::If && kernel_[its].parent == around &&
               kernel_.Operand(its, 0) == kernel_.Operand(owner, 0) &&
               (kernel_[its].regions[0] == other) != (kernel_[owner].regions[0] == gates[n]);
      };
      bool has_both = std::any_of(gates.begin(), gates.end(), is_counterpart);
      if (!has_both || GateOf(kernel_, around) != around) continue;
      gates.push_back(around);
      gates[n] = around;
    }
    std::vector<Block> outermost;
    for (Block gate : gates) {
      bool is_inside = std::any_of(gates.begin(), gates.end(), [&](Block other) {
        return other != gate && BlockContains(kernel_, other, gate);
      });
      bool is_known = std::find(outermost.begin(), outermost.end(), gate) != outermost.end();
      if (!is_inside && !is_known) outermost.push_back(gate);
    }
    std::sort(outermost.begin(), outermost.end(),
              [&](Block left, Block right) { return PlaceOf(left) < PlaceOf(right); });
    return outermost;
  }

  /// In textual order.
  std::pair<uint32_t, bool> PlaceOf(Block gate) const {
    Inst owner = kernel_[gate].owner;
    if (!owner.Valid()) return {};
    return {structure_.Position(owner), kernel_[owner].regions[0] != gate};
  }

  static size_t CountGroups(const std::vector<ByteSet>& sets) {
    std::vector<std::vector<Block>> known;
    for (const ByteSet& set : sets) {
      if (std::find(known.begin(), known.end(), set.gates) == known.end()) known.push_back(set.gates);
    }
    return known.size();
  }

  void Number(const std::vector<ByteSet>& sets) {
    std::vector<uint32_t> shares;  // by group: how many sets have a number
    for (const ByteSet& set : sets) {
      auto found = std::find_if(task_.groups.begin(), task_.groups.end(),
                                [&](const PlannedGroup& group) { return group.gates == set.gates; });
      auto number = static_cast<uint32_t>(found - task_.groups.begin());
      if (found == task_.groups.end()) {
        task_.groups.push_back(GroupBehind(set.gates));
        shares.push_back(0);
      }
      uint32_t share = set.stacks.size() > 1 ? shares[number]++ : artifact::kNoIndex;
      for (uint32_t stack : set.stacks) {
        task_.stacks[stack].group = number;
        task_.stacks[stack].share = share;
      }
    }
  }

  PlannedGroup GroupBehind(const std::vector<Block>& gates) const {
    PlannedGroup group;
    group.gates = gates;
    Inst owner = kernel_[gates.front()].owner;
    group.gated = owner.Valid() && kernel_[owner].op == Op::If;
    if (group.gated) group.place = kernel_[owner].span;
    return group;
  }

  void NumberOnCpu(const std::vector<ByteSet>& sets) {
    uint32_t share = 0;
    for (const ByteSet& set : sets) {
      if (set.stacks.size() < 2) continue;
      for (uint32_t stack : set.stacks) task_.stacks[stack].cpu_share = share;
      ++share;
    }
  }

  const Function& kernel_;
  const analysis::Structure& structure_;
  const artifact::SizeExprPool& exprs_;
  const std::vector<const StackFacts*>& facts_;
  TaskPlan& task_;
};

}  // namespace

void GroupStacks(const Function& kernel, const analysis::Structure& structure,
                 const artifact::SizeExprPool& exprs, const std::vector<const StackFacts*>& facts,
                 TaskPlan& task) {
  Grouping(kernel, structure, exprs, facts, task).Run();
}

}  // namespace adc::adstack
