#pragma once
// The text of a number to the bits of a type, or the reason why the type cannot hold it.

#include <string>
#include <string_view>

#include "ir/type.h"

namespace adc::parse {

struct LiteralBits {
  bool good = false;
  uint64_t bits = 0;        ///< in the form of ir::ConstantData
  std::string reason = {};  ///< why it is not good
  std::string help = {};
};

/// The literals that are words: `true`, `false`, `inf`, `nan`.
bool IsLiteralWord(std::string_view word);

/// `text` is `true`, `false`, `inf`, `nan`, or a number as the lexer reads it. An integer may stand for a
/// float that holds it exactly; floats are rounded to nearest, and must neither overflow nor vanish.
LiteralBits ReadLiteral(std::string_view text, ir::Scalar type);

/// A plain non-negative integer such as an extent or an axis; false where `text` is none or exceeds `limit`.
bool ReadCount(std::string_view text, uint64_t limit, uint64_t* value);

}  // namespace adc::parse
