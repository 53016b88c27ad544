// The plan for people and for the bundle.

#include <algorithm>
#include <optional>

#include "adstack/artifact_type.h"
#include "adstack/plan.h"
#include "formulas/formulas.h"
#include "ir/module.h"

namespace adc::adstack {
namespace {

using artifact::SizeClass;

std::string ClassName(SizeClass size_class) {
  return "S" + std::to_string(static_cast<int>(size_class));
}

class PlanPrinter {
 public:
  PlanPrinter(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
              const diag::SourceManager& sources, std::string_view lanes)
      : module_(module), kernel_(kernel), plan_(plan), sources_(sources), lanes_(lanes) {
    for (ir::Value param : kernel.Params()) names_.push_back(module.Text(kernel[param].name));
  }

  std::string Print() {
    text_ = "adstack plan of @" + std::string(module_.Text(kernel_.name)) + "\n";
    for (size_t n = 0; n < plan_.tasks.size(); ++n) PrintTask(n, plan_.tasks[n]);
    if (!plan_.idle_stacks.empty())
      text_ += "  " + std::to_string(plan_.idle_stacks.size()) + " idle stacks dropped\n";
    return text_;
  }

 private:
  std::string Formula(NodeId expr) {
    return expr == kNoNode ? "unknown before the launch" : formulas_->Text(expr);
  }
  /// Names for what the expressions of a task share; a capacity is shown with its stack and in its row.
  void NameTerms(const TaskPlan& task) {
    std::vector<NodeId> shown = task.extents;
    for (const PlannedStack& stack : task.stacks) {
      shown.push_back(stack.capacity);
      if (stack.storage == artifact::Storage::kRow) shown.push_back(stack.capacity);
    }
    formulas_.emplace(plan_.exprs, names_, shown);
  }
  std::string At(diag::SourceSpan place) { return place.Valid() ? "  at " + sources_.Describe(place) : ""; }

  void PrintTask(size_t number, const TaskPlan& task) {
    NameTerms(task);
    text_ += "  task " + std::to_string(number);
    if (task.kind == artifact::TaskKind::kSerial) {
      text_ += ": serial";
    } else {
      text_ += ": parallel over";
      for (size_t axis = 0; axis < task.extents.size(); ++axis)
        text_ += (axis == 0 ? " " : " x ") + ("[" + Formula(task.extents[axis]) + "]");
    }
    text_ += ", class " + ClassName(plan_.ClassOf(task)) + At(task.place) + "\n";
    for (const std::string& term : formulas_->Terms()) text_ += "    " + term + "\n";
    if (!task.trip_kernel.empty()) text_ += "    iterations counted by @" + task.trip_kernel + "\n";
    if (!task.size_kernel.empty()) text_ += "    counted before the launch by @" + task.size_kernel + "\n";
    for (size_t group = 0; group < task.groups.size(); ++group)
      text_ += "    group " + std::to_string(group) + Gate(task.groups[group]) + "\n";
    for (size_t stack = 0; stack < task.stacks.size(); ++stack) PrintStack(stack, task.stacks[stack]);
    for (const PlannedPromise& promise : task.promises) PrintPromise(promise);
    if (task.groups.size() == 1) {
      text_ += "    row of group 0: " + RowFormula(task, 0) +
               " bytes, up to a multiple of 64 on a CPU and of 8 elsewhere\n";
    } else if (!task.groups.empty()) {
      for (uint32_t group = 0; group < task.groups.size(); ++group) {
        text_ += "    row of group " + std::to_string(group) + ": " + RowFormula(task, group) +
                 " bytes, up to a multiple of 8\n";
      }
      text_ += "    row of all groups on a CPU: " + RowFormula(task, std::nullopt) +
               " bytes, up to a multiple of 64\n";
    }
    if (!task.groups.empty() && !lanes_.empty())
      text_ += "    rows interleave by " + std::string(lanes_) + "\n";
  }

