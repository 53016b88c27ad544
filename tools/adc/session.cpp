#include "session.h"

#include <new>

#include "command_line.h"
#include "host/exit_code.h"

namespace adc::tool {

int Session::Run(const std::vector<std::string>& words) {
  // The one exception that is left to happen: a launch or a module that does not fit into memory.
  try {
    return dispatch_(words, *this);
  } catch (const std::bad_alloc&) {
    PrintError("out of memory");
    return kExitRunTime;
  }
}

adrt_status Session::OpenDevice(const DeviceChoice& choice, uint32_t workers,
                                std::shared_ptr<OpenedDevice>* device, adrt_error* error) {
  for (const SharedDevice& shared : devices_) {
    if (shared.choice == choice && shared.workers == workers) {
      *device = shared.device;
      return ADRT_OK;
    }
  }
  auto opened = std::make_shared<OpenedDevice>();
  if (adrt_status status = opened->Open(choice, workers, error); status != ADRT_OK) return status;
  if (keeps_) devices_.push_back({choice, workers, opened});
  *device = std::move(opened);
  return ADRT_OK;
}

adrt_status Session::OpenBundle(std::vector<uint8_t> bytes, const Trust& trust, Bundle* bundle,
                                adrt_error* error) {
  if (!bundle_ || bytes != bytes_ || trust != trust_) {
    Bundle opened;
    if (adrt_status status = OpenBytes(bytes, trust, &opened, error); status != ADRT_OK) return status;
    if (!keeps_) {
      *bundle = std::move(opened);
      return ADRT_OK;
    }
    modules_.clear();
    bundle_ = std::move(opened);
    bytes_ = std::move(bytes);
    trust_ = trust;
  }
  adrt_bundle_retain(bundle_.get());
  *bundle->Out() = bundle_.get();
  return ADRT_OK;
}

adrt_status Session::LoadModule(const OpenedDevice& device, const Bundle& bundle, Module* module,
                                adrt_error* error) {
  if (!keeps_) return adrt_module_load(device.get(), bundle.get(), module->Out(), error);
  for (const SharedModule& shared : modules_) {
    if (shared.device != &device) continue;
    adrt_module_retain(shared.module.get());
    *module->Out() = shared.module.get();
    return ADRT_OK;
  }
  Module loaded;
  adrt_status status = adrt_module_load(device.get(), bundle.get(), loaded.Out(), error);
  if (status != ADRT_OK) return status;
  adrt_module_retain(loaded.get());
  *module->Out() = loaded.get();
  modules_.push_back({&device, std::move(loaded)});
  return ADRT_OK;
}

std::string Session::LostDevice() const {
  for (const SharedDevice& shared : devices_) {
    if (shared.device->IsCpu()) continue;
    uint32_t word = 1;
    auto error = Sized<adrt_error>();
    Memory memory;
    adrt_status status = adrt_memory_create(shared.device->get(), sizeof word, memory.Out(), &error);
    if (status == ADRT_OK) status = adrt_memory_write(memory.get(), 0, &word, sizeof word, &error);
    if (status == ADRT_OK) status = adrt_memory_read(memory.get(), 0, &word, sizeof word, &error);
    if (status != ADRT_OK) return shared.choice.Name();
  }
  return {};
}

std::string Session::Close() {
  modules_.clear();
  bundle_ = Bundle();
  bytes_.clear();
  std::string wrong;
  for (SharedDevice& shared : devices_) {
    std::string said = shared.device->Close();
    if (said.empty()) continue;
    wrong += (wrong.empty() ? "device " : "\ndevice ") + shared.choice.Name() + ": " + said;
  }
  devices_.clear();
  return wrong;
}

}  // namespace adc::tool
