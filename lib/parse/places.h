#pragma once
// Where the names of a text stand, for editors: the parser writes down what it resolves.

#include <unordered_map>
#include <vector>

#include "diag/source.h"
#include "ir/type.h"
#include "support/string_pool.h"

namespace adc::parse {

/// A value's name, where it is defined or used.
struct ValuePlace {
  diag::SourceSpan span;        ///< with its '%', without a component after it
  diag::SourceSpan definition;  ///< of the name that it means; the same as `span` where it is defined
  ir::Type type;                ///< none after an error
  uint32_t scope_end = 0;       ///< of a definition: where the region ends in which it is visible
  bool IsDefinition() const { return span == definition; }
};

struct Places {
  /// In the order of reading. The body of a generic function is read for each of its types.
  std::vector<ValuePlace> values;
  std::unordered_map<StringId, diag::SourceSpan>
      symbols;                                           ///< where functions, constants and layouts are named
  std::unordered_map<StringId, diag::SourceSpan> types;  ///< where names of types are defined
};

}  // namespace adc::parse
