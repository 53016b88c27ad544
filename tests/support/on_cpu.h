#pragma once
// Kernels on the CPU, through the loader's own pool or through the caller's job system.

#include "compiled.h"
#include "on_device.h"

namespace adc::test {

class OnCpu : public OnDevice {
 public:
  OnCpu(const std::string& path, uint32_t workers, const adrt_cpu_jobs* jobs = nullptr,
        bool bounds_record = false) {
    adrt_host host = TrustingHost();
    OpenBundle(CompiledFor(path, "cpu", bounds_record), host);
    Must(jobs ? adrt_device_wrap_cpu(&host, jobs, &device_, Error())
              : adrt_device_open_cpu(&host, workers, &device_, Error()));
    LoadModule();
    workers_ = jobs ? jobs->worker_count : workers;
  }
};

}  // namespace adc::test
