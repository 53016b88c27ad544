#include "launch_sizes.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "compile_source.h"
#include "driver/options.h"
#include "host/exit_code.h"

namespace adc::tool {

namespace {

constexpr uint32_t kDeviceThreads = 65536;

/// Arguments for a plan without a device: shapes and numbers, and the contents of a buffer where --arg gives
/// them, in host memory.
std::vector<adrt_arg> SizeArguments(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                                    const std::map<std::string, std::vector<int64_t>>& shapes) {
  std::vector<adrt_arg> arguments;
  for (const Param& param : kernel.params) {
    if (!param.IsGiven()) continue;
    auto value = values.find(param.name);
    ArgValue none;
    ArgValue& memory = param.IsScalar() || value != values.end() ? values[param.name] : none;
    if (param.IsScalar() && value == values.end()) memory = ZeroValue(param, {});
    adrt_arg argument = ToArgument(param, memory);
    if (param.IsBuffer()) {
      // A companion has its primal's shape unless its own is given; an axis without a given extent is empty.
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
    if (!param.IsScalar() && value == values.end()) argument.data = nullptr;
    if (param.IsLayout()) argument.size = param.layout_bytes;
    arguments.push_back(argument);
  }
  return arguments;
}

/// Calls `take` with every expression that the sizes of a kernel's launch follow from.
template <typename Take>
void ForEachSize(const artifact::KernelMeta& kernel, const Take& take) {
  for (const artifact::ParamMeta& param : kernel.params) {
    for (artifact::NodeId extent : param.extents) take(extent);
  }
  for (const artifact::TaskMeta& task : kernel.tasks) {
    for (artifact::NodeId extent : task.extents) take(extent);
    for (const artifact::AdstackPlanMeta& plan : task.plans) {
      for (const artifact::StackMeta& stack : plan.stacks) take(stack.capacity);
    }
  }
}

/// Options that sizes depend on and that were not given: "--shape x=N,M", "--arg n=VALUE".
std::vector<std::string> Missing(const Kernel& kernel, const artifact::KernelMeta& meta,
                                 const std::map<std::string, ArgValue>& values,
                                 const std::map<std::string, std::vector<int64_t>>& shapes) {
  constexpr const char* kAxes = "N,M,K,L,I,J,P,Q";
  std::vector<std::string> missing;
  for (uint32_t number = 0; number < kernel.params.size(); ++number) {
    const Param& param = kernel.params[number];
    if (!param.IsGiven() || values.count(param.name) != 0) continue;
    bool companion = param.report.primal < kernel.params.size();
    bool shaped = shapes.count(param.name) != 0 ||
                  (companion && shapes.count(kernel.params[param.report.primal].name) != 0);
    if (shaped || (param.IsBuffer() && param.report.rank == 0)) continue;
    bool read = false;
    ForEachSize(meta, [&](artifact::NodeId size) {
      read = read || (size != artifact::kNoNode && meta.exprs.DependsOn(size, number));
    });
    if (!read || param.IsLayout()) continue;
    missing.push_back(param.IsScalar() ? "--arg " + param.name + "=VALUE"
                                       : "--shape " + param.name + "=" +
                                             std::string(kAxes, std::max(1u, 2 * param.report.rank) - 1));
  }
  return missing;
}

/// "0.008" or "grid.ir:194:5=0.008". Returns the error, or an empty text.
std::string TakePass(std::string_view text, std::vector<PassShare>* shares) {
  size_t equals = text.rfind('=');
  PassShare pass;
  if (equals != std::string_view::npos) pass.gate = text.substr(0, equals);
  std::string number(text.substr(equals == std::string_view::npos ? 0 : equals + 1));
  char* end = nullptr;
  pass.share = std::strtod(number.c_str(), &end);
  bool good = !number.empty() && *end == 0 && pass.share >= 0 && pass.share <= 1;
  if (!good || equals == 0)
    return "expects a share from 0 to 1, as in 0.01, or PLACE=SHARE with a gate's place";
  shares->push_back(pass);
  return {};
}

/// Whether `gate`, a place, ends with the words of `end`.
bool EndsWithPlace(std::string_view gate, std::string_view end) {
  if (!gate.ends_with(end)) return false;
  size_t before = gate.size() - end.size();
  return before == 0 || gate[before - 1] == ':' || gate[before - 1] == '/';
}

}  // namespace

void SizeRequest::AddTo(CommandLine& line) {
  line.Text("--kernel", "NAME", "this kernel only; default: all", &kernel);
  line.List("--shape", "NAME=N,M", "extents of a buffer", &texts.shapes);
  line.List(
      "--arg", "NAME=VALUE",
      "value of a scalar; contents of a buffer, as for adc run: what depends on them is sized where all of\n"
      "those that it depends on are given",
      &texts.args);
  line.Number("--threads", "N",
              "CPU: workers at once, default 1; other devices: threads at once, default 65536,\n"
              "which is about what a large GPU runs",
              &workers, 1u << 20);
  line.Number("--budget", "BYTES",
              "what a launch with this heap budget takes: fewer rows, and checkpoints where the kernel\n"
              "was compiled with --checkpoint=auto",
              &budget, UINT64_MAX);
  line.Value("--pass", "[PLACE=]SHARE",
             "devices: which share of the iterations passes the gates, 0 to 1, of all gates or of the one\n"
             "whose place ends so (194:5). Default: rows for all, which is what a launch takes that does\n"
             "not count. May be given several times, the last that fits counts",
             [this](std::string_view text) { return TakePass(text, &passes); });
  line.Value(
      "--checkpoint", "N|auto",
      "of a source: loops of gradients keep checkpoints, as for adc. With auto a budget says how many\n"
      "iterations lie between them",
      [this](std::string_view word) { return TakeCheckpoint(word, &checkpoint); });
  line.WantsSource("--checkpoint", "a bundle has what it was compiled with: adc --checkpoint=WHAT kernel.ir");
  source.AddTo(line);
}

std::string LaunchSizes::MissingText() const {
  std::string text;
  for (const std::string& option : missing_) text += (text.empty() ? "" : " ") + option;
  return text;
}

bool LaunchSizes::IsConstant() const {
  bool constant = std::all_of(meta_.params.begin(), meta_.params.end(),
                              [](const artifact::ParamMeta& param) { return param.extents.empty(); });
  for (uint32_t task = 0; task < total_.task_count; ++task)
    constant = constant && Stacks(task).stacks.empty();
  return constant;
}

uint64_t LaunchSizes::ArgumentBytes() const {
  uint64_t largest = 0;
  for (uint32_t task = 0; task < total_.task_count; ++task)
    largest = std::max<uint64_t>(largest, Task(task).heap_bytes);
  uint64_t known = total_.scratch_bytes + largest;
  return total_.heap_bytes > known ? total_.heap_bytes - known : 0;
}

adrt_task_report LaunchSizes::Task(uint32_t task) const {
  auto report = Sized<adrt_task_report>();
  adrt_plan_task(plan_.get(), task, &report, nullptr);
  return report;
}

adrt_group_report LaunchSizes::Group(uint32_t task, uint32_t group) const {
  auto report = Sized<adrt_group_report>();
  adrt_plan_group(plan_.get(), task, group, &report, nullptr);
  return report;
}

adrt_stack_report LaunchSizes::Stack(uint32_t task, uint32_t stack) const {
  auto report = Sized<adrt_stack_report>();
  adrt_plan_stack(plan_.get(), task, stack, &report, nullptr);
  return report;
}

const artifact::AdstackPlanMeta& LaunchSizes::Stacks(uint32_t task) const {
  static const artifact::AdstackPlanMeta kNone;
  const artifact::TaskMeta& meta = meta_.tasks[task];
  for (const artifact::EntryMeta& entry : meta.entries) {
    if (entry.target == target_index_ && entry.plan < meta.plans.size()) return meta.plans[entry.plan];
  }
  return kNone;
}

bool LaunchSizes::HasContents() const {
  bool any = false;
  for (const artifact::TaskMeta& task : meta_.tasks) {
    for (uint32_t param : task.size_reads) {
      any = true;
      if (!kernel_.params[param].IsBuffer()) return false;
      for (const adrt_arg& argument : arguments_) {
        if (kernel_.params[param].name == argument.name && argument.data == nullptr) return false;
      }
    }
  }
  return any;
}

adrt_status LaunchSizes::TakeContents(adrt_error* error) {
  if (IsCpu()) return adrt_plan_resolve(plan_.get(), nullptr, 0, error);
  std::vector<uint8_t> readback;
  auto piece = Sized<adrt_readback_report>();
  for (uint32_t index = 0; adrt_plan_readback(plan_.get(), index, &piece, nullptr) == ADRT_OK; ++index) {
    // The counts, which come last, are left out: no kernel that counts runs here.
    if (piece.count == 0 || piece.param == ADRT_READBACK_COUNTS) break;
    readback.resize(piece.offset);
    for (const adrt_arg& argument : arguments_) {
      if (std::string_view(piece.name) != argument.name) continue;
      const auto* bytes = static_cast<const uint8_t*>(argument.data);
      readback.insert(readback.end(), bytes, bytes + piece.bytes);
    }
    readback.resize((readback.size() + 15) / 16 * 16);
  }
  return adrt_plan_resolve(plan_.get(), readback.data(), readback.size(), error);
}

bool LaunchSizes::Spend(artifact::Steps* steps) {
  auto report = Sized<adrt_plan_report>();
  adrt_plan_info(plan_.get(), &report, nullptr);
  return steps->Spend(report.steps);
}

adrt_status LaunchSizes::Assume(uint32_t task, uint32_t number, std::vector<bool>* used_passes,
                                artifact::Steps* steps, adrt_error* error) {
  adrt_status status = ADRT_OK;
  uint64_t all = Task(task).iterations;
  adrt_group_report group = Group(task, number);
  for (size_t pass = 0; pass < request_.passes.size() && status == ADRT_OK; ++pass) {
    const PassShare& share = request_.passes[pass];
    bool meant = group.gate[0] != 0 && (share.gate.empty() || EndsWithPlace(group.gate, share.gate));
    if (!meant) continue;
    (*used_passes)[pass] = true;
    double iterations = std::ceil(static_cast<double>(all) * share.share);
    status = adrt_plan_assume(plan_.get(), task, number, static_cast<uint64_t>(iterations), error);
    if (status == ADRT_OK && !Spend(steps)) return ADRT_ERROR_OVER_LIMIT;
  }
  return status;
}

int LaunchSizes::Plan(uint32_t target, std::vector<bool>* used_passes, artifact::Steps* steps) {
  target_index_ = target;
  auto desc = Sized<adrt_plan_desc>();
  std::vector<adrt_arg> arguments = arguments_;
  for (adrt_arg& argument : arguments) {
    // The arguments of a device point to memory of the device.
    if (argument.kind != ADRT_PARAM_SCALAR && !IsCpu()) argument.data = nullptr;
  }
  desc.args = arguments.data();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.target = target;
  desc.workers = static_cast<uint32_t>(request_.workers);
  if (desc.workers == 0) desc.workers = IsCpu() ? 1 : kDeviceThreads;
  desc.heap_budget = request_.budget;
  desc.size_budget = std::max<uint64_t>(steps->left(), 1);  // 0 would be the default
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_plan(kernel_.handle, &desc, plan_.Out(), &error);
  if (status == ADRT_OK && !Spend(steps)) status = ADRT_ERROR_OVER_LIMIT;
  if (status == ADRT_OK && HasContents()) {
    status = TakeContents(&error);
    if (status == ADRT_OK && !Spend(steps)) status = ADRT_ERROR_OVER_LIMIT;
  }
  if (status == ADRT_OK) adrt_plan_info(plan_.get(), &total_, nullptr);
  for (uint32_t task = 0; status == ADRT_OK && task < total_.task_count; ++task) {
    uint32_t groups = Task(task).group_count;
    for (uint32_t number = 0; status == ADRT_OK && number < groups; ++number)
      status = Assume(task, number, used_passes, steps, &error);
  }
  // Where this kernel alone is over all that a command has, the loader says so.
  bool is_shared = steps->exceeded() || desc.size_budget < steps->limit();
  if (status == ADRT_ERROR_OVER_LIMIT && is_shared) {
    PrintError("kernel '" + std::string(kernel_.report.name) +
                   "': with it the sizes of this bundle take more than " + std::to_string(steps->limit()) +
                   " steps to compute, which is what one command may take",
               "--kernel=NAME computes those of one kernel");
    return kExitBadBundle;
  }
  if (status != ADRT_OK)
    return ReportFailure("kernel '" + std::string(kernel_.report.name) + "'", status, error);
  adrt_plan_info(plan_.get(), &total_, nullptr);
  return kExitOk;
}

int AllSizes::Plan(const Bundle& bundle, const SizeRequest& request) {
  if (request.kernel.empty()) {
    kernels_ = AllKernels(bundle.get());
    // A kernel that counts for another kernel's launch is launched with it, and its counts are reported
    // there.
    std::erase_if(kernels_, [](const Kernel& kernel) {
      std::string_view role = kernel.report.role;
      return role == "size" || role == "bounds";
    });
  } else {
    Kernel kernel;
    if (int code = FindKernel(bundle.get(), request.kernel, &kernel); code != kExitOk) return code;
    kernels_.push_back(std::move(kernel));
  }
  auto report = Sized<adrt_bundle_report>();
  adrt_bundle_info(bundle.get(), &report, nullptr);
  metadata_ = MetadataOf(bundle.get());
  if (!metadata_) return kExitBadBundle;
  std::vector<bool> used_passes(request.passes.size(), false);
  // Without --kernel the options are for all kernels: each takes the options that name one of its parameters.
  for (const std::vector<std::string>* list : {&request.texts.args, &request.texts.shapes}) {
    for (const std::string& text : *list) {
      std::string name = text.substr(0, text.find('='));
      bool known = !request.kernel.empty();
      for (const Kernel& kernel : kernels_) known = known || kernel.Find(name) != nullptr;
      if (known) continue;
      PrintError("no kernel of the bundle has a parameter '" + name + "'",
                 "adc inspect lists kernels and their parameters");
      return kExitUsage;
    }
  }
  for (const Kernel& kernel : kernels_) {
    ArgTexts own;
    own.shapes_alone = true;
    auto mine = [&](const std::string& text) {
      return !request.kernel.empty() || kernel.Find(text.substr(0, text.find('='))) != nullptr;
    };
    for (const std::string& text : request.texts.args) {
      if (mine(text)) own.args.push_back(text);
    }
    for (const std::string& text : request.texts.shapes) {
      if (mine(text)) own.shapes.push_back(text);
    }
    Arguments& arguments = arguments_.emplace_back();
    std::map<std::string, std::vector<int64_t>> shapes;
    if (!ParseArguments(bundle.get(), kernel, own, &arguments.values, &shapes)) return kExitUsage;
    const artifact::KernelMeta& meta = metadata_->kernels[kernel.report.index];
    arguments.missing = Missing(kernel, meta, arguments.values, shapes);
    arguments.list = SizeArguments(kernel, arguments.values, shapes);
    if (!SpendFormulas(meta, std::max(report.target_count, 1u), &formula_steps_)) return kExitBadBundle;
    for (uint32_t target = 0; target < report.target_count; ++target) {
      auto info = Sized<adrt_target_info>();
      adrt_bundle_target(bundle.get(), target, &info, nullptr);
      LaunchSizes& sizes =
          launches_.emplace_back(kernel, meta, arguments.list, arguments.missing, info, request);
      if (int code = sizes.Plan(target, &used_passes, &steps_); code != kExitOk) return code;
    }
  }
  for (size_t pass = 0; pass < used_passes.size(); ++pass) {
    if (used_passes[pass]) continue;
    std::string gate = request.passes[pass].gate;
    PrintError(gate.empty() ? "--pass: no stack lies behind a gate" : "--pass: no gate at '" + gate + "'",
               "adc size and adc inspect print the places of gates");
    return kExitUsage;
  }
  return kExitOk;
}

}  // namespace adc::tool
