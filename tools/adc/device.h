#pragma once
// The devices that --device names, opened through the loader.

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
  bool validate = false;  ///< Vulkan: with the validation layer
  std::string Name() const;
};

/// --device and --validate.
void AddDeviceOptions(CommandLine& line, DeviceChoice* choice);

/// Kinds of devices that the loader opens: "cpu" first.
std::vector<std::string> DeviceKinds();

/// An open device, and what the loader and the validation layer said about it.
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
  uint32_t Faults() const { return *faults_; }

 private:
  // Its address goes to the loader, which outlives moves of this.
  std::unique_ptr<uint32_t> faults_ = std::make_unique<uint32_t>(0);
  Device device_;
  adrt_device_report report_ = {};
};

}  // namespace adc::tool
