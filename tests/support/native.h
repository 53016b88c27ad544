#pragma once
// Kernels compiled and run by the loader, with the interpreter's arguments: what runs on one runs
// on the other.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "bare_argument.h"
#include "compile.h"
#include "interp/arguments.h"

namespace adc::test {

/// A compiled file on the CPU. A failure of anything ends the process with its text: the tests that use it
/// are about numbers.
class Native {
 public:
  explicit Native(const std::string& path, uint32_t workers, bool derive_tangents = false,
                  uint32_t optimisation = 2, bool leave_out_guards = false, uint32_t checkpoint = 0,
                  const std::string& target = "cpu") {
    driver::CompileOptions options;
    options.leave_out_guards = leave_out_guards;
    options.inputs = {path};
    options.targets = {target};
    options.derive.tangent = derive_tangents;
    options.optimisation = optimisation;
    options.checkpoint = checkpoint;
    std::vector<uint8_t> bytes;
    if (!Compile(options, &bytes)) Fail("compile " + path, "");
    Open(bytes, workers);
  }
  /// A bundle that was compiled before.
  Native(const std::vector<uint8_t>& bytes, uint32_t workers) { Open(bytes, workers); }
  ~Native() {
    adrt_heap_release(heap_);
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
  }
  Native(const Native&) = delete;
  Native& operator=(const Native&) = delete;

  /// A launch that can be repeated: it keeps pointing into the arguments that it was planned with.
  class Launch {
   public:
    Launch(Native& native, adrt_launch_plan* plan) : native_(&native), plan_(plan) {}
    ~Launch() { adrt_plan_release(plan_); }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;
    void Run() {
      adrt_run_desc desc = {};
      desc.struct_size = sizeof desc;
      desc.heap = native_->heap_;
      native_->Check(adrt_run(plan_, &desc, native_->Error()));
    }
    adrt_plan_report Report() {
      adrt_plan_report report = {};
      report.struct_size = sizeof report;
      native_->Check(adrt_plan_info(plan_, &report, native_->Error()));
      return report;
    }
    adrt_task_report Task(uint32_t task) {
      adrt_task_report report = {};
      report.struct_size = sizeof report;
      native_->Check(adrt_plan_task(plan_, task, &report, native_->Error()));
      return report;
    }

   private:
    Native* native_;
    adrt_launch_plan* plan_;
  };

