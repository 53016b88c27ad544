#include "driver/pass_runner.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "host/machine.h"
#include "ir/module.h"
#include "support/check.h"
#include "verify/verify.h"

namespace adc::driver {

PassRunner::PassRunner(const WatchOptions& options, diag::Diagnostics& diagnostics,
                       std::function<void(std::string_view)> print)
    : options_(options), diagnostics_(diagnostics), print_(std::move(print)) {}

bool PassRunner::Timed(std::string_view name, const std::function<bool()>& step) {
  if (failed_ || stopped_) return false;
  if (options_.cancelled && options_.cancelled()) {
    cancelled_ = failed_ = true;
    return false;
  }
  if (options_.progress) progress_.Show(name);
  auto begin = std::chrono::steady_clock::now();
  bool ok = step() && !diagnostics_.HasErrors();
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  times_.push_back({std::string(name), taken.count(), PeakBytes()});
  if (!ok) failed_ = true;
  if (options_.stop_after == name) stopped_ = true;
  return ok;
}

void PassRunner::After(std::string_view name, const PipelineState::Version& version) {
  const ir::Module& module = *version.module;
  std::string of = version.targets.empty() ? "" : " for " + version.targets;
  if (Takes(name)) PrintDump("after " + std::string(name) + of, ir::Print(module));
  if (!options_.verify_each || verify::Verify(module, diagnostics_)) return;
  // A module that a pass has broken is our mistake: print the evidence before ending.
  PrintDump(std::string("broken by ") + std::string(name), ir::Print(module));
  for (const diag::Diagnostic& found : diagnostics_.All()) print_(found.text + "\n");
  ADC_UNREACHABLE("a pass left a module that does not verify");
}

bool PassRunner::Run(const Pass& pass, PipelineState& state) {
  if (!Timed(pass.name, [&] { return RunPass(pass, state); })) return false;
  for (const PipelineState::Version& version : state.Modules()) After(pass.name, version);
  return !stopped_;
}

bool PassRunner::Skip(const Pass& pass) {
  stopped_ = stopped_ || options_.stop_after == pass.name;
  return !stopped_;
}

bool PassRunner::Observe(std::string_view name, const std::function<bool()>& step) {
  return Timed(name, step) && !stopped_;
}

void PassRunner::AddTime(std::string name, double seconds) {
  times_.push_back({std::move(name), seconds, PeakBytes()});
}

bool PassRunner::Takes(std::string_view dump) {
  if (std::find(options_.dumps.begin(), options_.dumps.end(), dump) == options_.dumps.end()) return false;
  printed_.emplace(dump);
  return true;
}

void PassRunner::End() {
  progress_.Clear();
  if (failed_ || diagnostics_.HasErrors()) return;
  for (const std::string& dump : options_.dumps) {
    if (printed_.emplace(dump).second) PrintDump(dump + " did not run", "");
  }
}

void PassRunner::PrintDump(std::string_view title, std::string_view text) const {
  std::string page = "// ---- " + std::string(title) + "\n" + std::string(text);
  if (page.back() != '\n') page += '\n';
  print_(page);
}

void PassRunner::PrintTimes() const {
  if (!options_.time_passes) return;
  double total = 0;
  std::string table = "pass                             ms   peak MiB\n";
  char row[128];
  for (const PassTime& time : times_) {
    bool part = time.name.starts_with("  ");
    if (!part) total += time.seconds;
    std::snprintf(row, sizeof row, "%-26s %8.2f %10.1f\n", time.name.c_str(), time.seconds * 1e3,
                  static_cast<double>(time.peak_bytes) / (1 << 20));
    table += row;
  }
  std::snprintf(row, sizeof row, "%-26s %8.2f %10.1f\n", "total", total * 1e3,
                static_cast<double>(PeakBytes()) / (1 << 20));
  print_(table + row);
}

}  // namespace adc::driver
