// `adc size`: the needs of a launch, from the bundle alone: no device, no code run.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/targets.h"
#include "host/exit_code.h"
#include "json_output.h"
#include "launch_sizes.h"
#include "launch_sizes_json.h"
#include "print.h"

namespace adc::tool {

namespace {

/// "%a: ": of which value the elements are, where it has a name.
std::string HoldsText(const artifact::StackMeta& stack) {
  std::string value = ValueText(stack);
  return value.empty() ? value : value + ": ";
}

void PrintStacks(const LaunchSizes& sizes, uint32_t task, const adrt_task_report& report) {
  bool can_count = !sizes.meta().tasks[task].size_kernel.empty();
  const artifact::AdstackPlanMeta& stacks = sizes.Stacks(task);
  formulas::Formulas formulas = CapacityFormulas(sizes.meta(), stacks);
  for (const std::string& term : formulas.Terms()) Print("      %s\n", term.c_str());
  for (uint32_t index = 0; index < report.stack_count; ++index) {
    if (stacks.stacks[index].storage == artifact::Storage::kPromise) {
      Print("      %s\n", PromiseText(sizes.meta(), stacks.stacks[index]).c_str());
      continue;
    }
    adrt_stack_report stack = sizes.Stack(task, index);
    const char* bits = stack.bits != 0 ? " bits" : "";
    std::string holds = HoldsText(stacks.stacks[index]);
    std::string formula = formulas.Text(stacks.stacks[index].capacity);
    if (stack.known == 0 && stacks.stacks[index].storage == artifact::Storage::kSaved) {
      Print("      %s%s x ? %s: %s  (%s)\n", holds.c_str(), adrt_type_name(stack.type),
            WhereText(sizes.meta(), stacks.stacks[index]).c_str(),
            can_count ? "code that counts says it" : "the launch says it", Printable(stack.place).c_str());
    } else if (stack.known == 0) {
      Print("      %s%s%s x ?, no expression gives its capacity: the launch %s  (%s)\n", holds.c_str(),
            adrt_type_name(stack.type), bits, can_count ? "runs code that counts it" : "needs a cap",
            Printable(stack.place).c_str());
    } else if (stack.in_row == 0) {
      Print("      %s%s%s x %s = %llu %s  (%s)\n", holds.c_str(), adrt_type_name(stack.type), bits,
            formula.c_str(), static_cast<unsigned long long>(stack.capacity),
            WhereText(sizes.meta(), stacks.stacks[index]).c_str(), Printable(stack.place).c_str());
    } else {
      const artifact::StackMeta& meta = stacks.stacks[index];
      std::string copy =
          IsCopy(meta) ? ", a copy of %" + Printable(sizes.meta().params[meta.param].name.view()) : "";
      Print("      %s%s%s x %s = %s bytes a row%s%s  (%s)\n", holds.c_str(), adrt_type_name(stack.type), bits,
            formula.c_str(), report.resolved || stack.bytes > 0 ? Grouped(stack.bytes).c_str() : "?",
            stack.gate[0] != 0 ? ", gated" : "", copy.c_str(), Printable(stack.place).c_str());
    }
  }
}

/// The formulas alone, where the options on which their values depend were not given.
void PrintFormulas(const LaunchSizes& sizes) {
  std::string heap = sizes.IsKnown() ? Grouped(sizes.total().heap_bytes) + " bytes for any arguments"
                                     : "unknown without " + sizes.MissingText();
  Print("@%s on %s: heap %s\n", sizes.kernel().report.name, sizes.target().name, heap.c_str());
  for (uint32_t task = 0; task < sizes.total().task_count; ++task) {
    Print("    task %u  (%s)\n", task, Printable(sizes.Task(task).place).c_str());
    formulas::Formulas formulas = CapacityFormulas(sizes.meta(), sizes.Stacks(task));
    for (const std::string& term : formulas.Terms()) Print("      %s\n", term.c_str());
    for (const artifact::StackMeta& stack : sizes.Stacks(task).stacks) {
      if (stack.storage == artifact::Storage::kPromise) {
        Print("      %s\n", PromiseText(sizes.meta(), stack).c_str());
        continue;
      }
      std::string capacity = stack.capacity == artifact::kNoNode ? "?" : formulas.Text(stack.capacity);
      Print("      %s%s x %s, %s  (%s)\n", HoldsText(stack).c_str(), ElementText(stack).c_str(),
            capacity.c_str(), WhereText(sizes.meta(), stack).c_str(), Printable(stack.place.view()).c_str());
    }
  }
}

void PrintText(const LaunchSizes& sizes) {
  if (!sizes.missing().empty()) return PrintFormulas(sizes);
  const adrt_plan_report& total = sizes.total();
  uint64_t arguments = sizes.ArgumentBytes();
  Print("@%s on %s: heap %s bytes%s, scratch %s of them%s, %u %s\n", sizes.kernel().report.name,
        sizes.target().name, Grouped(total.heap_bytes).c_str(),
        total.resolved ? "" : " and what depends on buffer contents (class S2)",
        Grouped(total.scratch_bytes).c_str(),
        arguments > 0 ? (", arguments " + Grouped(arguments)).c_str() : "", total.workers,
        sizes.IsCpu() ? "workers" : "threads at once");
  for (uint32_t task = 0; task < total.task_count; ++task) {
    adrt_task_report report = sizes.Task(task);
    bool counted = report.counted_axes != 0;
    Print("    task %u: %s iterations, %s rows of %s bytes = %s bytes  (%s)\n", task,
          counted ? "?" : Grouped(report.iterations).c_str(),
          counted || !report.resolved ? "?" : Grouped(report.rows).c_str(),
          report.resolved ? Grouped(report.row_bytes).c_str() : "?",
          report.resolved ? Grouped(report.heap_bytes).c_str() : "?", Printable(report.place).c_str());
    if (counted) Print("      no expression gives its iterations: the launch runs code that counts them\n");
    if (report.segment > 0)
      Print("      checkpoints every %s iterations, and one more forward run\n",
            Grouped(report.segment).c_str());
    if (sizes.MayKeepCheckpoints(task))
      Print(
          "      checkpoints instead where a device's cache holds less than a third: a forward run costs "
          "less\n");
    for (uint32_t number = 0; number < report.group_count; ++number) {
      adrt_group_report group = sizes.Group(task, number);
      if (group.counted == 0) continue;
      Print("      %s iterations pass the gate: %s rows of %s bytes  (%s)\n",
            Grouped(group.iterations).c_str(), Grouped(group.rows).c_str(), Grouped(group.row_bytes).c_str(),
            Printable(group.gate).c_str());
    }
    PrintStacks(sizes, task, report);
  }
}

}  // namespace

int Size(const std::vector<std::string>& words, Session&) {
  std::vector<std::string> files;
  SizeRequest request;
  bool json = false;
  CommandLine line(
      "adc size [options] bundle.adcb|kernel.ir",
      "Says how many heap bytes a launch takes per task and target, with the formula; the formula alone,\n"
      "and what to give, where it depends on an extent that no --shape names or a number that no --arg\n"
      "names. A companion has its primal's shape.");
  request.AddTo(line);
  line.Flag("--json",
            "one JSON object per kernel and target, in a list; 'missing' names options that were not given,\n"
            "and figures that depend on them are null",
            &json);
  line.Example("adc size relax.adcb --kernel relax.grad --shape x=1000000 --arg n=64 --threads 8",
               "bytes of a launch");
  line.Example("adc size grid.adcb --kernel step.grad --shape mass=1,65,129,36,2 --pass 0.008",
               "the same where 0.8 % of the iterations pass the gates");
  line.Positional("bundle", 1, 1, &files);
  if (std::optional<int> code = line.Parse(words)) return *code;
  OpenOptions options;
  options.targets = driver::DefaultTargets();
  options.keep_going = true;
  options.SourceOptions::operator=(request.source);
  options.checkpoint = request.checkpoint;
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != kExitOk) return code;
  AllSizes sizes;
  if (int code = sizes.Plan(bundle, request); code != kExitOk) return code;
  Json listed = Json::array();
  for (const LaunchSizes& launch : sizes.launches()) {
    if (json) {
      listed.push_back(LaunchSizesJson(launch));
    } else {
      PrintText(launch);
    }
  }
  if (json) PrintJson(listed);
  return kExitOk;
}

}  // namespace adc::tool
