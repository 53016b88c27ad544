#pragma once
// Internal errors: a broken invariant of the compiler itself. Never reached by bad input.

namespace adc {

/// Prints the broken invariant with its place and ends the process with status 70 (EX_SOFTWARE).
[[noreturn]] void InternalError(const char* file, int line, const char* text);
/// Sets the function that InternalError runs after it has printed.
void BeforeInternalErrorsEnd(void (*run)());

}  // namespace adc

#define ADC_CHECK(condition, text)                                    \
  do {                                                                \
    if (!(condition)) ::adc::InternalError(__FILE__, __LINE__, text); \
  } while (false)
#define ADC_UNREACHABLE(text) ::adc::InternalError(__FILE__, __LINE__, text)
