#pragma once
// The shortest input that gives each message: diag/errors/examples.txt, which tests/docs/check_examples.py
// runs.

#include <string_view>

namespace adc::diag {

struct Example {
  std::string_view text;     ///< files, commands, and what they print
  std::string_view missing;  ///< why there is none, if `text` is empty
};

Example ExampleOf(std::string_view id);

}  // namespace adc::diag
