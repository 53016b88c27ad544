#include "bundle_state.h"

#include "keys/keys.h"

namespace adrt_python {
namespace {

std::string Join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text.empty() ? "none" : text;
}

}  // namespace

BundleState::~BundleState() {
  kernels_.clear();
  for (const Loaded& loaded : modules_) adrt_module_release(loaded.module);
  adrt_bundle_release(handle_);
}

bool BundleState::Open(const void* bytes, size_t size, const Trust& trust, const std::string& name) {
  name_ = name;
  auto host = Sized<adrt_host>();
  host.flags = trust.anything ? uint32_t{ADRT_HOST_TRUST} : 0;
  host.public_keys = trust.keys.data();
  host.public_key_count = static_cast<uint32_t>(trust.keys.size() / std::tuple_size_v<adc::keys::PublicKey>);
  host.check_signature = adc::keys::Checker();
  if (trust.by_keys && !host.check_signature) {
    return RaiseUntrusted(name + ": signatures cannot be checked, adrt was built without libsodium");
  }
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_COPY, &handle_, &error);
  if (status == ADRT_OK) status = adrt_bundle_info(handle_, &report_, &error);
  if (status != ADRT_OK) return Raise(error, " (" + name + ")");
  if (!trust.by_keys || report_.signature == ADRT_SIGNATURE_GOOD) return true;
  return RaiseUntrusted(name + ": none of the keys has signed it: " + adrt_signature_text(report_.signature));
}

std::string BundleState::ContentId() const {
  std::string text;
  for (uint8_t byte : report_.content_id) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

std::vector<std::string> BundleState::KernelNames() const {
  std::vector<std::string> names;
  for (uint32_t index = 0; index < report_.kernel_count; ++index) {
    const adrt_kernel* kernel = nullptr;
    auto report = Sized<adrt_kernel_report>();
    if (adrt_bundle_kernel(handle_, index, &kernel, nullptr) != ADRT_OK) continue;
    if (adrt_kernel_info(kernel, &report, nullptr) != ADRT_OK) continue;
    std::string_view role = report.role;
    if (role != "size" && role != "bounds") names.push_back(report.name);  // the loader runs these
  }
  return names;
}

std::vector<std::string> BundleState::TargetNames() const {
  std::vector<std::string> names;
  for (uint32_t index = 0; index < report_.target_count; ++index) {
    auto target = Sized<adrt_target_info>();
    if (adrt_bundle_target(handle_, index, &target, nullptr) == ADRT_OK) names.push_back(target.name);
  }
  return names;
}

int BundleState::FindTarget(std::string_view name) const {
  std::vector<std::string> names = TargetNames();
  for (size_t index = 0; index < names.size(); ++index) {
    if (names[index] == name) return static_cast<int>(index);
  }
  return -1;
}

uint32_t BundleState::DefaultTarget() const {
  adrt_device* cpu = nullptr;
  std::vector<adrt_target_report> reports(report_.target_count, Sized<adrt_target_report>());
  uint32_t count = 0, chosen = 0;
  if (adrt_device_wrap_cpu(nullptr, nullptr, &cpu, nullptr) != ADRT_OK) return 0;
  if (adrt_bundle_query_targets(handle_, cpu, reports.data(), report_.target_count, &count, nullptr) ==
      ADRT_OK) {
    for (uint32_t index = 0; index < count && index < reports.size(); ++index) {
      if (reports[index].verdict == ADRT_TARGET_CHOSEN) chosen = index;
    }
  }
  adrt_device_release(cpu);
  return chosen;
}

KernelState* BundleState::Find(const std::string& name) {
  for (const auto& kernel : kernels_) {
    if (name == kernel->report().name) return kernel.get();
  }
  auto error = Sized<adrt_error>();
  const adrt_kernel* handle = nullptr;
  if (adrt_bundle_find_kernel(handle_, name.c_str(), 0, &handle, &error) != ADRT_OK) {
    return Raise(error, ": " + name_ + " has " + Join(KernelNames()));
  }
  auto kernel = std::make_unique<KernelState>();
  if (!kernel->Read(this, handle)) return nullptr;
  kernels_.push_back(std::move(kernel));
  return kernels_.back().get();
}

const adrt_kernel* BundleState::FindDerivative(std::string_view of, std::string_view role) const {
  const adrt_kernel* found = nullptr;
  std::string plain = std::string(of) + "." + std::string(role);
  for (uint32_t index = 0; index < report_.kernel_count; ++index) {
    const adrt_kernel* kernel = nullptr;
    auto report = Sized<adrt_kernel_report>();
    if (adrt_bundle_kernel(handle_, index, &kernel, nullptr) != ADRT_OK) continue;
    if (adrt_kernel_info(kernel, &report, nullptr) != ADRT_OK) continue;
    if (report.of != of || report.role != role) continue;
    if (!found || report.name == plain) found = kernel;  // of several tangents at once is the other one
  }
  return found;
}

Failed BundleState::RaiseNoTarget(const adrt_error& error, const Device& device) const {
  std::string kind = NameOf(device.place);
  kind = kind.substr(0, kind.find(':'));
  return Raise(error, ". The arguments are on " + NameOf(device.place) + ", " + name_ +
                          " has code for: " + Join(TargetNames()) + ". Compile it with adc --target=" + kind +
                          " as well, or move the arguments");
}

adrt_module* BundleState::ModuleOn(Device* device) {
  for (const Loaded& loaded : modules_) {
    if (loaded.device == device) return loaded.module;
  }
  auto error = Sized<adrt_error>();
  adrt_module* module = nullptr;
  adrt_status status = ADRT_OK;
  Py_BEGIN_ALLOW_THREADS;
  status = adrt_module_load(device->handle, handle_, &module, &error);
  Py_END_ALLOW_THREADS;
  if (status == ADRT_ERROR_NO_TARGET) return RaiseNoTarget(error, *device);
  if (status != ADRT_OK) return Raise(error, " (" + name_ + " on " + NameOf(device->place) + ")");
  for (const Loaded& loaded : modules_) {
    if (loaded.device != device) continue;  // another thread was first
    adrt_module_release(module);
    return loaded.module;
  }
  modules_.push_back({device, module});
  return module;
}

}  // namespace adrt_python
