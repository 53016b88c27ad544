#include "launch.h"

#include "command_line.h"
#include "heap_trace.h"
#include "host/crash.h"
#include "host/exit_code.h"
#include "host/machine.h"
#include "support/printable.h"

namespace adc::tool {
namespace {

/// Buffers in which `kernel` saves values for its gradient and for which there is no memory yet.
std::vector<const Param*> UnfilledSaves(const Kernel& kernel, const std::map<std::string, ArgValue>& values) {
  std::vector<const Param*> saves;
  for (const Param& param : kernel.params) {
    bool saved = param.IsSaved() && param.report.access != ADRT_ACCESS_READ;
    if (saved && !values.contains(param.name)) saves.push_back(&param);
  }
  return saves;
}

uint32_t IndexOf(const Kernel& kernel, const Param& param) {
  return static_cast<uint32_t>(&param - kernel.params.data());
}

}  // namespace

int Arguments::Write(const OpenedDevice& device, const Kernel& kernel,
                     std::map<std::string, ArgValue>& values) {
  list_.clear();
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (!param.IsGiven() || value == values.end()) continue;
    adrt_arg& argument = list_.emplace_back(ToArgument(param, value->second));
    if (param.IsScalar() || device.IsCpu()) continue;
    auto error = Sized<adrt_error>();
    const std::vector<uint8_t>& bytes = value->second.bytes;
    Memory& memory = memory_[param.name];
    adrt_status status = ADRT_OK;
    if (!memory || adrt_memory_bytes(memory.get()) != bytes.size()) {
      memory = Memory();
      status = adrt_memory_create(device.get(), bytes.size(), memory.Out(), &error);
    }
    if (status == ADRT_OK) status = adrt_memory_write(memory.get(), 0, bytes.data(), bytes.size(), &error);
    if (status != ADRT_OK) return ReportFailure("memory of '" + param.name + "'", status, error);
    argument.data = adrt_memory_data(memory.get());
  }
  return kExitOk;
}

int Arguments::Read(const Kernel& kernel, std::map<std::string, ArgValue>& values) {
  for (const Param& param : kernel.params) {
    auto memory = memory_.find(param.name);
    auto value = values.find(param.name);
    if (memory == memory_.end() || value == values.end() || param.report.access == ADRT_ACCESS_READ) continue;
    std::vector<uint8_t>& bytes = value->second.bytes;
    auto error = Sized<adrt_error>();
    adrt_status status = adrt_memory_read(memory->second.get(), 0, bytes.data(), bytes.size(), &error);
    if (status != ADRT_OK) return ReportFailure("memory of '" + param.name + "'", status, error);
  }
  return kExitOk;
}

int Machine::Open(const DeviceChoice& choice, uint32_t workers) {
  name_ = choice.Name();
  if (choice.validate && choice.kind != "vulkan") {
    PrintError("--validate with device " + name_ + ": the validation layer is Vulkan's",
               "add --device=vulkan");
    return kExitUsage;
  }
  DeviceChoice traced = choice;
  if (int code = ReadTraces(&traced.traces_heap); code != kExitOk) return code;
  auto error = Sized<adrt_error>();
  adrt_status status = session_->OpenDevice(traced, workers, &device_, &error);
  if (status == ADRT_OK) {
    earlier_faults_ = device_->Faults();
    return kExitOk;
  }
  int code = ReportFailure("device " + name_, status, error);
  // A device that this machine does not have is not supported here.
  return status == ADRT_ERROR_NOT_FOUND ? kExitUnsupported : code;
}

int Machine::OpenBundle(const std::string& path, const OpenOptions& options, Bundle* bundle) {
  std::vector<uint8_t> bytes;
  if (int code = ReadBundle(path, options, &bytes); code != kExitOk) return code;
  auto error = Sized<adrt_error>();
  Trust trust = TrustFor(path, options);
  adrt_status status = session_->OpenBundle(std::move(bytes), trust, bundle, &error);
  if (status != ADRT_OK) return ReportFailure("'" + path + "'", status, error);
  return MayRun(path, bundle->get(), trust) ? kExitOk : kExitBadBundle;
}

int Machine::Load(Bundle& bundle) {
  auto error = Sized<adrt_error>();
  adrt_status status = session_->LoadModule(*device_, bundle, &module_, &error);
  return status == ADRT_OK ? kExitOk : ReportFailure("loading the code on " + name_, status, error);
}

adrt_status RunPlan(adrt_launch_plan* plan, const adrt_run_desc* desc, adrt_error* error) {
  KernelScope scope;
  return adrt_run(plan, desc, error);
}

