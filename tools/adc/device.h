#pragma once
// The devices that --device names, opened through the loader.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "command_line.h"
#include "loader.h"

namespace adc::tool {

/// "cpu", "vulkan", "cuda:1".
struct DeviceChoice {
  std::string kind = "cpu";
  uint32_t index = 0;
  bool validate = false;     ///< Vulkan: with the validation layer
  bool confined = false;     ///< Vulkan: with robust buffer access, for unverified code
  bool traces_heap = false;  ///< each launch prints what it takes of memory
  std::string Name() const;
  bool operator==(const DeviceChoice&) const = default;
};

/// --device and --validate.
void AddDeviceOptions(CommandLine& line, DeviceChoice* choice);

/// Kinds of devices that the loader opens: "cpu" first.
std::vector<std::string> DeviceKinds();

/// An open device, and the messages of the loader and the validation layer about it.
class OpenedDevice {
 public:
  /// ADRT_OK, or the reason in `error`.
  adrt_status Open(const DeviceChoice& choice, uint32_t workers, adrt_error* error);
  adrt_device* get() const { return device_.get(); }
  const adrt_device_report& report() const { return report_; }
  bool IsCpu() const { return std::string_view(report_.kind) == "cpu"; }
  /// Names of the targets to compile for it, of which the loader takes the best that it can run.
  std::vector<std::string> Targets() const;
  /// How many faults the validation layer has found. They were printed.
  uint32_t Faults() const { return watch_->faults; }
  /// Lets go of the device, when everything made on it should be gone. Returns the errors of closing it:
  /// faults that the validation layer finds only then, and blocks of the host's memory, so memory of the
  /// device or modules, that are still held. Empty where there are none.
  std::string Close();

 private:
  /// The messages of the loader about a device, from any of its threads.
  struct Watch {
    std::atomic<uint32_t> faults = 0;
    std::atomic<int64_t> blocks = 0;  ///< of the host's memory, that the device has
  };
  static void* Allocate(void* watch, size_t size, size_t alignment);
  static void Release(void* watch, void* memory, size_t size, size_t alignment);
  static void TakeMessage(void* watch, const char* text);

  // Its address goes to the loader, which outlives moves of this.
  std::unique_ptr<Watch> watch_ = std::make_unique<Watch>();
  Device device_;
  adrt_device_report report_ = {};
  bool confined_ = false;
};

}  // namespace adc::tool
