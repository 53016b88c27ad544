#pragma once
// Kernels compiled and run by the loader on a device of any kind, within a budget: what came out,
// what the launch took, and what the loader says where it does not fit.

#include <adrt/adrt.h>

#include <catch2/catch.hpp>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "bare_argument.h"
#include "compile.h"

namespace adc::test {

class WithinBudget {
 public:
  /// Makes the device; `host` is the bundle's.
  using Open = std::function<adrt_status(const adrt_host& host, adrt_device** device, adrt_error* error)>;

  WithinBudget(const std::string& path, const std::string& target, const Open& open, adrt_host host = {}) {
    driver::CompileOptions options;
    options.inputs = {path};
    options.targets = {target};
    // The forward run and its repetition round alike then, whatever a device's compiler makes of each.
    options.float_mode = driver::FloatMode::Strict;
    std::vector<uint8_t> bytes;
    REQUIRE(Compile(options, &bytes));
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    Check(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle_, Error()));
    Check(open(host, &device_, Error()));
    Check(adrt_module_load(device_, bundle_, &module_, Error()));
  }
  ~WithinBudget() {
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
  }
  WithinBudget(const WithinBudget&) = delete;
  WithinBudget& operator=(const WithinBudget&) = delete;

  /// Arguments by name, of whatever type the kernel has: a scalar takes one number, a buffer `size` of them,
  /// or holds zeros.
  struct Given {
    int64_t size = 0;
    std::map<std::string, std::vector<double>> numbers;
  };

  struct Outcome {
    adrt_status status = ADRT_OK;
    std::string text;
    uint64_t needed_bytes = 0;
    uint64_t heap_bytes = 0;
    std::vector<uint64_t> segments;  ///< by task
    std::map<std::string, std::vector<std::byte>> buffers;

    double Number(const std::string& name, size_t at) const {
      double number = 0;
      std::memcpy(&number, buffers.at(name).data() + at * sizeof number, sizeof number);
      return number;
    }
  };

  /// Runs a kernel, 0: without a budget. `workers` 0: as many as the device has.
  Outcome Run(const std::string& name, const Given& given, uint64_t budget, uint32_t workers = 0) {
    return Launch(name, given, budget, workers, How::Run);
  }
  /// What a plan without a device says, as `adc size` makes it.
  Outcome Size(const std::string& name, const Given& given, uint64_t budget, uint32_t workers) {
    return Launch(name, given, budget, workers, How::Size);
  }
  /// What a plan says that has read what decides, without running.
  Outcome Resolve(const std::string& name, const Given& given, uint64_t budget) {
    return Launch(name, given, budget, 0, How::Resolve);
  }

 private:
  enum class How { Size, Resolve, Run };

  Outcome Launch(const std::string& name, const Given& given, uint64_t budget, uint32_t workers, How how) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()));
    adrt_kernel_report about = {};
    about.struct_size = sizeof about;
    Check(adrt_kernel_info(kernel, &about, Error()));
    std::vector<adrt_arg> args;
    std::map<std::string, adrt_memory*> memory;
    std::vector<std::vector<std::byte>> contents(about.param_count);
    for (uint32_t n = 0; n < about.param_count; ++n) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      Check(adrt_kernel_param(kernel, n, &param, Error()));
      if (param.kind == ADRT_PARAM_SCRATCH || param.kind == ADRT_PARAM_SEGMENT) continue;
      adrt_arg arg = BareArgument(param, n);
      contents[n] = ContentOf(param, given);
      if (param.kind == ADRT_PARAM_SCALAR) {
        arg.data = contents[n].data();
      } else {
        arg.extents[0] = given.size;
        if (how != How::Size) {
          Check(adrt_memory_create(device_, contents[n].size(), &memory[param.name], Error()));
          Check(adrt_memory_write(memory[param.name], 0, contents[n].data(), contents[n].size(), Error()));
          arg.data = adrt_memory_data(memory[param.name]);
        }
      }
      args.push_back(arg);
    }
    Outcome outcome = Execute(kernel, args, budget, workers, how);
    for (uint32_t n = 0; n < about.param_count; ++n) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      Check(adrt_kernel_param(kernel, n, &param, Error()));
      auto own = memory.find(param.name);
      if (own == memory.end()) continue;
      if (outcome.status == ADRT_OK) {
        std::vector<std::byte>& bytes = outcome.buffers[param.name];
        bytes.resize(contents[n].size());
        Check(adrt_memory_read(own->second, 0, bytes.data(), bytes.size(), Error()));
      }
      adrt_memory_release(own->second);
    }
    return outcome;
  }

  static std::vector<std::byte> ContentOf(const adrt_param_report& param, const Given& given) {
    size_t size = adrt_type_size(param.type);
    size_t count = param.kind == ADRT_PARAM_SCALAR ? 1 : static_cast<size_t>(given.size);
    std::vector<std::byte> bytes(count * size);
    auto found = given.numbers.find(param.name);
    if (found == given.numbers.end()) return bytes;
    REQUIRE(found->second.size() == count);
    for (size_t k = 0; k < count; ++k) {
      double number = found->second[k];
      auto narrow = static_cast<float>(number);
      auto whole = static_cast<int32_t>(number);
      const void* from = &number;
      if (param.type == ADRT_TYPE_F32) from = &narrow;
      if (param.type == ADRT_TYPE_I32) from = &whole;
      REQUIRE((param.type == ADRT_TYPE_F32 || param.type == ADRT_TYPE_I32 || param.type == ADRT_TYPE_F64));
      std::memcpy(bytes.data() + k * size, from, size);
    }
    return bytes;
  }

  Outcome Execute(const adrt_kernel* kernel, const std::vector<adrt_arg>& args, uint64_t budget,
                  uint32_t workers, How how) {
    Outcome outcome;
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.args = args.data();
    desc.module = how == How::Size ? nullptr : module_;
    desc.workers = workers;
    desc.heap_budget = budget;
    adrt_launch_plan* plan = nullptr;
    outcome.status = adrt_plan(kernel, &desc, &plan, Error());
    if (outcome.status == ADRT_OK && how == How::Resolve)
      outcome.status = adrt_plan_resolve(plan, nullptr, 0, Error());
    if (outcome.status == ADRT_OK && how == How::Run) outcome.status = adrt_run(plan, nullptr, Error());
    outcome.text = error_.text;
    outcome.needed_bytes = error_.needed_bytes;
    if (outcome.status == ADRT_OK) {
      adrt_plan_report report = {};
      report.struct_size = sizeof report;
      Check(adrt_plan_info(plan, &report, Error()));
      outcome.heap_bytes = report.heap_bytes;
      for (uint32_t task = 0; task < report.task_count; ++task) {
        adrt_task_report own = {};
        own.struct_size = sizeof own;
        Check(adrt_plan_task(plan, task, &own, Error()));
        outcome.segments.push_back(own.segment);
      }
    }
    adrt_plan_release(plan);
    return outcome;
  }

  adrt_error* Error() {
    error_ = {};
    error_.struct_size = sizeof error_;
    return &error_;
  }
  void Check(adrt_status status) {
    INFO(adrt_status_text(status) << ": " << error_.text);
    REQUIRE(status == ADRT_OK);
  }

  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  adrt_error error_ = {};
};

}  // namespace adc::test
