#include "host/terminal.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#if defined(_WIN32)
#include <fcntl.h>
#include <io.h>
#endif

namespace adc {

bool ColorOnStandardError() {
  const char* no_color = std::getenv("NO_COLOR");
  if (no_color != nullptr && no_color[0] != 0) return false;
  const char* terminal = std::getenv("TERM");
  if (terminal != nullptr && std::string_view(terminal) == "dumb") return false;
  return isatty(STDERR_FILENO) == 1;
}

bool LinksOnStandardError() {
  const char* terminal = std::getenv("TERM");
  return ColorOnStandardError() && terminal != nullptr && std::string_view(terminal) != "linux";
}

void UseBytesAsTheyAre() {
#if defined(_WIN32)
  for (std::FILE* stream : {stdin, stdout, stderr}) _setmode(_fileno(stream), _O_BINARY);
#endif
}

void PrintToStandardError(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace adc
