#include "raise/access_groups.h"

#include <map>
#include <set>
#include <utility>

#include "analysis/memory.h"
#include "analysis/uses.h"
#include "analysis/walk.h"

namespace adc::raise {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Value;

/// Base, field and indices: the element that a check is for.
using Element = std::vector<uint32_t>;

Element ElementOf(const Function& kernel, Inst access) {
  Element element{kernel.Operand(access, 0).raw, kernel[access].attr};
  for (Value index : kernel.Indices(access)) element.push_back(index.raw);
  return element;
}

/// Groups that are open at a time, so that long code takes no longer than its length says.
constexpr size_t kMostOpen = 64;

class Grouper {
 public:
  Grouper(const Function& kernel, std::vector<std::vector<Inst>>& groups)
      : kernel_(kernel), uses_(kernel), groups_(groups) {}

  void Run(ir::Block block) {
    for (Inst inst : kernel_[block].insts) {
      if (ir::IsAccess(kernel_[inst].op)) {
        Take(inst);
      } else if (!analysis::IsPureOrRead(kernel_[inst].op) || kernel_.RegionCount(inst) != 0) {
        open_.clear();
      }
    }
    open_.clear();
  }

 private:
  /// A group that others may still join.
  struct Open {
    uint32_t base = 0;
    bool of_loads = false;
    size_t group = 0;
    std::set<uint32_t> written;  ///< components: since the first load, or by the group
  };

  void Take(Inst access) {
    const ir::InstData& data = kernel_[access];
    bool is_load = data.op == Op::Load;
    // An access that gives its old value is made where it stands.
    bool gives = !is_load && data.result_count != 0 && uses_.IsUsed(kernel_.Result(access));
    Element element = ElementOf(kernel_, access);
    std::erase_if(open_, [&](const auto& entry) {
      const Open& open = entry.second;
      if (is_load && open.of_loads) return false;
      if (entry.first.first != element) return MayBeOne(open.base, element[0]);
      return is_load ? open.written.contains(data.component) : gives && !open.of_loads;
    });
    auto loads = open_.find({element, true});
    if (is_load && loads != open_.end() && loads->second.written.contains(data.component)) {
      open_.erase(loads);
      loads = open_.end();
    }
    if (!is_load && loads != open_.end()) loads->second.written.insert(data.component);
    if (open_.size() > kMostOpen) open_.clear();
    auto [own, fresh] = open_.try_emplace({element, is_load});
    if (fresh) {
      own->second = {element[0], is_load, groups_.size(), {}};
      groups_.emplace_back();
    }
    if (!is_load) own->second.written.insert(data.component);
    groups_[own->second.group].push_back(access);
    if (gives) open_.erase(own);
  }

  bool MayBeOne(uint32_t a, uint32_t b) const { return a == b || (IsAlias(a) && IsAlias(b)); }

  bool IsAlias(uint32_t base) const {
    const ir::ValueData& data = kernel_[Value(base)];
    return data.kind == ir::ValueKind::BlockParam && kernel_.params[data.number].alias;
  }

  const Function& kernel_;
  analysis::Uses uses_;
  std::vector<std::vector<Inst>>& groups_;
  std::map<std::pair<Element, bool>, Open> open_;
};

}  // namespace

AccessGroups::AccessGroups(const Function& kernel)
    : kernel_(kernel), group_of_(kernel.InstCount(), ir::kNoAttr) {
  Grouper grouper(kernel, groups_);
  grouper.Run(kernel.Body());
  analysis::ForEachInst(kernel, [&](Inst inst) {
    for (ir::Block region : kernel[inst].regions) {
      if (region.Valid()) grouper.Run(region);
    }
  });
  for (uint32_t group = 0; group < groups_.size(); ++group) {
    for (Inst member : groups_[group]) group_of_[member] = group;
  }
}

std::span<const Inst> AccessGroups::At(Inst access) const {
  return access == PlaceOf(access) ? std::span<const Inst>(groups_[group_of_[access]])
                                   : std::span<const Inst>();
}

Inst AccessGroups::PlaceOf(Inst access) const {
  if (kernel_[access].index_count == 0) return access;
  const std::vector<Inst>& members = groups_[group_of_[access]];
  bool is_load = kernel_[members.front()].op == Op::Load;
  return is_load ? members.front() : members.back();
}

}  // namespace adc::raise
