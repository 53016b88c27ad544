#pragma once
// Programs in turn, in processes of their own, so that one that ends its process is one report more.

#include <cstdint>
#include <string>
#include <vector>

#include "tally.h"

namespace adc::farm {

struct RunOptions {
  uint64_t seed = 1;
  uint64_t first = 0, count = 100;  ///< of batches
  double seconds = 0;               ///< the run ends after so long; 0: with its last program
  uint32_t jobs = 1;
  std::vector<std::string> corpus;   ///< files, run before all others
  std::string found = "farm-found";  ///< folder for programs that differ
  std::string state;                 ///< file that says how far the run came; empty: none
  double tick = 5;                   ///< seconds between lines of progress
};

struct RunEnd {
  Tally tally;
  uint64_t next = 0;  ///< number of the first batch that did not run
};

/// Runs the programs; prints progress and, as they are found, differences. `before`: what an earlier run with
/// the same state counted.
RunEnd RunPrograms(const RunOptions& options, const Tally& before);

}  // namespace adc::farm
