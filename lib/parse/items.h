#pragma once
// The items of one file. Each may be used above its definition, so that files are read in four rounds: items
// are found (imports are parsed at once), then constants, layouts and types are read (definitions.h), then
// all signatures, then all bodies.

#include <deque>
#include <unordered_map>

#include "parse/definitions.h"

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
  diag::SourceSpan name_span = {};
  // Of an instance of a generic function (generics.h): `signature` is after the parameter of the type.
  StringId instance = {};            ///< its name
  std::string_view bound_word = {};  ///< the parameter
  ir::Type bound_type = {};          ///< the type that it stands for
  diag::SourceSpan use = {};         ///< the call that asked for it
  bool is_probe = false;             ///< it is made for its mistakes and types, in no module
};

struct ImportRequest {
  std::string path;
  diag::SourceSpan span;
  const diag::SourceFile* from = nullptr;
};

/// The place where each symbol of the compilation is defined.
using SymbolPlaces = std::unordered_map<StringId, diag::SourceSpan>;

/// The items that reading the files gathers.
struct Gathered {
  std::deque<PendingFunction> functions;
  std::vector<ImportRequest> imports;
  SymbolPlaces symbols;
  SymbolPlaces types;  ///< where each name of a type is defined
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
