#pragma once
// The names of a C header: words of C and of C++ for names of the IR, each once.

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace adc::product {

/// Letters, digits and underscores, with every other byte as an underscore.
std::string HeaderIdentifier(std::string_view name);

/// HeaderIdentifier of a name that stands alone, as a member or a namespace. An underscore follows a
/// word that C or C++ has taken, that begins as the header's own names do, or that a header of a system may
/// define as a macro.
std::string HeaderMember(std::string_view name);

/// Makes words unique within one scope: "x.adj" and "x_adj" may stand side by side.
class HeaderScope {
 public:
  /// `word`, or the first of word_2, word_3 ... that is free.
  std::string Unique(std::string_view word) { return Unique(word, {""}); }
  /// The same for a word that names begin with: free is the word for which all of word + ending are.
  std::string Unique(std::string_view word, const std::vector<std::string>& endings);

 private:
  std::set<std::string> taken_;
};

}  // namespace adc::product
