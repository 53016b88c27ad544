#include "host/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <string>

#include "host/terminal.h"

namespace adc {

Progress::Progress() : began_(std::chrono::steady_clock::now()) {
  const char* terminal = std::getenv("TERM");
  terminal_ = isatty(STDERR_FILENO) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

void Progress::Show(std::string_view text) {
  using namespace std::chrono_literals;
  if (!terminal_ || std::chrono::steady_clock::now() - began_ < 500ms) return;
  constexpr size_t kColumns = 78;
  PrintToStandardError("\r\x1b[K" + std::string(text.substr(0, kColumns)));
  shown_ = true;
}

void Progress::Clear() {
  if (shown_) PrintToStandardError("\r\x1b[K");
  shown_ = false;
}

}  // namespace adc
