#pragma once
// Figures of each function in a bundle's code: a reviewer looks at them when a golden file changes.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bundle_file.h"

namespace adc::tool {

/// A stack in a row of the heap.
struct RowStack {
  std::string element, formula;  ///< "f32", "max(n, 0)"
  bool operator==(const RowStack&) const = default;
};

/// Of one task's code on one target.
struct CodeFigures {
  std::vector<RowStack> row;             ///< the contents of a row of the heap
  uint64_t stacks = 0;                   ///< those in private memory included
  std::optional<uint64_t> instructions;  ///< Metal: statements
  /// HSACO: vector registers. PTX: virtual registers that are declared. Others do not say.
  std::optional<uint64_t> registers;
  std::optional<uint64_t> bytes;  ///< of machine code, or of the text; not of SPIR-V

  bool operator==(const CodeFigures&) const = default;
};
/// "f32 x n, i1 bits x n"; empty: no row.
std::string RowText(const CodeFigures& figures);

/// By "@kernel, task 0, cuda:sm_80".
using Statistics = std::map<std::string, CodeFigures>;

/// kExitOk, or the exit code after the reason was printed. Code that cannot be read as text has no figures
/// but those of the metadata.
int StatisticsOf(const BundleFile& file, Statistics* statistics);

}  // namespace adc::tool
