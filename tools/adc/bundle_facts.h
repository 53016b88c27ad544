#pragma once
// The facts that a bundle states, which can be compared one by one.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "bundle_file.h"

namespace adc::tool {

/// The subject of a fact: `adc diff --only` and `--ignore` choose by it.
enum class FactGroup : uint8_t {
  Interface,  ///< the arguments that a caller gives
  Tasks,      ///< launches, and how code is entered
  Sizes,      ///< stacks, scratch buffers, layouts
  Targets,    ///< targets, and their needs
  Code,       ///< the code itself
  Places,     ///< places in the source, names of sources, source maps
  Producer,   ///< the maker
  Other,      ///< the rest of the metadata, as a whole
};
inline constexpr std::string_view kFactGroups[] = {"interface", "tasks",  "sizes",    "targets",
                                                   "code",      "places", "producer", "other"};

struct Fact {
  FactGroup group;
  std::string text;
  std::vector<std::string> formulas = {};  ///< formulas that stand in the text, in its order
};
/// Orders titles: numbers in them by their values, all else by bytes.
struct TitleOrder {
  bool operator()(std::string_view a, std::string_view b) const;
};
/// By a title that says what it is of: "kernel @relax, task 0".
using Facts = std::map<std::string, Fact, TitleOrder>;

/// The fact that stands for all metadata but places and producer, so that every fact that decides is in.
inline constexpr std::string_view kRestOfMetadata = "metadata";

/// Everything but the code, which compare_code.h compares. kExitOk, or the exit code after the reason was
/// printed.
int FactsOf(const BundleFile& file, Facts* facts);

/// "kernel @relax.grad, task 1"
std::string TaskTitle(const artifact::KernelMeta& kernel, size_t task);

}  // namespace adc::tool
