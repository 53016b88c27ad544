#pragma once
// Kernels compiled to Metal source in memory and run by the loader on the host's Metal, with the
// interpreter's arguments. The counterpart of native.h, whose results it is compared with.

#include <adrt/adrt_metal.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "counted_rows.h"
#include "driver/compile.h"
#include "interp/arguments.h"
#include "metal_host_api.h"

namespace adc::test {

class OnMetal {
 public:
  explicit OnMetal(const std::string& path) {
    driver::CompileOptions options;
    options.inputs = {path};
    options.targets = {"metal:2.4"};
    driver::Product product;
    REQUIRE(driver::CompileInputs(options.inputs, options, &product) == driver::kExitOk);
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    adrt_metal_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.threads = 1024;
    desc.api = metal_.api();
    Check(adrt_bundle_open(&host, product.bytes.data(), product.bytes.size(), ADRT_BUNDLE_COPY, &bundle_,
                           Error()));
    Check(adrt_device_open_metal(&host, &desc, &device_, Error()));
    Check(adrt_module_load(device_, bundle_, &module_, Error()));
  }
  ~OnMetal() {
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
    CHECK(metal_.LiveObjects() == 0);
  }
  OnMetal(const OnMetal&) = delete;
  OnMetal& operator=(const OnMetal&) = delete;

  /// Bytes of a heap that are not worth a budget: it holds no rows.
  static constexpr uint64_t kLittle = 4096;

  /// Runs kernel `name` with arguments by position; those of scratch parameters are passed over. `budget`:
  /// the part of the heap that the launch may take, where the plan knows it and it is no little. Returns the
  /// bytes of its heap, 0 where only running tells.
  /// Rows behind gates are counted from `threshold` bytes on (0: the default); `rows`: what the plan says of
  /// them afterwards.
  uint64_t Run(const std::string& name, interp::Arguments& arguments, double budget, uint64_t threshold = 0,
               CountedRows* rows = nullptr) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()));
    std::vector<Upload> uploads(arguments.list.size());
    std::vector<adrt_arg> args;
    for (uint32_t n = 0; n < arguments.list.size(); ++n) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      Check(adrt_kernel_param(kernel, n, &param, Error()));
      if (param.kind != ADRT_PARAM_SCRATCH) args.push_back(ArgumentOf(param, n, arguments[n], uploads[n]));
    }
    uint64_t heap_bytes = 0;
    adrt_launch_plan* plan = Plan(kernel, args, threshold, 0, &heap_bytes);
    if (budget < 1 && heap_bytes > kLittle) {
      adrt_plan_release(plan);
      plan = Plan(kernel, args, threshold, static_cast<uint64_t>(static_cast<double>(heap_bytes) * budget),
                  &heap_bytes);
    }
    Check(adrt_run(plan, nullptr, Error()));
    if (rows) *rows = ReadCountedRows(plan);
    adrt_plan_release(plan);
    for (size_t n = 0; n < uploads.size(); ++n) {
      if (!uploads[n].memory) continue;
      std::vector<std::byte>& data = arguments[n].tensor.data;
      Check(adrt_memory_read(uploads[n].memory, 0, data.data(), data.size(), Error()));
      adrt_memory_release(uploads[n].memory);
    }
    return heap_bytes;
  }

 private:
  /// One argument on the device; the host's copy of a number.
  struct Upload {
    adrt_memory* memory = nullptr;
    std::vector<char> number;
  };

  adrt_arg ArgumentOf(const adrt_param_report& param, uint32_t index, interp::Argument& argument,
                      Upload& upload) {
    adrt_arg arg = {};
    arg.struct_size = sizeof arg;
    arg.kind = param.kind;
    arg.index = index;
    arg.type = param.type;
    arg.rows = param.rows;
    arg.columns = param.columns;
    if (param.kind == ADRT_PARAM_SCALAR) {
      for (uint64_t bits : argument.bits) {
        const char* bytes = reinterpret_cast<const char*>(&bits);
        upload.number.insert(upload.number.end(), bytes, bytes + adrt_type_size(param.type));
      }
      arg.data = upload.number.data();
      return arg;
    }
    const std::vector<std::byte>& data = argument.tensor.data;
    Check(adrt_memory_create(device_, data.size(), &upload.memory, Error()));
    Check(adrt_memory_write(upload.memory, 0, data.data(), data.size(), Error()));
    arg.data = adrt_memory_data(upload.memory);
    if (param.kind == ADRT_PARAM_LAYOUT) {
      arg.size = data.size();
      return arg;
    }
    arg.rank = static_cast<uint32_t>(argument.tensor.extents.size());
    std::copy(argument.tensor.extents.begin(), argument.tensor.extents.end(), arg.extents);
    return arg;
  }

  adrt_launch_plan* Plan(const adrt_kernel* kernel, const std::vector<adrt_arg>& args, uint64_t threshold,
                         uint64_t budget, uint64_t* heap_bytes) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.args = args.data();
    desc.module = module_;
    desc.heap_budget = budget;
    desc.size_threshold = threshold;
    adrt_launch_plan* plan = nullptr;
    Check(adrt_plan(kernel, &desc, &plan, Error()));
    adrt_plan_report report = {};
    report.struct_size = sizeof report;
    Check(adrt_plan_info(plan, &report, Error()));
    *heap_bytes = report.resolved ? report.heap_bytes : 0;
    return plan;
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

  msl_host::MetalHost metal_;
  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  adrt_error error_ = {};
};

}  // namespace adc::test
