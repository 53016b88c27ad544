#include "support/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

namespace adc {

namespace {

std::atomic<void (*)()> before_end = nullptr;

}  // namespace

void BeforeInternalErrorsEnd(void (*run)()) {
  before_end = run;
}

void InternalError(const char* file, int line, const char* text) {
  std::fprintf(stderr, "adc: internal error: %s (%s:%d)\n", text, file, line);
  std::fprintf(stderr,
               "adc: this is a defect of adc, not of your program; please report it with the input\n");
  std::fflush(stderr);
  if (void (*run)() = before_end) run();
  std::_Exit(70);
}

}  // namespace adc
