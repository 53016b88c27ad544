// `adc size`: what a launch takes, from the bundle alone: no device, no code run.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/targets.h"
#include "json_output.h"
#include "launch_sizes.h"
#include "print.h"
#include "support/exit_code.h"

namespace adc::tool {

namespace {

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
    std::string formula = formulas.Text(stacks.stacks[index].capacity);
    if (stack.known == 0 && stacks.stacks[index].storage == artifact::Storage::kSaved) {
      Print("      %s x ? %s: %s  (%s)\n", adrt_type_name(stack.type),
            WhereText(sizes.meta(), stacks.stacks[index]).c_str(),
            can_count ? "code that counts says it" : "the launch says it", Printable(stack.place).c_str());
    } else if (stack.known == 0) {
      Print("      %s%s x ?, no expression gives its capacity: the launch %s  (%s)\n",
            adrt_type_name(stack.type), bits, can_count ? "runs code that counts it" : "needs a cap",
            Printable(stack.place).c_str());
    } else if (stack.in_row == 0) {
      Print("      %s%s x %s = %llu %s  (%s)\n", adrt_type_name(stack.type), bits, formula.c_str(),
            static_cast<unsigned long long>(stack.capacity),
            WhereText(sizes.meta(), stacks.stacks[index]).c_str(), Printable(stack.place).c_str());
    } else {
      const artifact::StackMeta& meta = stacks.stacks[index];
      std::string copy =
          IsCopy(meta) ? ", a copy of %" + Printable(sizes.meta().params[meta.param].name.view()) : "";
      Print("      %s%s x %s = %s bytes a row%s%s  (%s)\n", adrt_type_name(stack.type), bits, formula.c_str(),
            report.resolved || stack.bytes > 0 ? Grouped(stack.bytes).c_str() : "?",
            stack.gate[0] != 0 ? ", gated" : "", copy.c_str(), Printable(stack.place).c_str());
    }
  }
}

/// What a heap holds beside scratch and the rows of its largest task: on some devices the launch's arguments.
uint64_t ArgumentBytes(const LaunchSizes& sizes) {
  const adrt_plan_report& total = sizes.total();
  uint64_t largest = 0;
  for (uint32_t task = 0; task < total.task_count; ++task)
    largest = std::max(largest, sizes.Task(task).heap_bytes);
  uint64_t known = total.scratch_bytes + largest;
  return total.heap_bytes > known ? total.heap_bytes - known : 0;
}

/// The formulas alone, where nobody gave what their values depend on.
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
      Print("      %s x %s, %s  (%s)\n", ElementText(stack).c_str(), capacity.c_str(),
            WhereText(sizes.meta(), stack).c_str(), Printable(stack.place.view()).c_str());
    }
  }
}

void PrintText(const LaunchSizes& sizes) {
  if (!sizes.missing().empty()) return PrintFormulas(sizes);
  const adrt_plan_report& total = sizes.total();
  uint64_t arguments = ArgumentBytes(sizes);
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

/// A figure of a launch; null where it depends on what nobody gave.
Json Figure(bool known, uint64_t number) {
  return known ? Json(number) : Json(nullptr);
}

Json ToJson(const adrt_group_report& group, bool known) {
  Json object = {{"gate", group.gate},
                 {"rows", Figure(known, group.rows)},
                 {"row_bytes", Figure(known, group.row_bytes)}};
  if (group.counted != 0) object["pass"] = Figure(known, group.iterations);
  return object;
}

Json ToJson(const adrt_stack_report& stack, bool known) {
  return {{"type", adrt_type_name(stack.type)},
          {"bits", stack.bits},
          {"in_row", stack.in_row},
          {"known", stack.known},
          {"capacity", Figure(known, stack.capacity)},
          {"formula", std::string(stack.formula)},
          {"place", stack.place}};
}

Json TaskToJson(const LaunchSizes& sizes, uint32_t number) {
  bool given = sizes.missing().empty(), known = sizes.IsKnown();
  adrt_task_report report = sizes.Task(number);
  Json groups = Json::array(), stacks = Json::array();
  for (uint32_t index = 0; index < report.group_count; ++index)
    groups.push_back(ToJson(sizes.Group(number, index), given));
  for (uint32_t index = 0; index < report.stack_count; ++index)
    stacks.push_back(ToJson(sizes.Stack(number, index), given));
  Json task = {{"iterations", Figure(given, report.iterations)},
               {"resolved", report.resolved},
               {"counted_axes", report.counted_axes},
               {"rows", Figure(given, report.rows)},
               {"row_bytes", Figure(known, report.row_bytes)},
               {"heap_bytes", Figure(known, report.heap_bytes)},
               {"segment", Figure(given, report.segment)},
               {"place", report.place},
               {"groups", std::move(groups)},
               {"stacks", std::move(stacks)}};
  return task;
}

Json ToJson(const LaunchSizes& sizes) {
  bool known = sizes.IsKnown();
  const adrt_plan_report& total = sizes.total();
  Json tasks = Json::array();
  for (uint32_t number = 0; number < total.task_count; ++number) tasks.push_back(TaskToJson(sizes, number));
  return {{"kernel", sizes.kernel().report.name},
          {"target", sizes.target().name},
          {"missing", sizes.missing()},
          {"heap_bytes", Figure(known, total.heap_bytes)},
          {"scratch_bytes", Figure(known, total.scratch_bytes)},
          {"argument_bytes", Figure(known, ArgumentBytes(sizes))},
          {"resolved", total.resolved},
          {"threads", total.workers},
          {"tasks", std::move(tasks)}};
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
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != kExitOk) return code;
  AllSizes sizes;
  if (int code = sizes.Plan(bundle, request); code != kExitOk) return code;
  Json listed = Json::array();
  for (const LaunchSizes& launch : sizes.launches()) {
    if (json) {
      listed.push_back(ToJson(launch));
    } else {
      PrintText(launch);
    }
  }
  if (json) PrintJson(listed);
  return kExitOk;
}

}  // namespace adc::tool
