// Everything that a handler needs is made before: the name of the file, its head, the stack. The handler
// opens, writes and ends the process; it neither allocates nor locks.

#include "host/crash.h"

#include <fcntl.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include "host/bounded_run.h"
#include "host/exit_code.h"

namespace adc {

namespace {

constexpr size_t kStackBytes = size_t{64} << 10;
constexpr int kInternalErrorStatus = 70;

/// The thread that writes the reproduction file; 0: none yet.
std::atomic<pid_t> failing = 0;

void Say(const char* text) {
  WriteToReproduction(STDERR_FILENO, text, std::strlen(text));
}

/// Whether the access was to the page below a stack: code asks for its frames page by page, so that the first
/// one that is not there lies beside the stack's end.
bool IsBesideStack(uint64_t address, const void* context) {
  constexpr uint64_t kBeside = uint64_t{64} << 10;
  const auto* registers = static_cast<const ucontext_t*>(context);
#if defined(__x86_64__)
  auto stack = static_cast<uint64_t>(registers->uc_mcontext.gregs[REG_RSP]);
#elif defined(__aarch64__)
  uint64_t stack = registers->uc_mcontext.sp;
#else
  uint64_t stack = 0;
#endif
  return stack != 0 && address - (stack - kBeside) < 2 * kBeside;
}

const char* NameOf(int number, bool beside_stack) {
  switch (number) {
    case SIGSEGV:
      return beside_stack ? "a stack was used up (SIGSEGV)" : "an invalid access to memory (SIGSEGV)";
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

/// Kernels that run, and the thread whose signal is handled; 0: none.
std::atomic<uint32_t> running = 0;
std::atomic<pid_t> handling = 0;

[[noreturn]] void Handle(int number, siginfo_t* info, void* context) {
  pid_t none = 0, self = gettid();
  if (!handling.compare_exchange_strong(none, self)) {
    if (none == self) _exit(kInternalErrorStatus);
    // Workers that share a mistake fail at once: the first one says so, and ends the process.
    for (;;) pause();
  }
  if (number == SIGSEGV && SayTooDeep(reinterpret_cast<uintptr_t>(info->si_addr))) _exit(kExitFailed);
  bool beside_stack = number == SIGSEGV && IsBesideStack(reinterpret_cast<uintptr_t>(info->si_addr), context);
  if (running != 0) {
    Say("adc: error: ");
    Say(NameOf(number, beside_stack));
    Say(" while a kernel ran\n");
    Say(beside_stack
            ? "help: local arrays (alloca) of an iteration lie there: make them smaller, or allow more "
              "(ulimit -s)\n"
            : "help: an index out of range does that: --check-bounds finds it, where the .ir file is run "
              "or compiled\n");
    _exit(kExitRunTime);
  }
  Say("adc: internal error: ");
  Say(NameOf(number, beside_stack));
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

bool WriteToReproduction(int file, const char* text, size_t size) {
  while (size > 0) {
    ssize_t written = write(file, text, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

void InstallCrashHandler() {
  signal(SIGXFSZ, SIG_IGN);
  if (kSanitized) return;
  static AlternateStack stack;
  struct sigaction action = {};
  action.sa_sigaction = Handle;
  action.sa_flags = SA_ONSTACK | SA_SIGINFO;
  sigemptyset(&action.sa_mask);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(number, &action, nullptr);
}

KernelScope::KernelScope() {
  ++running;
}

KernelScope::~KernelScope() {
  --running;
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

void WriteReproduction() {
  pid_t none = 0, self = gettid();
  if (!failing.compare_exchange_strong(none, self)) {
    // A failure within this one: the process ends. Another thread's: that one is to finish its file before.
    if (none == self) return;
    for (;;) pause();
  }
  const ReproductionScope* scope = ReproductionScope::innermost_;
  if (scope == nullptr) return;
  int file = open(scope->path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  bool written = file >= 0 && WriteToReproduction(file, scope->head_.data(), scope->head_.size()) &&
                 scope->writer_(file, scope->context_);
  if (file >= 0) {
    // A file system may tell only now that its disk is full.
    written = close(file) == 0 && written;
    if (!written) unlink(scope->path_.c_str());
  }
  Say(written ? "adc: the reproduction file is " : "adc: cannot write the reproduction file ");
  Say(scope->path_.c_str());
  Say(written ? ": it holds the input, the command line and the version\n"
              : "; --repro=FILE names another place\n");
}

}  // namespace adc
