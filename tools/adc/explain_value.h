#pragma once
// The provisions of gradients for the values of a source file, for people: the part of `adc explain` that
// compiles.

#include <string>
#include <vector>

#include "loader.h"

namespace adc::tool {

/// `adc explain relax.ir %a`, `adc explain kernel.cpp:12`.
struct ValueQuestion {
  std::vector<std::string> names;  ///< without '%'; none: all values
  uint32_t line = 0;               ///< 0: any
  std::string kernel = {};         ///< empty: all kernels
  SourceOptions source = {};
  uint32_t checkpoint = 0;  ///< of driver::CompileOptions, as the next one
  bool save_overwritten = false;

  void AddTo(CommandLine& line);
};

/// Takes the names of values and the line of a source file out of the words in front of `--`.
std::vector<std::string> TakeValues(const std::vector<std::string>& words, ValueQuestion* question);

/// Compiles the one file and prints the answer. An exit code.
int ExplainValues(const std::vector<std::string>& files, const ValueQuestion& question, bool json);

}  // namespace adc::tool
