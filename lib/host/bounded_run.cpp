#include "host/bounded_run.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>

#include "host/bounded_watch.h"
#include "host/crash.h"
#include "host/exit_code.h"

namespace adc {

namespace {

constexpr size_t kLargestStack = size_t{1} << 30;
constexpr size_t kSmallestStack = size_t{8} << 20;
/// Larger than the frame of any function that does not ask for its frame page by page.
constexpr size_t kGuard = size_t{1} << 20;

/// The data of the handler of a signal: the guard's place, and its message.
std::atomic<uintptr_t> guard_begin = 0;
std::atomic<const std::string*> deep_text = nullptr;

}  // namespace

double ProcessorSeconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

uint64_t ResidentBytes() {
  int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[128] = {};
  ssize_t size = read(file, text, sizeof(text) - 1);
  close(file);
  char* rest = nullptr;
  std::strtoull(text, &rest, 10);
  return size <= 0 ? 0 : std::strtoull(rest, nullptr, 10) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

void EndBoundedRun(const std::string& text) {
  WriteToReproduction(STDERR_FILENO, text.data(), text.size());
  _exit(kExitFailed);
}

namespace {

struct Task {
  const RunBounds& bounds;
  const std::function<void()>& work;
};

void* RunTask(void* pointer) {
  auto* task = static_cast<Task*>(pointer);
  AlternateStack for_handlers;
  pthread_attr_t attributes;
  void* low = nullptr;
  size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
    pthread_attr_getstack(&attributes, &low, &size);
    pthread_attr_destroy(&attributes);
  }
  deep_text = &task->bounds.too_deep;
  // The C library counts the guard to the stack, or not: both places count.
  guard_begin = reinterpret_cast<uintptr_t>(low) - kGuard;
  task->work();
  guard_begin = 0;
  return nullptr;
}

void* RunWork(void* work) {
  AlternateStack for_handlers;
  (*static_cast<const std::function<void()>*>(work))();
  return nullptr;
}

bool RunOnStack(size_t stack, void* (*run)(void*), void* what) {
  pthread_attr_t attributes;
  pthread_t thread = {};
  pthread_attr_init(&attributes);
  bool runs = pthread_attr_setstacksize(&attributes, stack) == 0 &&
              pthread_attr_setguardsize(&attributes, kGuard) == 0 &&
              pthread_create(&thread, &attributes, run, what) == 0;
  pthread_attr_destroy(&attributes);
  if (runs) pthread_join(thread, nullptr);
  return runs;
}

bool RunOnLargeStack(void* (*run)(void*), void* what) {
  for (size_t stack = kLargestStack; stack >= kSmallestStack; stack /= 2)
    if (RunOnStack(stack, run, what)) return true;
  return false;
}

}  // namespace

void RunBounded(const RunBounds& bounds, const std::function<void()>& work) {
  BoundedWatch watch(bounds);
  Task task{bounds, work};
  if (!RunOnLargeStack(RunTask, &task)) work();
}

void RunDeep(const std::function<void()>& work) {
  if (!RunOnLargeStack(RunWork, const_cast<std::function<void()>*>(&work))) work();
}

bool SayTooDeep(uintptr_t address) {
  uintptr_t begin = guard_begin;
  if (begin == 0 || address - begin >= 2 * kGuard) return false;
  const std::string* text = deep_text;
  return WriteToReproduction(STDERR_FILENO, text->data(), text->size());
}

}  // namespace adc
