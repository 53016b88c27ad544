#include "support/check.h"

#include <cstdio>
#include <cstdlib>

#include "support/crash.h"

namespace adc {

void InternalError(const char* file, int line, const char* text) {
  std::fprintf(stderr, "adc: internal error: %s (%s:%d)\n", text, file, line);
  std::fprintf(stderr,
               "adc: this is a defect of adc, not of your program; please report it with the input\n");
  std::fflush(stderr);
  WriteReproduction();
  std::_Exit(70);
}

}  // namespace adc