int Machine::Plan(const Kernel& kernel, const std::vector<adrt_arg>& arguments, const LaunchOptions& options,
                  LaunchPlan* plan, const RecordFile* record) const {
  auto desc = Sized<adrt_plan_desc>();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.args = arguments.data();
  desc.module = module_.get();
  desc.workers = options.workers;
  // A heap that no memory of this machine can hold is refused before it is asked for.
  bool is_open = options.heap_budget == 0 && device_->IsCpu();
  desc.heap_budget = is_open ? MemoryBytes() : options.heap_budget;
  desc.size_threshold = options.size_threshold;
  if (record != nullptr) {
    desc.bounds_record = record->data();
    desc.bounds_record_size = record->size();
  }
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_plan(kernel.handle, &desc, plan->Out(), &error);
  if (status == ADRT_OK && options.adstack_cap != 0) {
    status = adrt_plan_with_cap(plan->get(), options.adstack_cap, &error);
    // How often something runs is read first, which is no question of memory.
    if (status == ADRT_ERROR_NEEDS_DEVICE_DATA && device_->IsCpu()) {
      status = adrt_plan_resolve(plan->get(), nullptr, 0, &error);
      if (status == ADRT_OK) status = adrt_plan_with_cap(plan->get(), options.adstack_cap, &error);
    }
    if (status == ADRT_ERROR_NEEDS_DEVICE_DATA) {
      PrintError("kernel '" + std::string(kernel.report.name) +
                     "' has a number of iterations that depends on contents of buffers, which --adstack-cap "
                     "does not replace on " +
                     name_,
                 "remove --adstack-cap: the launch reads what it needs");
      return kExitUsage;
    }
  }
  if (status == ADRT_OK) return kExitOk;
  return ReportFailure("kernel '" + std::string(kernel.report.name) + "'", status, error);
}

namespace {

void DescribeRows(const adrt_launch_plan* plan, LaunchReport* report) {
  for (uint32_t task = 0; task < report->plan.task_count; ++task) {
    auto own = Sized<adrt_task_report>();
    adrt_plan_task(plan, task, &own, nullptr);
    auto group = Sized<adrt_group_report>();
    for (uint32_t n = 0; adrt_plan_group(plan, task, n, &group, nullptr) == ADRT_OK; ++n) {
      if (!group.counted) continue;
      report->rows.push_back("task " + std::to_string(task) + ": " + std::to_string(group.iterations) +
                             " iterations pass the gate at " + Printable(group.gate) + ", " +
                             std::to_string(group.rows) + " rows of " + std::to_string(group.row_bytes) +
                             " bytes, " + std::to_string(own.threads) + " threads");
    }
  }
}

}  // namespace

int Machine::Launch(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                    const LaunchOptions& options, LaunchReport* report) {
  RecordFile record(options.bounds_record);
  bool records = !options.bounds_record.empty();
  LaunchPlan plan;
  if (int code = FillSaved(kernel, values, options); code != kExitOk) return code;
  if (int code = arguments_.Write(*device_, kernel, values); code != kExitOk) return code;
  if (int code = records ? record.Open(*device_, kernel) : kExitOk; code != kExitOk) return code;
  if (int code = Plan(kernel, arguments_.list(), options, &plan, records ? &record : nullptr);
      code != kExitOk) {
    return code;
  }
  auto error = Sized<adrt_error>();
  adrt_status status = RunPlan(plan.get(), nullptr, &error);
  bool left =
      options.may_leave && (status == ADRT_ERROR_INDEX_OUT_OF_BOUNDS || status == ADRT_ERROR_WRITE_PROMISE);
  if (status != ADRT_OK && !left) {
    if (options.ran && arguments_.Read(kernel, values) == kExitOk) options.ran();
    return ReportFailure("kernel '" + std::string(kernel.report.name) + "'", status, error);
  }
  if (report != nullptr) {
    *report = {Sized<adrt_plan_report>(), left, {}};
    adrt_plan_info(plan.get(), &report->plan, nullptr);
    DescribeRows(plan.get(), report);
  }
  if (int code = records ? record.Close() : kExitOk; code != kExitOk) return code;
  int code = arguments_.Read(kernel, values);
  if (code == kExitOk && options.ran) options.ran();
  return code;
}

int Machine::Finish(int code) const {
  uint32_t faults = device_->Faults() - earlier_faults_;
  if (code != kExitOk || faults == 0) return code;
  PrintError("the validation layer found " + std::to_string(faults) + " faults");
  return kExitRunTime;
}

