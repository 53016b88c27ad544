#pragma once
// The words of the text that are no operations: for completion, and for the grammars that editors read. The
// parser asks for each where it may stand; tests/checks/keywords.py compares.

#include <algorithm>
#include <iterator>
#include <string_view>

namespace adc::parse {

/// They begin an item.
inline constexpr std::string_view kItemWords[] = {"const", "func", "import", "kernel", "layout", "type"};
/// Of signatures and layouts, beside the attributes of parameters (ir/param_words.h).
inline constexpr std::string_view kSignatureWords[] = {"dense",   "grad",    "jvp",   "saved",
                                                       "scratch", "segment", "trips", "vjp"};
/// Of statements.
inline constexpr std::string_view kStatementWords[] = {
    "apart",  "at",     "atomic", "block",   "carry", "checkpoint", "copies", "cut",   "do",     "either",
    "else",   "in",     "lanes",  "no_wrap", "none",  "or",         "over",   "plain", "reach",  "reversed",
    "serial", "shared", "step",   "steps",   "to",    "turns",      "unroll", "unset", "waking", "workgroup"};
inline constexpr std::string_view kTypeWords[] = {"array", "buffer", "mat", "vec"};
/// Whether '<' and arguments follow the word.
constexpr bool IsTypeWithBrackets(std::string_view word) {
  return std::ranges::find(kTypeWords, word) != std::end(kTypeWords);
}
inline constexpr std::string_view kLiteralWords[] = {"false", "inf", "nan", "true"};

}  // namespace adc::parse
