#pragma once
// The state that the command lines of one process share. A process of one command line shares nothing; `adc
// batch` keeps devices open, and the code that was loaded last: making a device takes a driver longer than
// most launches.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "device.h"
#include "loader.h"

namespace adc::tool {

class Session {
 public:
  /// Finds the command of a command line and runs it. An exit code.
  using Dispatch = std::function<int(const std::vector<std::string>& words, Session& session)>;

  explicit Session(Dispatch dispatch) : dispatch_(std::move(dispatch)) {}

  /// Runs one command line. An exit code, also where memory runs out.
  int Run(const std::vector<std::string>& words);

  /// From here on devices and the bundle used last stay open for the next command line.
  void Keep() { keeps_ = true; }
  bool Keeps() const { return keeps_; }
  /// A name of the first open device that cannot copy memory any more, or nothing.
  std::string LostDevice() const;
  /// Closes what is open. Returns the errors of closing devices ("device vulkan: ..."), a line each.
  std::string Close();

  /// These three: ADRT_OK, or the reason in `error`.
  adrt_status OpenDevice(const DeviceChoice& choice, uint32_t workers, std::shared_ptr<OpenedDevice>* device,
                         adrt_error* error);
  adrt_status OpenBundle(std::vector<uint8_t> bytes, const Trust& trust, Bundle* bundle, adrt_error* error);
  /// `bundle` is from OpenBundle.
  adrt_status LoadModule(const OpenedDevice& device, const Bundle& bundle, Module* module, adrt_error* error);

 private:
  struct SharedDevice {
    DeviceChoice choice;
    uint32_t workers = 0;
    std::shared_ptr<OpenedDevice> device;
  };
  struct SharedModule {
    const OpenedDevice* device = nullptr;
    Module module;
  };

  Dispatch dispatch_;
  bool keeps_ = false;
  std::vector<SharedDevice> devices_;
  // The bundle of the last command line that had one: a program's launches follow each other.
  std::vector<uint8_t> bytes_;
  Trust trust_;
  Bundle bundle_;
  std::vector<SharedModule> modules_;
};

}  // namespace adc::tool
