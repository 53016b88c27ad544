#pragma once
// Clang's places as places of the compilation.

#include <clang/Basic/SourceManager.h>

#include <map>

#include "diag/source.h"

namespace adc::frontend {

/// Enters the files that places lie in into a SourceManager, each when the first place in it is asked for.
class Places {
 public:
  Places(diag::SourceManager& sources, const clang::SourceManager& clang, const clang::LangOptions& language)
      : sources_(sources), clang_(clang), language_(language) {}

  /// Of a macro's text: the place where the macro is used, or of its argument.
  diag::SourceSpan Of(clang::SourceRange range);
  diag::SourceSpan Of(clang::SourceLocation location) { return Of(clang::SourceRange(location)); }
  bool InSystemHeader(clang::SourceLocation location) const;

 private:
  uint32_t BaseOf(clang::FileID file);

  diag::SourceManager& sources_;
  const clang::SourceManager& clang_;
  const clang::LangOptions& language_;
  std::map<clang::FileID, uint32_t> bases_;
};

}  // namespace adc::frontend
