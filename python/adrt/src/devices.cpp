#include "devices.h"

#include <adrt/adrt_cuda.h>
#include <adrt/adrt_hip.h>
#include <adrt/adrt_vk.h>

#include <memory>
#include <vector>

#include "errors.h"

namespace adrt_python {
namespace {

// Of this process. A device is never closed: objects that were made with it may live until the interpreter
// ends, or, in a child of fork, would wait for threads that are not there.
std::vector<Device*>& Opened() {
  static auto* opened = new std::vector<Device*>;
  return *opened;
}

adrt_status OpenCpu(uint32_t, adrt_device** device, adrt_error* error) {
  return adrt_device_open_cpu(nullptr, 0, device, error);
}

adrt_status OpenCuda(uint32_t index, adrt_device** device, adrt_error* error) {
  auto desc = Sized<adrt_cuda_desc>();
  desc.index = index;
  return adrt_device_open_cuda(nullptr, &desc, device, error);
}

adrt_status OpenHip(uint32_t index, adrt_device** device, adrt_error* error) {
  auto desc = Sized<adrt_hip_desc>();
  desc.index = index;
  return adrt_device_open_hip(nullptr, &desc, device, error);
}

adrt_status OpenVulkan(uint32_t index, adrt_device** device, adrt_error* error) {
  auto desc = Sized<adrt_vk_open_desc>();
  desc.index = index;
  return adrt_device_open_vk(nullptr, &desc, device, error);
}

using Open = adrt_status (*)(uint32_t index, adrt_device** device, adrt_error* error);

Open OpenerOf(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? OpenCpu : kind == DeviceKind::kCuda ? OpenCuda : OpenHip;
}

constexpr struct {
  const char* name;
  Open open;
} kKinds[] = {{"cpu", OpenCpu}, {"cuda", OpenCuda}, {"hip", OpenHip}, {"vulkan", OpenVulkan}};

bool Append(PyObject* list, PyObject* owned) {
  Ref item(owned);
  return item && PyList_Append(list, item.get()) == 0;
}

// Every device of a kind; the entry of a kind without one says why.
bool AppendKind(PyObject* list, const char* name, Open open) {
  for (uint32_t index = 0;; ++index) {
    auto error = Sized<adrt_error>();
    auto report = Sized<adrt_device_report>();
    adrt_device* device = nullptr;
    adrt_status status = open(index, &device, &error);
    if (status == ADRT_OK) {
      status = adrt_device_info(device, &report, &error);
      adrt_device_release(device);
    }
    bool is_cpu = open == OpenCpu;
    if (status != ADRT_OK) {
      return index > 0 || Append(list, Py_BuildValue("{s:s,s:s}", "device", name, "absent", error.text));
    }
    std::string full = is_cpu ? name : std::string(name) + ":" + std::to_string(index);
    if (!Append(list, Py_BuildValue("{s:s,s:s,s:s,s:s,s:I,s:s}", "device", full.c_str(), "kind", report.kind,
                                    "name", report.name, "arch", report.arch, "threads", report.worker_count,
                                    "features", report.features))) {
      return false;
    }
    if (is_cpu) return true;
  }
}

}  // namespace

Device* FindDevice(const Place& place) {
  for (Device* device : Opened()) {
    if (device->place == place) return device;
  }
  auto device = std::make_unique<Device>();
  device->place = place;
  auto error = Sized<adrt_error>();
  if (OpenerOf(place.kind)(static_cast<uint32_t>(place.index), &device->handle, &error) != ADRT_OK) {
    return Raise(error, " (an argument is on " + NameOf(place) + ")");
  }
  Opened().push_back(device.release());
  return Opened().back();
}

void ForgetDevices() {
  Opened().clear();
}

PyObject* ListDevices(PyObject*, PyObject*) {
  Ref list(PyList_New(0));
  if (!list) return nullptr;
  for (const auto& kind : kKinds) {
    if (!AppendKind(list.get(), kind.name, kind.open)) return nullptr;
  }
  return list.release();
}

}  // namespace adrt_python
