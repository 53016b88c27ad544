// `adc size`: what a launch takes, from the bundle alone: no device, no code run, no buffer read.

#include <cstdio>

#include "bundle_file.h"
#include "command_line.h"
#include "commands.h"
#include "driver/options.h"
#include "driver/targets.h"
#include "values.h"

namespace adc::tool {

namespace {

constexpr uint32_t kDeviceThreads = 65536;

/// Arguments for a plan without memory: shapes and numbers, and nothing behind the buffers.
std::vector<adrt_arg> ShapesAlone(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                                  const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::vector<adrt_arg> arguments;
  for (const Param& param : kernel.params) {
    if (!param.IsGiven()) continue;
    auto value = values.find(param.name);
    ArgValue& memory = values[param.name];
    if (param.IsScalar() && value == values.end()) memory = ZeroValue(param, {});
    adrt_arg argument = ToArgument(param, memory);
    if (param.IsBuffer()) {
      // A companion has its primal's shape unless its own is given; an axis that nothing names is empty.
      auto shape = shapes.find(param.name);
      if (shape == shapes.end() && param.report.primal < kernel.params.size()) {
        shape = shapes.find(kernel.params[param.report.primal].name);
      }
      argument.rank = param.report.rank;
      for (size_t axis = 0; axis < param.report.rank; ++axis) {
        bool known = shape != shapes.end() && axis < shape->second.size();
        argument.extents[axis] = known ? shape->second[axis] : 0;
      }
    }
    if (!param.IsScalar()) argument.data = nullptr;
    if (param.IsLayout()) argument.size = param.layout_bytes;
    arguments.push_back(argument);
  }
  return arguments;
}

void PrintStacks(const adrt_launch_plan* plan, uint32_t task, const adrt_task_report& report) {
  for (uint32_t index = 0; index < report.stack_count; ++index) {
    auto stack = Sized<adrt_stack_report>();
    if (adrt_plan_stack(plan, task, index, &stack, nullptr) != ADRT_OK) continue;
    const char* bits = stack.bits != 0 ? " bits" : "";
    if (stack.known == 0) {
      std::printf("      %s%s x ?, no expression gives its capacity: the launch needs a cap  (%s)\n",
                  adrt_type_name(stack.type), bits, stack.place);
    } else if (stack.in_row == 0) {
      std::printf("      %s%s x %s = %llu in private memory  (%s)\n", adrt_type_name(stack.type), bits,
                  stack.formula, static_cast<unsigned long long>(stack.capacity), stack.place);
    } else {
      std::printf("      %s%s x %s = %s bytes a row%s  (%s)\n", adrt_type_name(stack.type), bits,
                  stack.formula, report.resolved ? Grouped(stack.bytes).c_str() : "?",
                  stack.gate[0] != 0 ? ", gated" : "", stack.place);
    }
  }
}

int PrintKernel(const Kernel& kernel, const std::vector<adrt_arg>& arguments, const adrt_target_info& target,
                uint32_t target_index, uint32_t workers, uint64_t budget) {
  auto desc = Sized<adrt_plan_desc>();
  desc.args = arguments.data();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.target = target_index;
  desc.workers = workers;
  desc.heap_budget = budget;
  auto error = Sized<adrt_error>();
  LaunchPlan plan;
  adrt_status status = adrt_plan(kernel.handle, &desc, plan.Out(), &error);
  if (status != ADRT_OK)
    return ReportFailure("kernel '" + std::string(kernel.report.name) + "'", status, error);
  auto total = Sized<adrt_plan_report>();
  adrt_plan_info(plan.get(), &total, nullptr);
  std::printf("@%s on %s: heap %s bytes%s, scratch %s of them, %u %s\n", kernel.report.name, target.name,
              Grouped(total.heap_bytes).c_str(),
              total.resolved ? "" : " and what depends on buffer contents (class S2)",
              Grouped(total.scratch_bytes).c_str(), total.workers,
              std::string_view(target.kind) == "cpu" ? "workers" : "threads at once");
  for (uint32_t task = 0; task < total.task_count; ++task) {
    auto report = Sized<adrt_task_report>();
    if (adrt_plan_task(plan.get(), task, &report, nullptr) != ADRT_OK) continue;
    std::printf("    task %u: %s iterations, %s rows of %s bytes = %s bytes  (%s)\n", task,
                Grouped(report.iterations).c_str(), Grouped(report.rows).c_str(),
                report.resolved ? Grouped(report.row_bytes).c_str() : "?",
                report.resolved ? Grouped(report.heap_bytes).c_str() : "?", report.place);
    if (report.segment > 0)
      std::printf("      checkpoints every %s iterations, and one more forward run\n",
                  Grouped(report.segment).c_str());
    PrintStacks(plan.get(), task, report);
  }
  return driver::kExitOk;
}

}  // namespace

int Size(const std::vector<std::string>& words) {
  std::vector<std::string> files;
  std::string kernel_name;
  ArgTexts texts;
  uint64_t workers = 0, budget = 0;
  CommandLine line(
      "adc size [options] bundle.adcb|kernel.ir",
      "Says how many heap bytes a launch takes per task and target, with the formula. Extents that no\n"
      "--shape names count as 0, numbers that no --arg names as 0; a companion has its primal's shape.");
  line.Text("--kernel", "NAME", "this kernel only; default: all", &kernel_name);
  line.List("--shape", "NAME=N,M", "extents of a buffer", &texts.shapes);
  line.List("--arg", "NAME=NUMBER", "value of a scalar", &texts.args);
  line.Number("--threads", "N",
              "CPU: workers at once, default 1; other devices: threads at once, default 65536,\n"
              "which is about what a large GPU runs",
              &workers, 1u << 20);
  line.Number("--budget", "BYTES",
              "what a launch with this heap budget takes: fewer rows, and checkpoints where the kernel\n"
              "was compiled with --checkpoint=auto",
              &budget, UINT64_MAX);
  line.Example("adc size relax.adcb --kernel relax.grad --shape x=1000000 --arg n=64 --threads 8",
               "bytes of a launch");
  line.Positional("bundle", 1, 1, &files);
  switch (line.Parse(words)) {
    case CommandLine::Outcome::Done:
      return driver::kExitOk;
    case CommandLine::Outcome::Error:
      return driver::kExitUsage;
    case CommandLine::Outcome::Run:
      break;
  }
  OpenOptions options;
  options.trust = false;
  options.targets = driver::DefaultTargets();
  Bundle bundle;
  if (int code = OpenBundle(files[0], options, &bundle); code != driver::kExitOk) return code;
  std::vector<Kernel> kernels;
  if (kernel_name.empty()) {
    kernels = AllKernels(bundle.get());
  } else {
    Kernel kernel;
    if (int code = FindKernel(bundle.get(), kernel_name, &kernel); code != driver::kExitOk) return code;
    kernels.push_back(std::move(kernel));
  }
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle.get(), &report, nullptr);
  for (const Kernel& kernel : kernels) {
    // Without --kernel the options are for all kernels: each takes those that name one of its parameters.
    ArgTexts own;
    auto mine = [&](const std::string& text) {
      return !kernel_name.empty() || kernel.Find(text.substr(0, text.find('='))) != nullptr;
    };
    for (const std::string& text : texts.args) {
      if (mine(text)) own.args.push_back(text);
    }
    for (const std::string& text : texts.shapes) {
      if (mine(text)) own.shapes.push_back(text);
    }
    std::map<std::string, ArgValue> values;
    std::map<std::string, std::vector<int64_t>> shapes;
    if (!ParseArguments(bundle.get(), kernel, own, &values, &shapes)) return driver::kExitUsage;
    std::vector<adrt_arg> arguments = ShapesAlone(kernel, values, shapes);
    for (uint32_t target = 0; target < report.target_count; ++target) {
      auto info = Sized<adrt_target_info>();
      adrt_bundle_target(bundle.get(), target, &info, nullptr);
      auto at_once = static_cast<uint32_t>(workers);
      if (workers == 0) at_once = std::string_view(info.kind) == "cpu" ? 1 : kDeviceThreads;
      int code = PrintKernel(kernel, arguments, info, target, at_once, budget);
      if (code != driver::kExitOk) return code;
    }
  }
  return driver::kExitOk;
}

}  // namespace adc::tool
