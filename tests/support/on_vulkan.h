#pragma once
// Kernels compiled in memory and run by the loader on the first Vulkan device, with the interpreter's
// arguments, the validation layer watching. The counterpart of native.h, whose results it is compared with.

#include <adrt/adrt_vk.h>

#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "counted_rows.h"
#include "driver/compile.h"
#include "interp/arguments.h"

namespace adc::test {

class OnVulkan {
 public:
  explicit OnVulkan(const std::string& path) {
    driver::CompileOptions options;
    options.inputs = {path};
    options.targets = {"vulkan:1.2"};
    driver::Product product;
    REQUIRE(driver::CompileInputs(options.inputs, options, &product) == driver::kExitOk);
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    host.user = this;
    host.log = [](void* own, const char* text) {
      if (std::strstr(text, "validation: ")) static_cast<OnVulkan*>(own)->faults_ += std::string(text) + "\n";
    };
    adrt_vk_open_desc open = {};
    open.struct_size = sizeof open;
    open.flags = ADRT_VK_VALIDATE;
    Check(adrt_bundle_open(&host, product.bytes.data(), product.bytes.size(), ADRT_BUNDLE_COPY, &bundle_,
                           Error()));
    Check(adrt_device_open_vk(&host, &open, &device_, Error()));
    Check(adrt_module_load(device_, bundle_, &module_, Error()));
  }
  ~OnVulkan() {
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
    CHECK(faults_ == "");
  }
  OnVulkan(const OnVulkan&) = delete;
  OnVulkan& operator=(const OnVulkan&) = delete;

  /// Bytes of a heap that are not worth a budget: it holds no rows.
  static constexpr uint64_t kLittle = 4096;
  /// How a launch is made.
  struct Way {
    bool far = false;  ///< buffers where no descriptor can begin, so that their addresses are taken
    double budget =
        1;  ///< of the heap that the launch would take, where the plan knows it and it is no little
    uint64_t threshold = 0;       ///< bytes of rows from which those behind gates are counted; 0: the default
    CountedRows* rows = nullptr;  ///< what the plan says of them afterwards
  };

  /// Runs kernel `name` with arguments by position; those of scratch parameters are passed over. Returns the
  /// bytes of its heap, 0 where only running tells.
  uint64_t Run(const std::string& name, interp::Arguments& arguments, Way way) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, Error()));
    std::vector<Upload> uploads(arguments.list.size());
    std::vector<adrt_arg> args;
    for (uint32_t n = 0; n < arguments.list.size(); ++n) {
      adrt_param_report param = {};
      param.struct_size = sizeof param;
      Check(adrt_kernel_param(kernel, n, &param, Error()));
      if (param.kind != ADRT_PARAM_SCRATCH && param.kind != ADRT_PARAM_SEGMENT)
        args.push_back(ArgumentOf(param, n, arguments[n], way, uploads[n]));
    }
    uint64_t heap_bytes = 0;
    adrt_launch_plan* plan = Plan(kernel, args, way, 0, &heap_bytes);
    if (way.budget < 1 && heap_bytes > kLittle) {
      adrt_plan_release(plan);
      plan = Plan(kernel, args, way, static_cast<uint64_t>(static_cast<double>(heap_bytes) * way.budget),
                  &heap_bytes);
    }
    Check(adrt_run(plan, nullptr, Error()));
    if (way.rows) *way.rows = ReadCountedRows(plan);
    adrt_plan_release(plan);
    for (size_t n = 0; n < uploads.size(); ++n) {
      if (!uploads[n].memory) continue;
      std::vector<std::byte>& data = arguments[n].tensor.data;
      Check(adrt_memory_read(uploads[n].memory, uploads[n].place.offset, data.data(), data.size(), Error()));
      adrt_memory_release(uploads[n].memory);
    }
    return heap_bytes;
  }

 private:
  /// One argument on the device; the host's copy of a number.
  struct Upload {
    adrt_memory* memory = nullptr;
    adrt_vk_buffer place = {};
    std::vector<char> number;
  };

  adrt_arg ArgumentOf(const adrt_param_report& param, uint32_t index, interp::Argument& argument, Way way,
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
    uint64_t shift = way.far ? 8 : 0;
    Check(adrt_memory_create(device_, data.size() + shift, &upload.memory, Error()));
    Check(adrt_memory_write(upload.memory, shift, data.data(), data.size(), Error()));
    upload.place = *static_cast<const adrt_vk_buffer*>(adrt_memory_data(upload.memory));
    upload.place.offset += shift;
    upload.place.address += shift;
    upload.place.size -= shift;
    arg.data = &upload.place;
    if (param.kind == ADRT_PARAM_LAYOUT) {
      arg.size = data.size();
      return arg;
    }
    arg.rank = static_cast<uint32_t>(argument.tensor.extents.size());
    std::copy(argument.tensor.extents.begin(), argument.tensor.extents.end(), arg.extents);
    return arg;
  }

  adrt_launch_plan* Plan(const adrt_kernel* kernel, const std::vector<adrt_arg>& args, const Way& way,
                         uint64_t budget, uint64_t* heap_bytes) {
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.args = args.data();
    desc.module = module_;
    desc.heap_budget = budget;
    desc.size_threshold = way.threshold;
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

  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  adrt_error error_ = {};
  std::string faults_;
};

}  // namespace adc::test
