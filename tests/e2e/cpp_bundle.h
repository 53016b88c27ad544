#pragma once
// Kernels of a bundle that was made of C++, with arguments that lie in the host's memory.

#include <adrt/adrt.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <vector>

namespace adc::test {

inline adrt_arg Memory(const char* name, uint32_t type, void* data, std::initializer_list<int64_t> extents) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_BUFFER;
  arg.type = type;
  arg.name = name;
  arg.rank = static_cast<uint32_t>(extents.size());
  arg.data = data;
  size_t axis = 0;
  for (int64_t extent : extents) arg.extents[axis++] = extent;
  return arg;
}

inline adrt_arg Scalar(const char* name, uint32_t type, void* value) {
  adrt_arg arg = {};
  arg.struct_size = sizeof arg;
  arg.kind = ADRT_PARAM_SCALAR;
  arg.type = type;
  arg.name = name;
  arg.data = value;
  return arg;
}

class Kernels {
 public:
  explicit Kernels(const char* path) {
    error_.struct_size = sizeof error_;
    std::ifstream file(path, std::ios::binary);
    std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
    adrt_host host = {};
    host.struct_size = sizeof host;
    host.flags = ADRT_HOST_TRUST;
    Check(adrt_bundle_open(&host, bytes.data(), bytes.size(), ADRT_BUNDLE_COPY, &bundle_, &error_), path);
    Check(adrt_device_open_cpu(&host, 2, &device_, &error_), "device");
    Check(adrt_module_load(device_, bundle_, &module_, &error_), "module");
    Check(adrt_heap_create(&host, &heap_, &error_), "heap");
  }
  ~Kernels() {
    adrt_heap_release(heap_);
    adrt_module_release(module_);
    adrt_device_release(device_);
    adrt_bundle_release(bundle_);
  }
  Kernels(const Kernels&) = delete;
  Kernels& operator=(const Kernels&) = delete;

  void Run(const std::string& name, const std::vector<adrt_arg>& args) {
    const adrt_kernel* kernel = nullptr;
    Check(adrt_bundle_find_kernel(bundle_, name.c_str(), 0, &kernel, &error_), name);
    adrt_plan_desc desc = {};
    desc.struct_size = sizeof desc;
    desc.args = args.data();
    desc.arg_count = static_cast<uint32_t>(args.size());
    desc.module = module_;
    adrt_launch_plan* plan = nullptr;
    Check(adrt_plan(kernel, &desc, &plan, &error_), name);
    adrt_run_desc run = {};
    run.struct_size = sizeof run;
    run.heap = heap_;
    Check(adrt_run(plan, &run, &error_), name);
    adrt_plan_release(plan);
  }

 private:
  void Check(adrt_status status, const std::string& what) {
    if (status == ADRT_OK) return;
    std::printf("%s: %s: %s\n", what.c_str(), adrt_status_text(status), error_.text);
    std::exit(1);
  }

  adrt_bundle* bundle_ = nullptr;
  adrt_device* device_ = nullptr;
  adrt_module* module_ = nullptr;
  adrt_heap* heap_ = nullptr;
  adrt_error error_ = {};
};

}  // namespace adc::test
