// Faults on Windows: a vectored handler, which runs before any search for handlers on the stack. Code of
// images has no tables to unwind it by, so that such a search would end there.

#include "host/crash.h"

#define WIN32_LEAN_AND_MEAN
#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>
#include <windows.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "host/bounded_run.h"
#include "host/exit_code.h"

namespace adc {
namespace {

constexpr int kInternalErrorStatus = 70;
constexpr size_t kAtOnce = size_t{1} << 30;

/// Kernels that run.
std::atomic<uint32_t> running = 0;
/// The thread whose fault is told; 0: none yet.
std::atomic<DWORD> handling = 0;
/// The thread that writes the reproduction file; 0: none yet.
std::atomic<DWORD> failing = 0;

void Say(const char* text) {
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, static_cast<DWORD>(std::strlen(text)), &written, nullptr);
}

const char* NameOf(DWORD code) {
  switch (code) {
    case EXCEPTION_STACK_OVERFLOW:
      return "a stack was used up";
    case EXCEPTION_ACCESS_VIOLATION:
    case EXCEPTION_IN_PAGE_ERROR:
    case EXCEPTION_DATATYPE_MISALIGNMENT:
      return "an invalid access to memory";
    case EXCEPTION_ILLEGAL_INSTRUCTION:
    case EXCEPTION_PRIV_INSTRUCTION:
      return "an illegal instruction";
    case EXCEPTION_INT_DIVIDE_BY_ZERO:
    case EXCEPTION_INT_OVERFLOW:
      return "an arithmetic fault";
    default:
      return nullptr;
  }
}

LONG CALLBACK Handle(EXCEPTION_POINTERS* fault) {
  DWORD code = fault->ExceptionRecord->ExceptionCode;
  const char* name = NameOf(code);
  if (name == nullptr) return EXCEPTION_CONTINUE_SEARCH;  // of C++, of a debugger
  // Workers that share a mistake fail at once: the first one says so, and ends the process.
  DWORD none = 0, self = GetCurrentThreadId();
  if (!handling.compare_exchange_strong(none, self)) {
    if (none == self) TerminateProcess(GetCurrentProcess(), UINT{kInternalErrorStatus});
    Sleep(INFINITE);
  }
  bool in_kernel = running != 0, stack = code == EXCEPTION_STACK_OVERFLOW;
  if (stack && SayTooDeep(0)) {
    TerminateProcess(GetCurrentProcess(), UINT{kExitFailed});
    return EXCEPTION_CONTINUE_SEARCH;
  }
  Say(in_kernel ? "adc: error: " : "adc: internal error: ");
  Say(name);
  if (!in_kernel) {
    Say("\nadc: this is a defect of adc, not of your program; please report it with the input\n");
    WriteReproduction();
  } else if (stack) {
    Say(" while a kernel ran\nhelp: local arrays (alloca) of an iteration lie there: make them smaller\n");
  } else {
    Say(" while a kernel ran\nhelp: an index out of range does that: --check-bounds finds it, where the .ir "
        "file is run "
        "or compiled\n");
  }
  TerminateProcess(GetCurrentProcess(), in_kernel ? UINT{kExitRunTime} : UINT{kInternalErrorStatus});
  return EXCEPTION_CONTINUE_SEARCH;
}

}  // namespace

bool WriteToReproduction(int file, const char* text, size_t size) {
  while (size > 0) {
    int written = _write(file, text, static_cast<unsigned>(size < kAtOnce ? size : kAtOnce));
    if (written <= 0) return false;
    text += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

void InstallCrashHandler() {
  AlternateStack stack;
  AddVectoredExceptionHandler(1, Handle);
}

KernelScope::KernelScope() {
  ++running;
}
KernelScope::~KernelScope() {
  --running;
}

// The system has one of its own, of which it leaves as much to the handler as is asked for, until the thread
// ends.
AlternateStack::AlternateStack() {
  ULONG aside = ULONG{64} << 10;
  SetThreadStackGuarantee(&aside);
}
AlternateStack::~AlternateStack() = default;

void WriteReproduction() {
  DWORD none = 0, self = GetCurrentThreadId();
  if (!failing.compare_exchange_strong(none, self)) {
    if (none == self) return;  // a failure within this one: the process ends
    Sleep(INFINITE);
  }
  const ReproductionScope* scope = ReproductionScope::innermost_;
  if (scope == nullptr) return;
  int file = _open(scope->path_.c_str(), _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
  bool written = file >= 0 && WriteToReproduction(file, scope->head_.data(), scope->head_.size()) &&
                 scope->writer_(file, scope->context_);
  if (file >= 0) {
    written = _close(file) == 0 && written;
    if (!written) DeleteFileA(scope->path_.c_str());
  }
  Say(written ? "adc: the reproduction file is " : "adc: cannot write the reproduction file ");
  Say(scope->path_.c_str());
  Say(written ? ": it holds the input, the command line and the version\n"
              : "; --repro=FILE names another place\n");
}

}  // namespace adc
