#include "product/header_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "support/letters.h"

namespace adc::product {

namespace {

constexpr std::array<std::string_view, 119> kTaken = {
    // C and C++
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break", "case", "catch",
    "char", "class", "compl", "concept", "const", "const_cast", "consteval", "constexpr", "constinit",
    "continue", "co_await", "co_return", "co_yield", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for", "friend", "goto",
    "if", "inline", "int", "long", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
    "operator", "or", "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast", "struct",
    "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef", "typeid", "typename",
    "typeof", "typeof_unqual", "union", "unsigned", "using", "virtual", "void", "volatile", "while", "xor",
    "xor_eq",
    // macros of standard headers, of compilers and of Windows, and namespaces
    "NULL", "EOF", "BUFSIZ", "errno", "stdin", "stdout", "stderr", "assert", "complex", "imaginary", "I",
    "noreturn", "offsetof", "unix", "linux", "i386", "near", "far", "interface", "small", "INFINITY", "NAN",
    "HUGE_VAL", "FILENAME_MAX", "NDEBUG", "std", "adc", "adrt"};

bool IsTaken(std::string_view word) {
  if (std::ranges::find(kTaken, word) != kTaken.end()) return true;
  for (std::string_view begin : {"adc_", "ADC_", "adrt_", "ADRT_"}) {
    if (word.starts_with(begin)) return true;
  }
  for (std::string_view end : {"_t", "_MAX", "_MIN", "_WIDTH", "_C"}) {
    if (word.ends_with(end)) return true;
  }
  // Reserved for compilers.
  return word.size() > 1 && word[0] == '_' && (word[1] == '_' || (word[1] >= 'A' && word[1] <= 'Z'));
}

}  // namespace

std::string HeaderIdentifier(std::string_view name) {
  std::string word;
  for (char letter : name) {
    word += IsNameCharacter(letter) ? letter : '_';
  }
  return word;
}

std::string HeaderMember(std::string_view name) {
  std::string word = HeaderIdentifier(name);
  if (word.empty() || IsDigit(word[0])) word.insert(0, "_");
  return IsTaken(word) ? word + "_" : word;
}

std::string HeaderScope::Unique(std::string_view word, const std::vector<std::string>& endings) {
  std::string candidate(word);
  for (uint32_t number = 2;; ++number) {
    bool is_free = std::ranges::none_of(
        endings, [&](const std::string& ending) { return taken_.contains(candidate + ending); });
    if (is_free) break;
    candidate = std::string(word) + "_" + std::to_string(number);
  }
  for (const std::string& ending : endings) taken_.insert(candidate + ending);
  return candidate;
}

}  // namespace adc::product
