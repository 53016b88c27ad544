#include "record_file.h"

#include <algorithm>

#include "command_line.h"
#include "host/exit_code.h"
#include "host/files.h"

namespace adc::tool {

int RecordFile::Open(const OpenedDevice& device, const Kernel& kernel) {
  writes_ = std::string_view(kernel.report.role) == "primal";
  bytes_.assign(kernel.report.bounds_bytes, 0);
  if (!writes_) {
    // The loader's report about another kernel's record is better than a limit that it is over.
    constexpr uint64_t kMostOfAnother = uint64_t{1} << 20;
    FileResult<std::string> content = ReadWhole(path_, std::max(kMostOfAnother, kernel.report.bounds_bytes));
    if (!content) {
      PrintError(content.Failure().text);
      return kExitFailed;
    }
    bytes_.assign(content->begin(), content->end());
  }
  // A kernel without a record is told of one all the same: the loader says what it thinks of that.
  bytes_.reserve(sizeof(uint64_t));
  data_ = bytes_.data();
  if (device.IsCpu()) return kExitOk;
  auto error = Sized<adrt_error>();
  adrt_status status = adrt_memory_create(device.get(), bytes_.empty() ? sizeof(uint64_t) : bytes_.size(),
                                          memory_.Out(), &error);
  if (status == ADRT_OK && !bytes_.empty())
    status = adrt_memory_write(memory_.get(), 0, bytes_.data(), bytes_.size(), &error);
  if (status != ADRT_OK) return ReportFailure("memory of the bounds record", status, error);
  data_ = adrt_memory_data(memory_.get());
  return kExitOk;
}

int RecordFile::Close() {
  if (!writes_) return kExitOk;
  auto error = Sized<adrt_error>();
  if (memory_ && !bytes_.empty()) {
    adrt_status status = adrt_memory_read(memory_.get(), 0, bytes_.data(), bytes_.size(), &error);
    if (status != ADRT_OK) return ReportFailure("memory of the bounds record", status, error);
  }
  FileStatus written = WriteWhole(path_, bytes_);
  if (written) return kExitOk;
  PrintError(written.Failure().text, written.Failure().help);
  return kExitFailed;
}

}  // namespace adc::tool
