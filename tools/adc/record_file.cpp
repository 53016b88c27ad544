#include "record_file.h"

#include "command_line.h"
#include "driver/files.h"
#include "driver/options.h"

namespace adc::tool {

int RecordFile::Open(const OpenedDevice& device, const Kernel& kernel) {
  writes_ = std::string_view(kernel.report.role) == "primal";
  bytes_.assign(kernel.report.bounds_bytes, 0);
  if (!writes_) {
    diag::Result<std::string> content = driver::ReadWhole(path_);
    if (!content) {
      PrintError(content.Failure().text);
      return driver::kExitFailed;
    }
    bytes_.assign(content->begin(), content->end());
  }
  // A kernel without a record is told of one all the same: the loader says what it thinks of that.
  bytes_.reserve(sizeof(uint64_t));
  data_ = bytes_.data();
  if (device.IsCpu()) return driver::kExitOk;
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_memory_create(device.get(), bytes_.empty() ? sizeof(uint64_t) : bytes_.size(),
                                          memory_.Out(), &error);
  if (status == ADRT_OK && !bytes_.empty())
    status = adrt_memory_write(memory_.get(), 0, bytes_.data(), bytes_.size(), &error);
  if (status != ADRT_OK) return ReportFailure("memory of the bounds record", status, error);
  data_ = adrt_memory_data(memory_.get());
  return driver::kExitOk;
}

int RecordFile::Close() {
  if (!writes_) return driver::kExitOk;
  auto error = Sized<adrt_error>();
  if (memory_ && !bytes_.empty()) {
    adrt_status status = adrt_memory_read(memory_.get(), 0, bytes_.data(), bytes_.size(), &error);
    if (status != ADRT_OK) return ReportFailure("memory of the bounds record", status, error);
  }
  diag::Status written = driver::WriteWhole(path_, bytes_);
  if (written) return driver::kExitOk;
  PrintError(written.Failure().text, written.Failure().help);
  return driver::kExitFailed;
}

}  // namespace adc::tool
