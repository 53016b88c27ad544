#pragma once
// One line on a terminal that says what takes so long; nothing in a pipe, and nothing for what is quick.

#include <chrono>
#include <string_view>

namespace adc {

class Progress {
 public:
  Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { Clear(); }

  /// Shows `text` in place of what was shown, once half a second has passed since the start.
  void Show(std::string_view text);
  /// Takes the line away, before anything else is printed.
  void Clear();

 private:
  bool terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace adc
