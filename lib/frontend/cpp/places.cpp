#include "frontend/cpp/places.h"

#include <clang/Lex/Lexer.h>

namespace adc::frontend {

uint32_t Places::BaseOf(clang::FileID file) {
  auto [known, fresh] = bases_.try_emplace(file, 0);
  if (!fresh) return known->second;
  clang::OptionalFileEntryRef entry = clang_.getFileEntryRefForID(file);
  std::string name =
      entry ? entry->getName().str() : clang_.getBufferOrFake(file).getBufferIdentifier().str();
  return known->second = sources_.AddFile(std::move(name), clang_.getBufferData(file).str());
}

diag::SourceSpan Places::Of(clang::SourceRange range) {
  if (range.isInvalid()) return {};
  clang::SourceLocation begin = clang_.getFileLoc(range.getBegin());
  clang::SourceLocation end = clang_.getFileLoc(range.getEnd());
  auto [file, offset] = clang_.getDecomposedLoc(begin);
  auto [end_file, end_offset] = clang_.getDecomposedLoc(end);
  uint32_t base = BaseOf(file);
  if (base == 0) return {};
  uint32_t length = clang::Lexer::MeasureTokenLength(end, clang_, language_);
  if (end_file != file || end_offset < offset) {
    end_offset = offset;
    length = clang::Lexer::MeasureTokenLength(begin, clang_, language_);
  }
  return {base + offset, base + end_offset + length};
}

bool Places::InSystemHeader(clang::SourceLocation location) const {
  if (location.isInvalid()) return false;
  location = clang_.getExpansionLoc(location);
  // Also where a -I leads to it.
  llvm::StringRef name = clang_.getFilename(location);
  return clang_.isInSystemHeader(location) || name.ends_with("adc/kernel.hpp") ||
         name.ends_with("adc/blocks.hpp");
}

}  // namespace adc::frontend
