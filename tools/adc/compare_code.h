#pragma once
// Where the code of two bundles differs, function by function.

#include <string>
#include <vector>

#include "bundle_file.h"

namespace adc::tool {

struct CodeDifference {
  std::string subject;               ///< "kernel @relax, task 0", "section OBJ_ cpu:x86-64"
  std::vector<std::string> targets;  ///< on which it differs; none for a section that one bundle lacks
  std::string first, second;         ///< of such a section: its content in each bundle, empty for none
  std::string text;                  ///< unified differences of the functions' texts, where asked for
};

/// Compares each function of a task on each target that both bundles have. A difference in no function of a
/// task, such as constants in memory, is one difference of all targets. Functions of tasks that one bundle
/// lacks are none here. kExitOk, or the exit code after the reason was printed.
int CompareCode(const BundleFile& first, const BundleFile& second, bool with_text,
                std::vector<CodeDifference>* differences);

}  // namespace adc::tool
