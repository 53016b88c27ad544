// The linker reads and writes files. These have no names: the object is a file in memory, the image comes
// through a pipe (for anything but a regular file the linker writes straight to the name that it was told),
// so that no end of the process leaves a file.

#include "codegen/llvm/elf_link.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>

#include "diag/errors/codegen.h"
#include "lld/Common/CommonLinkerContext.h"
#include "lld/Common/Driver.h"
#include "llvm/Support/raw_ostream.h"

LLD_HAS_DRIVER(elf)

namespace adc::codegen {
namespace {

diag::Diagnostic LinkFailure(const std::string& what, const std::string& reason) {
  return diag::Fail(diag::E0603, {}, what + ": " + reason,
                    "check that /proc is mounted, that there is memory left, and ulimit -f");
}

std::string LastError() {
  return std::error_code(errno, std::generic_category()).message();
}

/// A descriptor that is closed with this.
class Descriptor {
 public:
  explicit Descriptor(int file = -1) : file_(file) {}
  ~Descriptor() { Close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void Close() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }
  int get() const { return file_; }
  /// The name by which this process opens it.
  std::string Path() const { return "/proc/self/fd/" + std::to_string(file_); }

 private:
  int file_;
};

bool WriteAll(int file, std::span<const uint8_t> bytes) {
  while (!bytes.empty()) {
    ssize_t written = write(file, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(written));
  }
  return true;
}

/// Everything that comes out of a pipe. 0, or an errno.
int ReadAll(int file, std::vector<uint8_t>* bytes) {
  std::vector<uint8_t> chunk(size_t{1} << 16);
  for (;;) {
    ssize_t got = read(file, chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return 0;
    bytes->insert(bytes->end(), chunk.begin(), chunk.begin() + got);
  }
}

}  // namespace

diag::Result<std::vector<uint8_t>> LinkElf(std::span<const uint8_t> object,
                                           std::span<const char* const> arguments, const char* what) {
  Descriptor input(memfd_create("kernels.o", MFD_CLOEXEC));
  if (input.get() < 0) return LinkFailure("cannot make a file in memory", LastError());
  if (!WriteAll(input.get(), object)) return LinkFailure("cannot write a file in memory", LastError());
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return LinkFailure("cannot make a pipe", LastError());
  Descriptor output(ends[1]), result(ends[0]);
  std::string in = input.Path(), out = output.Path();
  std::vector<const char*> line = {"ld.lld"};
  line.insert(line.end(), arguments.begin(), arguments.end());
  for (const char* argument :
       {"-shared", "-nostdlib", "--build-id=none", "--threads=1", "-o", out.c_str(), in.c_str()})
    line.push_back(argument);
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  std::vector<uint8_t> image;
  int read_error = 0;
  std::thread reader([&] { read_error = ReadAll(result.get(), &image); });
  bool linked = false;
  {
    // The linker keeps its state in globals: one link at a time in a process.
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    linked = lld::elf::link(line, stream, stream, false, false);
    lld::CommonLinkerContext::destroy();
  }
  output.Close();
  reader.join();
  if (!linked) return LinkFailure(std::string("cannot link the ") + what, stream.str());
  if (read_error != 0)
    return LinkFailure("cannot read the image", std::generic_category().message(read_error));
  return image;
}

}  // namespace adc::codegen
