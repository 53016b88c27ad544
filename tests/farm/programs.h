#pragma once
// The programs of a run: those of the corpus first, then random ones by number. Programs are compiled in
// batches, with one choice of options each: what LLVM does for a module whatever is in it takes longer than a
// kernel.

#include <string>
#include <vector>

#include "driver/options.h"

namespace adc::farm {

struct Program {
  std::string name;        ///< of a file of the corpus, or of a seed and a number
  std::string text;        ///< whose last kernel is compared
  uint64_t arguments = 0;  ///< the seed of its arguments
};

struct Batch {
  driver::CompileOptions options;
  uint32_t workers = 1;
  std::vector<Program> programs;

  /// The choices among the options, as a line of words.
  std::string Words() const;
};

inline constexpr uint64_t kBatch = 16;

/// Files of the corpus, in the order of their names.
std::vector<std::string> CorpusFiles(const std::string& folder);
/// A file of the corpus as it is compiled the time `turn`.
Batch OfCorpus(const std::string& path, uint64_t turn);
inline constexpr uint64_t kTurns = 4;

/// Programs `kBatch` * `number` and those behind it, of the run with this seed.
Batch OfNumber(uint64_t seed, uint64_t number);

}  // namespace adc::farm
