#pragma once
// The type of a carried value that begins with a literal alone.
//
//   %r = for %t in 0..9 carry(%s = 0.0) {      %s is an f32, unless its use says otherwise:
//     %next = add %s, %x                       with an %x of f64 the literal is one, too
//     yield %next
//   }
//
// The use comes after the literal. So a body is parsed with the usual type first; where that leads to errors,
// the parser learns the types of carried literals from them, and parses the body once more.

#include <unordered_map>

#include "ir/function.h"

namespace adc::parse {

class CarriedLiterals {
 public:
  /// The type of the literal at an offset of the text; none: nothing was learned of it.
  ir::Type TypeAt(uint32_t offset) const {
    auto known = types_.find(offset);
    return known == types_.end() ? ir::kNoType : known->second;
  }
  /// The first that is learned of a literal counts.
  void Learn(uint32_t offset, ir::Type type) { learned_ = types_.emplace(offset, type).second || learned_; }
  /// Whether something was learned since the last question.
  bool TakeLearned() { return std::exchange(learned_, false); }

 private:
  std::unordered_map<uint32_t, ir::Type> types_;
  bool learned_ = false;
};

}  // namespace adc::parse
