#include "adstack/forbid_s2.h"

#include <algorithm>

#include "diag/errors/adstack.h"
#include "ir/module.h"

namespace adc::adstack {
namespace {

using artifact::SizeClass, artifact::SizeOp;

/// "'%a', '%b'"
std::string QuotedList(const std::vector<std::string>& names) {
  std::string list;
  for (const std::string& name : names) list += (list.empty() ? "'%" : ", '%") + name + "'";
  return list;
}

class Reporter {
 public:
  Reporter(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
           diag::Diagnostics& diagnostics)
      : module_(module), kernel_(kernel), plan_(plan), diagnostics_(diagnostics) {}

  void Run() {
    for (const TaskPlan& task : plan_.tasks) {
      ReportExtents(task);
      ReportStacks(task);
    }
  }

 private:
  bool NeedsData(NodeId size) const { return plan_.exprs.ClassOf(size) == SizeClass::kS2; }

  /// "depends on the content of '%n'", or that nothing says it. The shapes of buffers are no content.
  std::string Reason(std::vector<NodeId> sizes) const {
    std::vector<bool> seen(plan_.exprs.size(), false), is_read(kernel_.params.size(), false);
    while (!sizes.empty()) {
      NodeId node = sizes.back();
      sizes.pop_back();
      if (node == kNoNode || seen[node]) continue;
      seen[node] = true;
      const artifact::SizeNode& data = plan_.exprs[node];
      if (data.op == SizeOp::kRead) is_read[data.param] = true;
      for (NodeId operand : data.operands) sizes.push_back(operand);
      for (NodeId index : plan_.exprs.ReadIndices(data)) sizes.push_back(index);
    }
    std::vector<std::string> names;
    for (uint32_t n = 0; n < is_read.size(); ++n)
      if (is_read[n]) names.emplace_back(module_.Text(kernel_[kernel_.Params()[n]].name));
    if (!names.empty()) return "depends on the content of " + QuotedList(names);
    return "is computed from data, so that a size kernel would have to count it";
  }

  void ReportExtents(const TaskPlan& task) {
    bool needs_data = std::any_of(task.extents.begin(), task.extents.end(),
                                  [&](NodeId extent) { return NeedsData(extent); });
    if (task.trip_kernel.empty() && !needs_data) return;
    std::string reason = task.trip_kernel.empty() ? Reason(task.extents)
                                                  : "is no integer expression of scalars and shapes, so that "
                                                    "a kernel would have to count it";
    diagnostics_.Error(diag::E0504, task.place, "the number of iterations of this parallel loop " + reason)
        .AddHelp("pass the bound as a scalar argument, or compile without --forbid-s2");
  }

  void ReportStacks(const TaskPlan& task) {
    std::vector<bool> told(task.stacks.size(), false);
    for (size_t first = 0; first < task.stacks.size(); ++first) {
      if (told[first] || !NeedsData(task.stacks[first].capacity)) continue;
      // Values that one loop keeps have one reason.
      std::vector<std::string> names;
      std::vector<NodeId> sizes;
      for (size_t number = first; number < task.stacks.size(); ++number) {
        const PlannedStack& stack = task.stacks[number];
        if (!NeedsData(stack.capacity) || !(stack.place == task.stacks[first].place)) continue;
        told[number] = true;
        sizes.push_back(stack.capacity);
        if (!stack.name.empty() && std::find(names.begin(), names.end(), stack.name) == names.end())
          names.push_back(stack.name);
      }
      std::string what = names.empty() ? "values" : "values of " + QuotedList(names);
      diagnostics_
          .Error(diag::E0504, task.stacks[first].place,
                 "the number of " + what + " that this loop tapes " + Reason(sizes))
          .AddHelp(
              "bound it by a scalar argument or a shape ('for %t in 0..%bound' with 'if %t < %n' inside, "
              "'max' of a "
              "'while'), or compile without --forbid-s2");
    }
  }

  const ir::Module& module_;
  const ir::Function& kernel_;
  const AdstackPlan& plan_;
  diag::Diagnostics& diagnostics_;
};

}  // namespace

void ForbidDeviceData(const ir::Module& module, const ir::Function& kernel, const AdstackPlan& plan,
                      diag::Diagnostics& diagnostics) {
  Reporter(module, kernel, plan, diagnostics).Run();
}

}  // namespace adc::adstack
