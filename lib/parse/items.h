#pragma once
// The items of one file. A function may be used above its definition, and so may a layout or constant, so
// that a file is read in three rounds: its items are found (imports, constants and layouts are parsed at
// once, bodies passed over), then all signatures are parsed, then all bodies.

#include <unordered_map>

#include "parse/token_stream.h"

namespace adc::parse {

/// A function whose signature or body is still to be parsed.
struct PendingFunction {
  const diag::SourceFile* file = nullptr;
  ir::FunctionKind kind = ir::FunctionKind::Function;
  uint32_t signature = 0;  ///< offset after `kernel` or `func`
  uint32_t body = 0;       ///< offset of the '{'
  uint32_t end = 0;        ///< offset after the '}'
  size_t item = 0;         ///< position in Module::items
  std::vector<StringId> comments = {};
  ir::Function* function = nullptr;
  std::vector<diag::SourceSpan> param_spans = {};
  bool bad_signature = false;
};

struct ImportRequest {
  std::string path;
  diag::SourceSpan span;
  const diag::SourceFile* from = nullptr;
};

/// Where each symbol of the compilation is defined.
using SymbolPlaces = std::unordered_map<StringId, diag::SourceSpan>;

/// What reading the files gathers.
struct Gathered {
  std::vector<PendingFunction> functions;
  std::vector<ImportRequest> imports;
  SymbolPlaces symbols;
  /// Functions that a symbol which is taken already would name: parsed for their mistakes, in no module.
  std::vector<std::unique_ptr<ir::Function>> strays;
  /// Names of functions whose signature has errors: calls of them are not judged.
  std::unordered_map<StringId, bool> unsure;
};

/// Round one for one file.
void FindItems(Shared& shared, const diag::SourceFile& file, bool imported, Gathered& gathered);
/// Round two for one function: makes it, with its parameters.
void ParseSignature(Shared& shared, PendingFunction& pending, Gathered& gathered);

}  // namespace adc::parse
