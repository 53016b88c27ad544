#pragma once
// Text to Module: the one way in.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "diag/diagnostics.h"
#include "ir/module.h"
#include "parse/places.h"

namespace adc::parse {

inline constexpr uint64_t kTextLimit = uint64_t{256} << 20;

struct ParseConfig {
  /// Where imports are looked for, after the folder of the importing file.
  std::vector<std::string> include_dirs = {};
  /// Folders that imports may come from beside those and the folders of the inputs, links looked through.
  std::vector<std::string> import_dirs = {};
  /// `NAME=VALUE`: the value of a `const` or `type` of the text, instead of its own.
  std::vector<std::string> defines = {};
  bool unused_defines = false;  ///< those may be among them that the text has no name for
  /// Where set, imports are asked of it and no file is read: the text at `path`, as the import names it.
  std::function<bool(const std::string& path, std::string* text)> import_text = {};
  Places* places = nullptr;  ///< where set, gets where names stand
  /// Most bytes of text in one compilation, imports included.
  uint64_t text_limit = kTextLimit;
};

/// Parses `text` and, transitively, the files that it imports (each once; a cycle is fine), and resolves
/// every name. Reports errors to `diagnostics` and goes on after them; a module that had some is fit for
/// Verify alone, which passes over the functions that are `broken`. `dependencies`, where given, gets the
/// path of every file read, in the order of reading. An import that leads outside of the folders of the
/// inputs and of `config` is refused unread. Null only when nothing could be read at all.
std::unique_ptr<ir::Module> ParseText(std::string name, std::string text, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies = nullptr);
/// The same for a file; `path` is also the name that messages show.
std::unique_ptr<ir::Module> ParseFile(const std::string& path, const ParseConfig& config,
                                      diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                      std::vector<std::string>* dependencies = nullptr);

/// Several texts as one module, each with the name that messages show.
std::unique_ptr<ir::Module> ParseTexts(const std::vector<std::pair<std::string, std::string>>& texts,
                                       const ParseConfig& config, diag::SourceManager& sources,
                                       diag::Diagnostics& diagnostics);

/// Several files as one module, in this order, none of them as an import of another.
std::unique_ptr<ir::Module> ParseFiles(const std::vector<std::string>& paths, const ParseConfig& config,
                                       diag::SourceManager& sources, diag::Diagnostics& diagnostics,
                                       std::vector<std::string>* dependencies = nullptr);

}  // namespace adc::parse