  /// Plans kernel `name` with arguments by position; those of scratch parameters are passed over. `version`:
  /// of the content of every buffer. `by_work`: only as many workers as there is work for.
  Launch Plan(const std::string& name, interp::Arguments& arguments, uint64_t budget = 0,
              uint64_t version = 0, bool by_work = false) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()));
    std::vector<adrt_arg> args;
    numbers_.clear();
    for (uint32_t n = 0; n < arguments.list.size(); ++n) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      Check(adrt_kernel_param(kernel, n, &param, Error()));
      if (param.kind >= ADRT_PARAM_SCRATCH) continue;
      args.push_back(ArgumentOf(param, n, arguments[n]));
      args.back().content_version = version;
    }
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.args = args.data();
    desc.module = module_;
    desc.heap_budget = budget;
    desc.workers = by_work ? 0 : workers_;
    adrt_launch_plan* plan = nullptr;
    Check(adrt_plan(kernel, &desc, &plan, Error()));
    return Launch(*this, plan);
  }
  void Run(const std::string& name, interp::Arguments& arguments) { Plan(name, arguments).Run(); }

  bool Has(const std::string& name) {
    const adrt_kernel* kernel = nullptr;
    return adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()) == ADRT_OK;
  }
  /// Parameters of a kernel, for making arguments: names with their companions.
  std::vector<adrt_param_report> Params(const std::string& name) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()));
    adrt_kernel_report report = {};
    report.struct_size = sizeof report;
    Check(adrt_kernel_info(kernel, &report, Error()));
    std::vector<adrt_param_report> params(report.param_count);
    for (uint32_t n = 0; n < report.param_count; ++n) {
      params[n].struct_size = sizeof params[n];
      Check(adrt_kernel_param(kernel, n, &params[n], Error()));
    }
    return params;
  }

  /// Arguments of a derived kernel from those of its primal: companions begin as zeros.
  interp::Arguments DerivedArguments(const std::string& name, const interp::Arguments& primal) {
    interp::Arguments arguments;
    std::vector<adrt_param_report> params = Params(name);
    for (size_t n = 0; n < params.size(); ++n) {
      arguments.list.emplace_back();
      if (n < primal.list.size()) {
        arguments[n] = primal[n];
      } else if (params[n].kind == ADRT_PARAM_LAYOUT) {
        arguments[n].tensor.data.resize(arguments[params[n].primal].tensor.data.size());
      } else if (params[n].kind == ADRT_PARAM_BUFFER) {
        const interp::Argument& of = arguments[params[n].primal];
        auto scalar = static_cast<ir::Scalar>(params[n].type - ADRT_TYPE_I1);
        ir::Type element = of.bits.empty() ? of.tensor.element : ElementOf(scalar, params[n]);
        arguments[n].tensor = interp::Tensor::Zeros(element, of.tensor.extents);
      }
    }
    return arguments;
  }
  /// Position of the companion of parameter `primal`.
  size_t Companion(const std::string& name, size_t primal) {
    std::vector<adrt_param_report> params = Params(name);
    for (size_t n = 0; n < params.size(); ++n) {
      if (params[n].primal == primal) return n;
    }
    Fail("companion of parameter " + std::to_string(primal) + " of " + name, "there is none");
  }

 private:
  void Open(const std::vector<uint8_t>& bytes, uint32_t workers) {
    workers_ = workers;
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    Check(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle_, Error()));
    Check(adrt_device_open_cpu(&host, workers, &device_, Error()));
    Check(adrt_module_load(device_, bundle_, &module_, Error()));
    Check(adrt_heap_create(&host, &heap_, Error()));
  }

  static ir::Type ElementOf(ir::Scalar scalar, const adrt_param_report& param) {
    if (param.columns > 1) return ir::Type::Mat(scalar, param.rows, param.columns);
    return param.rows > 1 ? ir::Type::Vec(scalar, param.rows) : ir::Type::Of(scalar);
  }

  adrt_arg ArgumentOf(const adrt_param_report& param, uint32_t index, interp::Argument& argument) {
    adrt_arg arg = BareArgument(param, index);
    if (param.kind == ADRT_PARAM_SCALAR) {
      // Packed as in C; the loader copies it while planning.
      std::vector<char> number;
      for (uint64_t bits : argument.bits) {
        const char* bytes = reinterpret_cast<const char*>(&bits);
        number.insert(number.end(), bytes, bytes + adrt_type_size(param.type));
      }
      numbers_.push_back(std::move(number));
      arg.data = numbers_.back().data();
      return arg;
    }
    arg.data = argument.tensor.data.data();
    if (param.kind == ADRT_PARAM_LAYOUT) {
      arg.size = argument.tensor.data.size();
      return arg;
    }
    arg.rank = static_cast<uint32_t>(argument.tensor.extents.size());
    for (size_t axis = 0; axis < argument.tensor.extents.size(); ++axis)
      arg.extents[axis] = argument.tensor.extents[axis];
    return arg;
  }

  adrt_error* Error() {
    error_ = {};
    error_.struct_size = sizeof error_;
    return &error_;
  }
  void Check(adrt_status status) {
    if (status != ADRT_OK) Fail(adrt_status_text(status), error_.text);
  }
  [[noreturn]] static void Fail(const std::string& what, const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", what.c_str(), why.c_str());
    std::exit(1);
  }

  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  adrt_heap* heap_ = nullptr;
  adrt_error error_ = {};
  std::vector<std::vector<char>> numbers_;
  uint32_t workers_ = 0;
};

}  // namespace adc::test
