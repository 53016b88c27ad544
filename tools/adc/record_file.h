#pragma once
// The bounds record of a launch as a file: a kernel's run writes it, a run of its gradient reads it.

#include <string>
#include <vector>

#include "device.h"

namespace adc::tool {

/// The record's memory on a device, and its bytes.
class RecordFile {
 public:
  explicit RecordFile(std::string path) : path_(std::move(path)) {}

  /// Makes memory for a launch of `kernel`; for a gradient it has the file's content. kExitOk, or the exit
  /// code after the reason was printed.
  int Open(const OpenedDevice& device, const Kernel& kernel);
  /// The value for adrt_plan_desc.bounds_record.
  void* data() const { return data_; }
  uint64_t size() const { return bytes_.size(); }
  /// After the launch: writes the file where the launch wrote the record. Exit codes as above.
  int Close();

 private:
  std::string path_;
  bool writes_ = false;
  std::vector<uint8_t> bytes_;
  Memory memory_;  ///< on a device that is no CPU
  void* data_ = nullptr;
};

}  // namespace adc::tool
