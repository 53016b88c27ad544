#include "launch.h"

#include "command_line.h"
#include "driver/options.h"

namespace adc::tool {

int Machine::Open(Bundle& bundle, uint32_t workers) {
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_device_open_cpu(nullptr, workers, device_.Out(), &error);
  if (status != ADRT_OK) return ReportFailure("the CPU", status, error);
  status = adrt_module_load(device_.get(), bundle.get(), module_.Out(), &error);
  return status == ADRT_OK ? driver::kExitOk : ReportFailure("loading the code", status, error);
}

int Machine::Launch(const Kernel& kernel, std::map<std::string, ArgValue>& values,
                    const LaunchOptions& options, adrt_plan_report* report) {
  std::vector<adrt_arg> arguments;
  for (const Param& param : kernel.params) {
    auto value = values.find(param.name);
    if (param.IsGiven() && value != values.end()) arguments.push_back(ToArgument(param, value->second));
  }
  auto desc = Sized<adrt_plan_desc>();
  desc.arg_count = static_cast<uint32_t>(arguments.size());
  desc.args = arguments.data();
  desc.module = module_.get();
  desc.workers = options.workers;
  desc.heap_budget = options.heap_budget;
  auto error = Sized<adrt_error>();
  LaunchPlan plan;
  std::string name = "kernel '" + std::string(kernel.report.name) + "'";
  adrt_status status = adrt_plan(kernel.handle, &desc, plan.Out(), &error);
  if (status == ADRT_OK && options.adstack_cap != 0) {
    status = adrt_plan_with_cap(plan.get(), options.adstack_cap, &error);
  }
  if (status == ADRT_OK) status = adrt_run(plan.get(), nullptr, &error);
  if (status != ADRT_OK) return ReportFailure(name, status, error);
  if (report != nullptr) {
    *report = Sized<adrt_plan_report>();
    adrt_plan_info(plan.get(), report, nullptr);
  }
  return driver::kExitOk;
}

bool FillCompanions(const Kernel& kernel, std::map<std::string, ArgValue>* values) {
  std::string missing;
  for (const Param& param : kernel.params) {
    if (!param.IsGiven() || values->contains(param.name)) continue;
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
  if (missing.empty()) return true;
  PrintError("kernel '" + std::string(kernel.report.name) + "': no value for " + missing,
             "give --arg NAME=VALUE, for instance --arg n=64, --arg x=@x.npy, --arg y=zeros[4,5]");
  return false;
}

}  // namespace adc::tool
