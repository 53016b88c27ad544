#pragma once
// The output when the compiler itself fails: a message, a file that repeats it, exit status 70 (EX_SOFTWARE).

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "support/check.h"

namespace adc {

/// Writes to the open `file`. Runs in a signal's handler: it may call write(2) and read memory, and may not
/// allocate or lock. False where something could not be written.
using ReproductionWriter = bool (*)(int file, const void* context);

/// write(2) until all is written, or false where it fails.
bool WriteToReproduction(int file, const char* text, size_t size);

/// Makes SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT end the process with a message, the reproduction file
/// and status 70, also where the stack is used up: this thread gets an alternate stack. While a kernel runs
/// (KernelScope) the message is about the kernel, and the status kExitRunTime. Under a sanitizer these
/// signals stay as they are. SIGXFSZ is ignored, so that a write beyond the limit of a file's size fails and
/// can be told.
void InstallCrashHandler();

/// While one lives, kernels of the user run in this process, on any threads: a crash of theirs after an index
/// out of range is no defect of adc.
class KernelScope {
 public:
  KernelScope();
  ~KernelScope();
  KernelScope(const KernelScope&) = delete;
  KernelScope& operator=(const KernelScope&) = delete;
};

/// An alternate stack for the handlers of the calling thread, for as long as this lives.
class AlternateStack {
 public:
  AlternateStack();
  ~AlternateStack();
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  std::unique_ptr<char[]> memory_;
};

/// Writes the reproduction file, where there is a scope, and says where it is. At most once in a process:
/// while one thread does so, it returns in no other thread, which would end the process and cut the file off.
void WriteReproduction();

/// While it lives, a failure writes a reproduction file to `path`, which must not exist: `head`, then what
/// `writer` writes. The innermost one counts.
class ReproductionScope {
 public:
  ReproductionScope(std::string path, std::string head, ReproductionWriter writer, const void* context)
      : path_(std::move(path)),
        head_(std::move(head)),
        writer_(writer),
        context_(context),
        outer_(innermost_) {
    innermost_ = this;
    BeforeInternalErrorsEnd(WriteReproduction);
  }
  ~ReproductionScope() { innermost_ = outer_; }
  ReproductionScope(const ReproductionScope&) = delete;
  ReproductionScope& operator=(const ReproductionScope&) = delete;

 private:
  friend void WriteReproduction();
  static inline std::atomic<ReproductionScope*> innermost_ = nullptr;
  std::string path_, head_;
  ReproductionWriter writer_;
  const void* context_;
  ReproductionScope* outer_;
};

}  // namespace adc
