#include "codegen/llvm/elf_link.h"

#include <mutex>
#include <string>

#include "diag/errors/codegen.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace adc::codegen {
namespace {

diag::Diagnostic LinkFailure(const std::string& what, const std::string& reason) {
  return diag::Fail(diag::E0603, {}, what + ": " + reason,
                    "check that the folder named by TMPDIR exists, may be written, and has room");
}

/// A folder that goes away with everything in it.
class TemporaryFolder {
 public:
  ~TemporaryFolder() {
    // A folder that cannot be removed is left to the system: the image is made by then.
    if (path_.empty()) return;
    [[maybe_unused]] std::error_code ignored = llvm::sys::fs::remove_directories(path_);
  }
  std::error_code Create() { return llvm::sys::fs::createUniqueDirectory("adc-link", path_); }
  std::string File(llvm::StringRef file_name) const {
    llvm::SmallString<128> path = path_;
    llvm::sys::path::append(path, file_name);
    return std::string(path);
  }

 private:
  llvm::SmallString<128> path_;
};

std::error_code WriteFile(const std::string& path, std::span<const uint8_t> bytes) {
  std::error_code error;
  llvm::raw_fd_ostream stream(path, error);
  if (error) return error;
  stream.write(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error;
}

}  // namespace

diag::Result<std::vector<uint8_t>> LinkElf(std::span<const uint8_t> object,
                                           std::span<const char* const> arguments, const char* what) {
  TemporaryFolder folder;
  if (std::error_code error = folder.Create())
    return LinkFailure("cannot make a temporary folder", error.message());
  std::string input = folder.File("kernels.o"), output = folder.File("kernels.so");
  if (std::error_code error = WriteFile(input, object))
    return LinkFailure("cannot write '" + input + "'", error.message());
  std::vector<const char*> line = {"ld.lld"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  for (const char* argument :
       {"-shared", "-nostdlib", "--build-id=none", "--threads=1", "-o", output.c_str(), input.c_str()})
    line.push_back(argument);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  bool linked = false;
  {
    // The linker keeps its state in globals: one link at a time in a process.
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    linked = lld::elf::link(line, stream, stream, false, false);
    lld::CommonLinkerContext::destroy();
  }
  if (!linked) return LinkFailure(std::string("cannot link the ") + what, stream.str());
  auto image = llvm::MemoryBuffer::getFile(output, false, false);
  if (!image) return LinkFailure("cannot read '" + output + "'", image.getError().message());
  llvm::StringRef bytes = (*image)->getBuffer();
  return std::vector<uint8_t>(bytes.bytes_begin(), bytes.bytes_end());
}

}  // namespace adc::codegen
