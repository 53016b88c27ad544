// Bounded runs on Windows: as host/bounded_run.cpp does it, by the system's own threads and counters. A
// stack that is used up is told by the handler of faults (windows/crash.cpp).

#include "host/bounded_run.h"

#define WIN32_LEAN_AND_MEAN
// clang-format off: the second needs the first
#include <windows.h>
#include <psapi.h>
// clang-format on

#include <atomic>

#include "host/bounded_watch.h"
#include "host/crash.h"
#include "host/exit_code.h"

namespace adc {

namespace {

constexpr size_t kLargestStack = size_t{1} << 30;
constexpr size_t kSmallestStack = size_t{8} << 20;

/// The bounded run's thread, and what to say where its stack is used up.
std::atomic<DWORD> bounded_thread = 0;
std::atomic<const std::string*> deep_text = nullptr;

}  // namespace

double ProcessorSeconds() {
  FILETIME begin = {}, end = {}, kernel = {}, user = {};
  GetProcessTimes(GetCurrentProcess(), &begin, &end, &kernel, &user);
  auto ticks = [](FILETIME time) { return uint64_t{time.dwHighDateTime} << 32 | time.dwLowDateTime; };
  return 1e-7 * static_cast<double>(ticks(kernel) + ticks(user));
}

uint64_t ResidentBytes() {
  PROCESS_MEMORY_COUNTERS counters = {};
  counters.cb = sizeof counters;
  return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? counters.WorkingSetSize : 0;
}

/// Needs little of a stack, and no lock of the C library.
void Say(const std::string& text) {
  DWORD written = 0;
  WriteFile(GetStdHandle(STD_ERROR_HANDLE), text.data(), static_cast<DWORD>(text.size()), &written, nullptr);
}

void EndBoundedRun(const std::string& text) {
  Say(text);
  TerminateProcess(GetCurrentProcess(), kExitFailed);
  Sleep(INFINITE);
  __builtin_unreachable();
}

namespace {

DWORD WINAPI RunWork(void* work) {
  AlternateStack for_handlers;
  (*static_cast<const std::function<void()>*>(work))();
  return 0;
}

bool RunOnLargeStack(const std::function<void()>& work) {
  for (size_t stack = kLargestStack; stack >= kSmallestStack; stack /= 2) {
    HANDLE thread = CreateThread(nullptr, stack, RunWork, const_cast<std::function<void()>*>(&work),
                                 STACK_SIZE_PARAM_IS_A_RESERVATION, nullptr);
    if (thread == nullptr) continue;
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
    return true;
  }
  return false;
}

}  // namespace

void RunBounded(const RunBounds& bounds, const std::function<void()>& work) {
  BoundedWatch watch(bounds);
  auto told = [&] {
    deep_text = &bounds.too_deep;
    bounded_thread = GetCurrentThreadId();
    work();
    bounded_thread = 0;
  };
  if (!RunOnLargeStack(told)) work();
}

void RunDeep(const std::function<void()>& work) {
  if (!RunOnLargeStack(work)) work();
}

// The system says that the stack is used up, and not where.
bool SayTooDeep(uintptr_t) {
  if (bounded_thread != GetCurrentThreadId()) return false;
  Say(*deep_text.load());
  return true;
}

}  // namespace adc
