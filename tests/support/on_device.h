#pragma once
// Kernels of a bundle, run by the loader with the interpreter's arguments: what is the same on every kind of
// device. on_cpu.h, on_vulkan.h and on_metal.h open one.

#include <adrt/adrt_metal.h>
#include <adrt/adrt_vk.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bare_argument.h"
#include "counted_rows.h"
#include "interp/arguments.h"

namespace adc::test {

/// A stretch of a device's memory, named as adrt_arg.data and its like want it on that kind of device.
class Region {
 public:
  Region() = default;
  Region(const std::string& kind, const adrt_memory* memory, uint64_t from, uint64_t bytes)
      : kind_(kind), bytes_(bytes) {
    void* data = adrt_memory_data(memory);
    if (kind_ == "vulkan") {
      vulkan_ = *static_cast<const adrt_vk_buffer*>(data);
      vulkan_.offset += from;
      vulkan_.address += from;
      vulkan_.size = bytes;
    } else if (kind_ == "metal") {
      metal_ = *static_cast<const adrt_metal_buffer*>(data);
      metal_.offset += from;
      metal_.size = bytes;
    } else {
      address_ = static_cast<unsigned char*>(data) + from;
    }
  }
  uint64_t bytes() const { return bytes_; }
  /// Lives as long as the region stays where it is.
  void* data() {
    return kind_ == "vulkan" ? &vulkan_ : kind_ == "metal" ? static_cast<void*>(&metal_) : address_;
  }

 private:
  std::string kind_;
  uint64_t bytes_ = 0;
  adrt_vk_buffer vulkan_ = {};
  adrt_metal_buffer metal_ = {};
  void* address_ = nullptr;
};

/// How a launch is made.
struct LaunchWay {
  bool far = false;   ///< Vulkan: buffers where no descriptor can begin, so that their addresses are taken
  double budget = 1;  ///< of the heap that the launch would take, where the plan knows it and it is no little
  uint64_t threshold = 0;       ///< bytes of rows from which those behind gates are counted; 0: the default
  CountedRows* rows = nullptr;  ///< what the plan says of them afterwards
  uint32_t workers = 0;         ///< as adrt_plan_desc has them, like all that follow
  uint64_t size_budget = 0;
  int (*is_cancelled)(void* cancel_user) = nullptr;
  void* cancel_user = nullptr;
};

class OnDevice {
 public:
  virtual ~OnDevice() {
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
  }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  /// Bytes of a heap that are not worth a budget: it holds no rows.
  static constexpr uint64_t kLittle = 4096;
  using Way = LaunchWay;

  /// Arguments in memory of the device, and a plan that launches them as often as one likes.
  class Launch {
   public:
    /// `arguments` by position; those that the launch makes are passed over.
    Launch(OnDevice& device, const std::string& kernel, const interp::Arguments& arguments, Way way = {})
        : device_(&device), way_(way), uploads_(arguments.list.size()) {
      device.Must(adrt_bundle_find_kernel(device.bundle_, kernel.c_str(), 0, &kernel_, device.Error()));
      for (uint32_t n = 0; n < arguments.list.size(); ++n) {
        adrt_param_report param = {};
        param.struct_size = sizeof param;
        device.Must(adrt_kernel_param(kernel_, n, &param, device.Error()));
        if (param.kind < ADRT_PARAM_SCRATCH) args_.push_back(ArgumentOf(param, n, arguments[n]));
      }
    }
    ~Launch() {
      adrt_plan_release(plan_);
      for (Upload& upload : uploads_) adrt_memory_release(upload.memory);
    }
    Launch(const Launch&) = delete;
    Launch& operator=(const Launch&) = delete;

    /// What the buffers hold becomes that of `arguments`, or of parameter `n` alone.
    void Write(const interp::Arguments& arguments) {
      for (size_t n = 0; n < uploads_.size(); ++n) Write(n, arguments[n]);
    }
    void Write(size_t n, const interp::Argument& argument) {
      if (!uploads_[n].memory) return;
      const std::vector<std::byte>& data = argument.tensor.data;
      device_->Must(adrt_memory_write(uploads_[n].memory, uploads_[n].shift, data.data(), data.size(),
                                      device_->Error()));
    }
    void Read(interp::Arguments& arguments) {
      for (size_t n = 0; n < uploads_.size(); ++n) {
        if (!uploads_[n].memory) continue;
        std::vector<std::byte>& data = arguments[n].tensor.data;
        device_->Must(adrt_memory_read(uploads_[n].memory, uploads_[n].shift, data.data(), data.size(),
                                       device_->Error()));
      }
    }
    /// For plans to come: what the caller says of a buffer's content.
    void SetVersion(uint32_t n, uint64_t version) {
      for (adrt_arg& arg : args_) {
        if (arg.index == n) arg.content_version = version;
      }
    }
    std::vector<adrt_arg>& args() { return args_; }
    /// For plans to come: where the bounds record lies.
    void SetRecord(void* record, uint64_t bytes) {
      record_ = record;
      record_bytes_ = bytes;
    }

