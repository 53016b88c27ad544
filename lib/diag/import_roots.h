#pragma once
// Where the files lie that a text may have read: imports of the IR, includes of C++ and of shaders. A text
// from elsewhere names what it likes, and messages show lines of what was read, so that only files in known
// folders are read at all.

#include <filesystem>
#include <string>
#include <vector>

#include "diag/diagnostics.h"

namespace adc::diag {

class ImportRoots {
 public:
  /// The folder and those below it. One that is not there adds nothing.
  void AddFolder(const std::filesystem::path& folder);
  /// The folder of a file that the user names and, where that is a link, the folder of the file that it leads
  /// to.
  void AddFolderOf(const std::filesystem::path& file);
  /// Whether the file may be read. `canonical` has no links.
  bool Allows(const std::filesystem::path& canonical) const;
  /// E0150: the text asks for the file at `canonical`, which may not be read.
  Diagnostic Refuse(SourceSpan span, const std::string& canonical) const;

 private:
  std::vector<std::filesystem::path> roots_;  ///< canonical, in the order in which they were added
};

/// E0127: `name` of `size` bytes or more does not fit into the text of one compilation.
Diagnostic TextTooLarge(SourceSpan span, const std::string& name, uint64_t size, uint64_t limit);

}  // namespace adc::diag