int Machine::FillSaved(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                       const LaunchOptions& options) {
  std::vector<const Param*> saved = UnfilledSaves(kernel, values);
  std::string name = "kernel '" + std::string(kernel.report.name) + "'";
  for (const Param* param : saved) values.emplace(param->name, ZeroValue(*param, {0}));
  // A launch is refused before anything runs where it counts more values than there is memory for; one whose
  // tasks are sized at their turn runs up to the task. So it runs on a copy, with more memory each time.
  for (bool known = saved.empty(); !known;) {
    std::map<std::string, ArgValue> copy = values;
    LaunchPlan plan;
    if (int code = arguments_.Write(*device_, kernel, copy); code != kExitOk) return code;
    if (int code = Plan(kernel, arguments_.list(), options, &plan); code != kExitOk) return code;
    auto error = Sized<adrt_error>();
    adrt_status status = RunPlan(plan.get(), nullptr, &error);
    bool grown = false;
    known = true;
    for (const Param* param : saved) {
      uint64_t elements = 0;
      known = adrt_plan_saved(plan.get(), IndexOf(kernel, *param), &elements, nullptr) == ADRT_OK && known;
      if (elements <= static_cast<uint64_t>(values[param->name].extents[0])) continue;
      values[param->name] = ZeroValue(*param, {static_cast<int64_t>(elements)});
      grown = true;
    }
    if (known || grown) continue;
    if (status != ADRT_OK && status != ADRT_ERROR_ADSTACK_OVERFLOW) return ReportFailure(name, status, error);
    const std::string& first = saved[0]->name;
    PrintError(name + ": how many values '" + first + "' takes is known only when it runs",
               "give --arg " + first + "=zeros[N]: a launch for which N is too small says so");
    return kExitUsage;
  }
  return kExitOk;
}

void FillShapes(const Kernel& kernel, const std::map<std::string, std::vector<int64_t>>& shapes,
                std::map<std::string, ArgValue>* values) {
  for (const Param& param : kernel.params) {
    auto shape = shapes.find(param.name);
    if (param.IsBuffer() && shape != shapes.end() && !values->contains(param.name)) {
      values->emplace(param.name, ZeroValue(param, shape->second));
    }
  }
}

namespace {

/// Zeroed memory for the values that `kernel` saves for its gradient and for which there is none yet; all
/// other parameters have values. Values whose number only data says are left out: Machine::FillSaved. False
/// after an error was printed.
bool FillSaved(const Kernel& kernel, std::map<std::string, ArgValue>* values) {
  std::vector<const Param*> saved = UnfilledSaves(kernel, *values);
  if (saved.empty()) return true;
  for (const Param* param : saved) values->emplace(param->name, ZeroValue(*param, {0}));
  std::vector<adrt_arg> arguments;
  for (const Param& param : kernel.params) {
    if (param.IsGiven()) arguments.push_back(ToArgument(param, values->at(param.name)));
  }
  auto desc = Sized<adrt_plan_desc>();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.args = arguments.data();
  LaunchPlan plan;
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_plan(kernel.handle, &desc, plan.Out(), &error);
  for (const Param* param : saved) {
    uint64_t elements = 0;
    if (status == ADRT_OK) status = adrt_plan_saved(plan.get(), IndexOf(kernel, *param), &elements, &error);
    if (status != ADRT_OK && status != ADRT_ERROR_NEEDS_DEVICE_DATA) {
      ReportFailure("kernel '" + std::string(kernel.report.name) + "'", status, error);
      return false;
    }
    values->erase(param->name);
    if (status == ADRT_OK) values->emplace(param->name, ZeroValue(*param, {static_cast<int64_t>(elements)}));
    status = ADRT_OK;
  }
  return true;
}

}  // namespace

bool FillCompanions(const Kernel& kernel, std::map<std::string, ArgValue>* values) {
  std::string missing;
  for (const Param& param : kernel.params) {
    if (!param.IsGiven() || values->contains(param.name)) continue;
    if (param.takes_prints) {
      values->emplace(param.name, ZeroValue(param, {0}));  // nothing is recorded
      continue;
    }
    // Saved values begin as zeros. A gradient only reads them.
    if (param.IsSaved() && param.report.access != ADRT_ACCESS_READ) continue;
    bool companion = param.report.primal < kernel.params.size();
    auto primal = companion ? values->find(kernel.params[param.report.primal].name) : values->end();
    if (companion && primal != values->end()) {
      // The companion of a scalar is a buffer of rank 0; every other one has its primal's shape.
      bool same_rank = param.report.rank == primal->second.extents.size();
      values->emplace(param.name, ZeroValue(param, same_rank ? primal->second.extents
                                                             : std::vector<int64_t>(param.report.rank)));
    } else if (!companion && (param.IsLayout() || (param.IsBuffer() && param.report.rank == 0))) {
      values->emplace(param.name, ZeroValue(param, {}));
    } else {
      missing += (missing.empty() ? "" : ", ") + param.name;
    }
  }
  if (missing.empty()) return FillSaved(kernel, values);
  PrintError("kernel '" + std::string(kernel.report.name) + "': no value for " + missing,
             "give --arg NAME=VALUE, for instance --arg n=64, --arg x=@x.npy, --arg y=zeros[4,5]");
  return false;
}

}  // namespace adc::tool
