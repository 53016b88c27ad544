#pragma once
// The needs of launches of a bundle's kernels, from the bundle alone: no device, no code run. `adc size`
// prints it, `adc report` draws it.

#include <adrt/adrt.h>

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "artifact/budget.h"
#include "artifact/metadata.h"
#include "bundle_file.h"
#include "command_line.h"
#include "loader.h"
#include "values.h"

namespace adc::tool {

/// Which share of a group's iterations passes its gate.
struct PassShare {
  std::string gate;  ///< the end of its place ("grid.ir:194:5", "194:5"); empty: of every group
  double share = 1;
};

/// The options of the command line about the launches.
struct SizeRequest {
  std::string kernel;  ///< empty: all
  ArgTexts texts;
  uint64_t workers = 0;  ///< 0: 1 on a CPU, 65,536 on a device
  uint64_t budget = 0;
  std::vector<PassShare> passes;
  SourceOptions source;
  uint32_t checkpoint = 0;  ///< of a source: as driver::CompileOptions has it

  /// --kernel, --shape, --arg, --threads, --budget, --pass, --checkpoint, -I, -D.
  void AddTo(CommandLine& line);
};

/// A launch of one kernel on one target.
class LaunchSizes {
 public:
  /// Everything but `target` stays where it is as long as this lives. `missing`: options on which the sizes
  /// depend and that were not given.
  LaunchSizes(const Kernel& kernel, const artifact::KernelMeta& meta, const std::vector<adrt_arg>& arguments,
              const std::vector<std::string>& missing, const adrt_target_info& target,
              const SizeRequest& request)
      : kernel_(kernel),
        meta_(meta),
        arguments_(arguments),
        missing_(missing),
        target_(target),
        request_(request) {}

  /// Makes the plan that is reported; says in `used_passes` which of the request's shares had a gate. Takes
  /// its steps from the command's. An exit code.
  int Plan(uint32_t target, std::vector<bool>* used_passes, artifact::Steps* steps);

  const Kernel& kernel() const { return kernel_; }
  const artifact::KernelMeta& meta() const { return meta_; }
  /// Shapes and numbers of the command line; missing ones are empty or 0.
  const std::vector<adrt_arg>& arguments() const { return arguments_; }
  const adrt_target_info& target() const { return target_; }
  /// Options on which the sizes depend and that were not given, "--shape x=N": the reports count their values
  /// as 0.
  const std::vector<std::string>& missing() const { return missing_; }
  /// Those, as words of a command line: "--shape x=N --arg n=VALUE".
  std::string MissingText() const;
  /// Whether the bytes of the reports are those of the launch: nothing is missing, or they are the same for
  /// any arguments.
  bool IsKnown() const { return missing_.empty() || IsConstant(); }
  const adrt_plan_report& total() const { return total_; }
  /// The bytes of a heap beside scratch and the rows of its largest task: on some devices the launch's
  /// arguments.
  uint64_t ArgumentBytes() const;
  bool IsCpu() const { return std::string_view(target_.kind) == "cpu"; }
  adrt_task_report Task(uint32_t task) const;
  /// Whether the launch may do so without a budget, which depends on the device's cache.
  bool MayKeepCheckpoints(uint32_t task) const {
    return !IsCpu() && request_.budget == 0 && meta_.tasks[task].cheap_replay && Task(task).heap_bytes > 0;
  }
  adrt_group_report Group(uint32_t task, uint32_t group) const;
  adrt_stack_report Stack(uint32_t task, uint32_t stack) const;
  /// Stacks of a task on this target, in the order of Stack; empty where it has none.
  const artifact::AdstackPlanMeta& Stacks(uint32_t task) const;

 private:
  /// Whether a launch takes the same bytes for any arguments: no task has stacks, and nothing is scratch.
  bool IsConstant() const;
  /// Whether the contents of every buffer that sizes depend on are given.
  bool HasContents() const;
  /// Settles what they decide.
  adrt_status TakeContents(adrt_error* error);
  /// Takes the steps of the plan's last call. False where the command has none left.
  bool Spend(artifact::Steps* steps);
  adrt_status Assume(uint32_t task, uint32_t group, std::vector<bool>* used_passes, artifact::Steps* steps,
                     adrt_error* error);

  const Kernel& kernel_;
  const artifact::KernelMeta& meta_;
  const std::vector<adrt_arg>& arguments_;
  const std::vector<std::string>& missing_;
  adrt_target_info target_;
  const SizeRequest& request_;
  uint32_t target_index_ = 0;
  LaunchPlan plan_;
  adrt_plan_report total_ = Sized<adrt_plan_report>();
};

/// Those of a bundle, kernel by kernel, target by target.
class AllSizes {
 public:
  /// An exit code, after what is wrong was printed. Bundle and request stay where they are as long as this
  /// lives.
  int Plan(const Bundle& bundle, const SizeRequest& request);
  const std::deque<LaunchSizes>& launches() const { return launches_; }

 private:
  struct Arguments {
    std::map<std::string, ArgValue> values;
    std::vector<adrt_arg> list;
    std::vector<std::string> missing;
  };
  /// Of all plans together: a bundle with many kernels takes no longer than one with a large one.
  artifact::Steps steps_{artifact::kPlanSteps};
  artifact::Steps formula_steps_{kFormulaSteps};
  std::optional<artifact::Metadata> metadata_;
  std::vector<Kernel> kernels_;
  std::deque<Arguments> arguments_;
  std::deque<LaunchSizes> launches_;
};

}  // namespace adc::tool
