#pragma once
// Text to Module: the one way in.

#include <memory>
#include <string>
#include <vector>

#include "diag/diagnostics.h"
#include "ir/module.h"

namespace adc::parse {

struct ParseConfig {
  /// Where imports are looked for, after the folder of the importing file.
  std::vector<std::string> include_dirs = {};
};

/// Parses `text` and, transitively, the files that it imports (each once; a cycle is fine), and resolves
/// every name. Reports errors to `diagnostics` and goes on after them; a module that had some is fit for
/// Verify alone, which passes over the functions that are `broken`. `dependencies`, where given, gets the
/// path of every file read, in the order of reading. Null only when nothing could be read at all.
std::unique_ptr<ir::Module> ParseText(std::string name, std::string text, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies = nullptr);
/// The same for a file; `path` is also the name that messages show.
std::unique_ptr<ir::Module> ParseFile(const std::string& path, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies = nullptr);

/// Several files as one module, in this order, none of them as an import of another.
std::unique_ptr<ir::Module> ParseFiles(const std::vector<std::string>& paths, const ParseConfig& config,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies = nullptr);

}  // namespace adc::parse
