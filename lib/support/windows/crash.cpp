// Faults on Windows: a vectored handler, which runs before any search for handlers on the stack. Code of
// images has no tables to unwind it by, so that such a search would end there.

#include "support/crash.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <atomic>
#include <cstdio>
#include <cstring>

#include "support/exit_code.h"

namespace adc {
namespace {

constexpr int kInternalErrorStatus = 70;

/// Kernels that run.
std::atomic<uint32_t> running = 0;
std::atomic<bool> handling = false;

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
  if (handling.exchange(true)) Sleep(INFINITE);
  bool in_kernel = running != 0, stack = code == EXCEPTION_STACK_OVERFLOW;
  Say(in_kernel ? "adc: error: " : "adc: internal error: ");
  Say(name);
  if (!in_kernel) {
    Say("\nadc: this is a defect of adc, not of your program; please report it with the input\n");
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

void InstallCrashHandler() {
  ULONG aside = ULONG{32} << 10;
  SetThreadStackGuarantee(&aside);
  AddVectoredExceptionHandler(1, Handle);
}

KernelScope::KernelScope() {
  ++running;
}
KernelScope::~KernelScope() {
  --running;
}

// Reproduction files are the compiler's, which does not run here.
void WriteReproduction() {}

}  // namespace adc
