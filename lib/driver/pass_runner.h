#pragma once
// Runs passes and watches them: verifies after each, takes its time, prints the module where asked, stops
// where asked.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "driver/progress.h"
#include "ir/module.h"
#include "transform/pass.h"

namespace adc::driver {

/// One row of --time-passes.
struct PassTime {
  std::string name;
  double seconds = 0;
  uint64_t peak_kib = 0;  ///< largest resident size of the process so far
};

/// Names of the steps, in the order in which they run: what --dump and --stop-after take.
std::vector<std::string_view> PassNames();

class PassRunner {
 public:
  /// `print` gets dumps and the table of times.
  PassRunner(const WatchOptions& options, diag::Diagnostics& diagnostics,
             std::function<void(std::string_view)> print);

  /// Runs `pass` over `module` unless an earlier step failed or was the last one asked for. `pass` returns
  /// false after it has reported. False when the pipeline ends here.
  bool Run(std::string_view name, const ir::Module& module, const std::function<bool()>& pass);
  /// The same for a step that leaves the module as it is: timed, never verified or printed.
  bool Observe(std::string_view name, const std::function<bool()>& step);
  /// Watches a sequence of passes that runs itself.
  transform::PassObserver Observer();
  /// Adds a row that something else has measured.
  void AddTime(std::string name, double seconds);

  /// Notes a failure that no step returned. Always false.
  bool Fail() {
    failed_ = true;
    return false;
  }
  bool Failed() const { return failed_; }
  /// The step of --stop-after has run.
  bool Stopped() const { return stopped_; }
  bool Wants(std::string_view dump) const;
  void PrintDump(std::string_view title, std::string_view text) const;
  /// The table of --time-passes; nothing where it was not asked for.
  void PrintTimes() const;
  /// Nothing more will run: what is shown of progress goes.
  void End() { progress_.Clear(); }

 private:
  bool Timed(std::string_view name, const std::function<bool()>& step);
  /// What follows a pass that succeeded: dump, verify. False where the pipeline stops here.
  bool After(std::string_view name, const ir::Module& module);

  const WatchOptions& options_;
  diag::Diagnostics& diagnostics_;
  std::function<void(std::string_view)> print_;
  std::vector<PassTime> times_;
  Progress progress_;
  std::chrono::steady_clock::time_point pass_began_;
  bool failed_ = false;
  bool stopped_ = false;
};

}  // namespace adc::driver
