// Everything that a handler needs is made before: the name of the file, its head, the stack. The handler
// opens, writes and ends the process; it neither allocates nor locks.

#include "support/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace adc {

namespace {

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kInternalErrorStatus = 70;

std::atomic<ReproductionScope*> innermost = nullptr;
/// The thread that writes the reproduction file; 0: none yet.
std::atomic<pid_t> failing = 0;

void Say(const char* text) {
  WriteToReproduction(STDERR_FILENO, text, std::strlen(text));
}

const char* NameOf(int number) {
  switch (number) {
    case SIGSEGV:
      return "an invalid access to memory, or a stack that is used up (SIGSEGV)";
    case SIGBUS:
      return "an invalid access to memory (SIGBUS)";
    case SIGILL:
      return "an illegal instruction (SIGILL)";
    case SIGFPE:
      return "an arithmetic fault (SIGFPE)";
    default:
      return "the process aborted itself (SIGABRT)";
  }
}

[[noreturn]] void Handle(int number) {
  Say("adc: internal error: ");
  Say(NameOf(number));
  Say("\nadc: this is a defect of adc, not of your program; please report it with the input\n");
  WriteReproduction();
  _exit(kInternalErrorStatus);
}

// A sanitizer reports crashes itself, and says more.
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ADC_HAS_SANITIZER 1
#endif
#endif
#ifdef ADC_HAS_SANITIZER
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = false;
#endif

}  // namespace

void WriteToReproduction(int file, const char* text, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return;
    text += written;
    size -= static_cast<size_t>(written);
  }
}

void InstallCrashHandler() {
  if (kSanitized) return;
  static AlternateStack stack;
  struct sigaction action = {};
  action.sa_handler = Handle;
  action.sa_flags = SA_ONSTACK | static_cast<int>(SA_RESETHAND);
  sigemptyset(&action.sa_mask);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

AlternateStack::AlternateStack() : memory_(std::make_unique<char[]>(kStackBytes)) {
  stack_t stack = {};
  stack.ss_sp = memory_.get();
  stack.ss_size = kStackBytes;
  sigaltstack(&stack, nullptr);
}

AlternateStack::~AlternateStack() {
  stack_t none = {};
  none.ss_flags = SS_DISABLE;
  sigaltstack(&none, nullptr);
}

ReproductionScope::ReproductionScope(std::string path, std::string head, ReproductionWriter writer,
                                     const void* context)
    : path_(std::move(path)), head_(std::move(head)), writer_(writer), context_(context), outer_(innermost) {
  innermost = this;
}

ReproductionScope::~ReproductionScope() {
  innermost = outer_;
}

void WriteReproduction() {
  pid_t none = 0, self = gettid();
  if (!failing.compare_exchange_strong(none, self)) {
    // A failure within this one: the process ends. Another thread's: that one is to finish its file before.
    while (none != self) pause();
    return;
  }
  const ReproductionScope* scope = innermost;
  if (scope == nullptr) return;
  int file = open(scope->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  Say(file < 0 ? "adc: cannot write the reproduction file " : "adc: the reproduction file is ");
  Say(scope->path_.c_str());
  Say(file < 0 ? "; --repro=FILE names another place\n"
               : ": it holds the input, the command line and the version\n");
  if (file < 0) return;
  WriteToReproduction(file, scope->head_.data(), scope->head_.size());
  scope->writer_(file, scope->context_);
  close(file);
}

}  // namespace adc