  /// "4 * [max(n, 0)] + max of (4 * [n], 8 * [m])": stacks that share bytes count once. No group: a CPU's
  /// row.
  std::string RowFormula(const TaskPlan& task, std::optional<uint32_t> group) {
    auto share_of = [&](const PlannedStack& stack) { return group ? stack.share : stack.cpu_share; };
    std::string sum;
    std::vector<bool> counted(task.stacks.size(), false);
    for (size_t first = 0; first < task.stacks.size(); ++first) {
      std::string list;
      std::vector<std::string> terms;
      for (size_t number = first; number < task.stacks.size(); ++number) {
        const PlannedStack& stack = task.stacks[number];
        bool in_row =
            stack.storage == artifact::Storage::kRow && (!group || stack.group == group) && !counted[number];
        bool shares =
            share_of(stack) != artifact::kNoIndex && share_of(stack) == share_of(task.stacks[first]);
        if (!in_row || (number != first && !shares)) {
          if (number == first) break;
          continue;
        }
        counted[number] = true;
        std::string capacity = "[" + Formula(stack.capacity) + "]";
        std::string term = stack.IsBits() ? "4 * ceil(" + capacity + " / 32)"
                                          : std::to_string(ir::ByteSize(stack.scalar)) + " * " + capacity;
        if (std::find(terms.begin(), terms.end(), term) != terms.end()) continue;
        list += (terms.empty() ? "" : ", ") + term;
        terms.push_back(term);
      }
      if (terms.empty()) continue;
      sum += (sum.empty() ? "" : " + ") + (terms.size() == 1 ? list : "max of (" + list + ")");
    }
    return sum.empty() ? "0" : sum;
  }

  std::string Gate(const PlannedGroup& group) {
    if (!group.gated) return ": no gate";
    std::string text =
        group.gates.size() == 1 ? ": gate" : ": " + std::to_string(group.gates.size()) + " gates";
    return text + (group.counted ? ", counted" : "") + At(group.place);
  }

  void PrintPromise(const PlannedPromise& promise) {
    text_ += "    promise of %" + std::string(names_[promise.param]) + ", checked by the size kernel" +
             At(promise.place) + "\n";
  }

  void PrintStack(size_t number, const PlannedStack& stack) {
    text_ += "    stack " + std::to_string(number) + ": " + ir::Spelling(stack.scalar);
    text_ += " capacity [" + Formula(stack.capacity) + "]";
    text_ += ", class " + ClassName(plan_.exprs.ClassOf(stack.capacity));
    text_ += stack.addressing == artifact::Addressing::kIndexed ? ", indexed" : ", counted";
    if (stack.IsBits()) text_ += ", bits";
    if (stack.loose) text_ += ", a loose bound";
    if (stack.counted) text_ += ", sized by the size kernel";
    if (stack.storage == artifact::Storage::kPrivate) {
      text_ += ", private";
    } else if (stack.storage == artifact::Storage::kSaved) {
      text_ += ", saved in %" + std::string(names_[stack.param]);
    } else {
      text_ += ", row of group " + std::to_string(stack.group);
      if (stack.share != artifact::kNoIndex) text_ += ", shares bytes " + std::to_string(stack.share);
    }
    text_ += At(stack.place) + "\n";
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  const AdstackPlan& plan_;
  const diag::SourceManager& sources_;
  std::string_view lanes_;
  std::vector<std::string_view> names_;
  std::optional<formulas::Formulas> formulas_;  ///< of the task that is being printed
  std::string text_;
};

}  // namespace

std::string PrintPlan(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
                      const diag::SourceManager& sources, std::string_view lanes) {
  return PlanPrinter(module, kernel, plan, sources, lanes).Print();
}

artifact::AdstackPlanMeta PlanMeta(const AdstackPlan& plan, const TaskPlan& task,
                                   const diag::SourceManager& sources) {
  artifact::AdstackPlanMeta meta;
  meta.lanes = plan.lanes;
  for (const PlannedGroup& group : task.groups) {
    artifact::GroupMeta entry;
    if (group.gated) entry.gate = std::string_view(group.place.Valid() ? sources.Describe(group.place) : "?");
    entry.counted = group.counted;
    meta.groups.push_back(entry);
  }
  for (uint32_t number = 0; number < task.stacks.size(); ++number) {
    const PlannedStack& stack = task.stacks[number];
    artifact::StackMeta entry;
    entry.id = stack.id;
    entry.group = stack.group == artifact::kNoIndex ? 0 : stack.group;
    entry.param = stack.param;
    entry.bits = stack.IsBits();
    entry.type = entry.bits ? artifact::ScalarType::kU32 : ArtifactType(stack.scalar);
    entry.capacity = stack.capacity;
    entry.counted = stack.counted;
    entry.loose = stack.loose;
    if (stack.place.Valid()) entry.place = std::string_view(sources.Describe(stack.place));
    entry.value = std::string_view(stack.name);
    entry.addressing = stack.addressing;
    entry.storage = stack.storage;
    entry.share = stack.share;
    meta.stacks.push_back(entry);
  }
  // Iterations that break a promise are counted beside the elements of stacks.
  for (const PlannedPromise& promise : task.promises) {
    artifact::StackMeta entry;
    entry.id = static_cast<uint32_t>(meta.stacks.size());
    entry.param = promise.param;
    entry.counted = true;
    entry.place = std::string_view(sources.Describe(promise.place));
    entry.storage = artifact::Storage::kPromise;
    meta.stacks.push_back(entry);
  }
  return meta;
}

}  // namespace adc::adstack
