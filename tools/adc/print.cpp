#include "print.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "host/terminal.h"

namespace adc::tool {

namespace {

[[gnu::format(printf, 1, 0)]] std::string Formatted(const char* format, std::va_list arguments) {
  std::va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size <= 0) return {};
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, arguments);
  text.pop_back();
  return text;
}

}  // namespace

void PrintRaw(std::string_view bytes) {
  std::fwrite(bytes.data(), 1, bytes.size(), stdout);
}

void PrintLines(std::string_view text) {
  PrintRaw(PrintableLines(text));
}

void Print(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  PrintLines(Formatted(format, arguments));
  va_end(arguments);
}

void PrintAside(const char* format, ...) {
  std::va_list arguments;
  va_start(arguments, format);
  PrintToStandardError(PrintableLines(Formatted(format, arguments)));
  va_end(arguments);
}

}  // namespace adc::tool