    /// A new plan.
    adrt_status TryPlan(uint64_t budget = 0) {
      adrt_plan_release(plan_);
      plan_ = nullptr;
      adrt_plan_desc desc = {};
      desc.struct_size = sizeof desc;
      desc.arg_count = static_cast<uint32_t>(args_.size());
      desc.args = args_.data();
      desc.module = device_->module_;
      desc.heap_budget = budget;
      desc.size_threshold = way_.threshold;
      desc.workers = way_.workers > 0 ? way_.workers : device_->workers_;
      desc.size_budget = way_.size_budget;
      desc.is_cancelled = way_.is_cancelled;
      desc.cancel_user = way_.cancel_user;
      desc.bounds_record = record_;
      desc.bounds_record_size = record_bytes_;
      return adrt_plan(kernel_, &desc, &plan_, device_->Error());
    }
    void Plan(uint64_t budget = 0) { device_->Must(TryPlan(budget)); }
    adrt_launch_plan* plan() { return plan_; }
    adrt_plan_report Report() {
      adrt_plan_report report = {};
      report.struct_size = sizeof report;
      device_->Must(adrt_plan_info(plan_, &report, device_->Error()));
      return report;
    }
    adrt_status Run(const adrt_run_desc* desc = nullptr) { return adrt_run(plan_, desc, device_->Error()); }
    void MustRun(const adrt_run_desc* desc = nullptr) { device_->Must(Run(desc)); }

   private:
    /// One argument on the device; the host's copy of a number.
    struct Upload {
      adrt_memory* memory = nullptr;
      uint64_t shift = 0;
      std::unique_ptr<Region> place;
      std::vector<char> number;
    };

    adrt_arg ArgumentOf(const adrt_param_report& param, uint32_t index, const interp::Argument& argument) {
      Upload& upload = uploads_[index];
      adrt_arg arg = BareArgument(param, index);
      if (param.kind == ADRT_PARAM_SCALAR) {
        for (uint64_t bits : argument.bits) {
          const char* bytes = reinterpret_cast<const char*>(&bits);
          upload.number.insert(upload.number.end(), bytes, bytes + adrt_type_size(param.type));
        }
        arg.data = upload.number.data();
        return arg;
      }
      const std::vector<std::byte>& data = argument.tensor.data;
      upload.shift = way_.far ? 8 : 0;
      device_->Must(
          adrt_memory_create(device_->device_, data.size() + upload.shift, &upload.memory, device_->Error()));
      Write(index, argument);
      upload.place = std::make_unique<Region>(device_->kind_, upload.memory, upload.shift, data.size());
      arg.data = upload.place->data();
      if (param.kind == ADRT_PARAM_LAYOUT) {
        arg.size = data.size();
        return arg;
      }
      arg.rank = static_cast<uint32_t>(argument.tensor.extents.size());
      std::copy(argument.tensor.extents.begin(), argument.tensor.extents.end(), arg.extents);
      return arg;
    }

    OnDevice* device_;
    Way way_;
    const adrt_kernel* kernel_ = nullptr;
    std::vector<Upload> uploads_;
    std::vector<adrt_arg> args_;
    adrt_launch_plan* plan_ = nullptr;
    void* record_ = nullptr;
    uint64_t record_bytes_ = 0;
  };

  struct ReleaseMemory {
    void operator()(adrt_memory* memory) const { adrt_memory_release(memory); }
  };
  using MemoryHandle = std::unique_ptr<adrt_memory, ReleaseMemory>;
  MemoryHandle NewMemory(uint64_t bytes) {
    adrt_memory* made = nullptr;
    Must(adrt_memory_create(device_, bytes, &made, Error()));
    return MemoryHandle(made);
  }

  /// Runs kernel `name`, which must go well. Returns the bytes of its heap, 0 where only running tells.
  uint64_t Run(const std::string& name, interp::Arguments& arguments, Way way = {}) {
    Launch launch(*this, name, arguments, way);
    launch.Plan();
    adrt_plan_report report = launch.Report();
    if (way.budget < 1 && report.resolved && report.heap_bytes > kLittle) {
      launch.Plan(static_cast<uint64_t>(static_cast<double>(report.heap_bytes) * way.budget));
      report = launch.Report();
    }
    launch.MustRun();
    if (way.rows) *way.rows = ReadCountedRows(launch.plan());
    launch.Read(arguments);
    return report.resolved ? report.heap_bytes : 0;
  }

  const std::string& kind() const { return kind_; }
  adrt_device* device() { return device_; }
  /// The text of the last failure.
  std::string text() const { return error_.text; }
  const adrt_error& error() const { return error_; }
  adrt_error* Error() {
    error_ = {};
    error_.struct_size = sizeof error_;
    return &error_;
  }
  void Must(adrt_status status) {
    INFO(adrt_status_text(status) << ": " << error_.text);
    REQUIRE(status == ADRT_OK);
  }

 protected:
  OnDevice() = default;

  /// What follows is the kind's: open device_, then LoadModule.
  void OpenBundle(const std::vector<uint8_t>& bytes, const adrt_host& host) {
    Must(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle_, Error()));
  }
  void LoadModule() {
    Must(adrt_module_load(device_, bundle_, &module_, Error()));
    adrt_device_report report = {};
    report.struct_size = sizeof report;
    Must(adrt_device_info(device_, &report, Error()));
    kind_ = report.kind;
  }
  static adrt_host TrustingHost() {
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    return host;
  }

  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  uint32_t workers_ = 0;  ///< that plans ask for where a launch does not; 0: none

 private:
  std::string kind_;
  adrt_error error_ = {};
};

}  // namespace adc::test
