#pragma once
// Standard output of the tools. Their output is in part text of bundles from unknown sources: names of files
// in places, code, texts of errors. All of it goes through here, where it is made printable
// (support/printable.h); a field that must not end its line goes through Printable before.

#include <string_view>

#include "support/printable.h"

namespace adc::tool {

/// Like std::printf, with what would drive a terminal made visible.
[[gnu::format(printf, 1, 2)]] void Print(const char* format, ...);

/// Lines of text, made printable.
void PrintLines(std::string_view text);

/// The same to standard error.
[[gnu::format(printf, 1, 2)]] void PrintAside(const char* format, ...);

/// Bytes as they are, for programs that read them.
void PrintRaw(std::string_view bytes);

}  // namespace adc::tool
