#pragma once
// Runs passes and watches them: verifies after each, takes its time, prints the module where asked, stops
// where asked.

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "diag/diagnostics.h"
#include "driver/options.h"
#include "driver/pipeline.h"
#include "host/progress.h"

namespace adc::driver {

/// One row of --time-passes.
struct PassTime {
  std::string name;
  double seconds = 0;
  uint64_t peak_bytes = 0;  ///< largest resident size of the process so far
};

class PassRunner {
 public:
  /// `print` gets dumps and the table of times.
  PassRunner(const WatchOptions& options, diag::Diagnostics& diagnostics,
             std::function<void(std::string_view)> print);

  /// Runs `pass` unless an earlier step failed or was the last one asked for. False when the pipeline ends
  /// here.
  bool Run(const Pass& pass, PipelineState& state);
  /// The same for a step that leaves modules as they are: timed, never verified or printed.
  bool Observe(std::string_view name, const std::function<bool()>& step);
  /// Passes over `pass`, which is not asked for. False where it was the last one to run.
  bool Skip(const Pass& pass);
  /// Adds a row that something else has measured.
  void AddTime(std::string name, double seconds);

  /// Notes a failure that no step returned. Always false.
  bool Fail() {
    failed_ = true;
    return false;
  }
  bool Failed() const { return failed_; }
  bool Cancelled() const { return cancelled_; }
  /// The step of --stop-after has run.
  bool Stopped() const { return stopped_; }
  /// Whether `dump` was asked for; it is then printed.
  bool Takes(std::string_view dump);
  void PrintDump(std::string_view title, std::string_view text) const;
  /// The table of --time-passes; nothing where it was not asked for.
  void PrintTimes() const;
  /// Ends the run: clears the display of progress, and reports each dump that was asked for and has not come,
  /// unless a failure says why.
  void End();

 private:
  bool Timed(std::string_view name, const std::function<bool()>& step);
  /// The steps after a pass that succeeded: dump, verify.
  void After(std::string_view name, const PipelineState::Version& version);

  const WatchOptions& options_;
  diag::Diagnostics& diagnostics_;
  std::function<void(std::string_view)> print_;
  std::vector<PassTime> times_;
  std::set<std::string, std::less<>> printed_;  ///< dumps that were taken
  Progress progress_;
  bool failed_ = false;
  bool cancelled_ = false;
  bool stopped_ = false;
};

}  // namespace adc::driver
