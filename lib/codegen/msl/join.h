#pragma once
// Joins Metal texts of single entry points into one.
//
// Requires: texts as SPIRV-Cross lays them out: directives and `using` lines first, then declarations, each
// ending with a line that is `}`, `};` or ends with `;` in the first column's depth. Guarantees: a
// declaration that several texts share is written once; two that share a name and differ are told apart.

#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

namespace adc::codegen {

class MslJoiner {
 public:
  /// Appends the declarations of `text` that are new; `translated_name` is the name of its kernel in it,
  /// `symbol` the new name, `block_size` the most threads of a launch (0: none is stated).
  void Add(std::string_view text, std::string_view translated_name, std::string_view symbol,
           uint32_t block_size);
  /// No product and sum become one operation but where the text says fma.
  void ForbidContraction() { contraction_ = false; }
  /// The joined text with its preamble.
  std::string Finish() const;

 private:
  std::set<std::string> written_;
  std::unordered_map<std::string, uint32_t> names_;  ///< declared name: how many declarations carry it
  std::string declarations_;
  bool contraction_ = true;
};

}  // namespace adc::codegen
