#include "frontend/glsl/rewrite.h"

#include <map>

#include "diag/errors/shader.h"
#include "frontend/glsl/code.h"
#include "support/letters.h"

namespace adc::frontend::glsl {
namespace {

constexpr std::string_view kAttribute = "vk::push_constant";

/// The first position from `at` on that is no blank, at most the end.
size_t Skip(const std::string& code, size_t at) {
  return std::min(code.find_first_not_of(kBlanks, at), code.size());
}

size_t EndOfWord(const std::string& code, size_t at) {
  while (at < code.size() && (IsNameCharacter(code[at]) || code[at] == ':')) ++at;
  return at;
}

class PushConstantRewriter {
 public:
  explicit PushConstantRewriter(std::string& text) : text_(text), code_(CodeOf(text)) {}

  /// The places of the attributes that could not be rewritten.
  std::vector<size_t> Rewrite() {
    std::vector<size_t> misread;
    for (size_t at = code_.find(kAttribute); at != std::string::npos; at = code_.find(kAttribute, at + 1)) {
      if (!RewriteOne(at)) misread.push_back(at);
    }
    // From the end on, so that positions stay right.
    for (auto edit = insertions_.rbegin(); edit != insertions_.rend(); ++edit)
      text_.insert(edit->first, edit->second);
    return misread;
  }

 private:
  bool RewriteOne(size_t at) {
    if (code_[Skip(code_, code_.rfind('\n', at) + 1)] == '#') return false;
    size_t begin = Skip(code_, std::min(code_.find("]]", at), code_.size() - 2) + 2);
    while (code_.compare(begin, 2, "[[") == 0)
      begin = Skip(code_, std::min(code_.find("]]", begin), code_.size() - 2) + 2);
    for (size_t end = EndOfWord(code_, begin); end > begin; end = EndOfWord(code_, begin)) {
      std::string word = code_.substr(begin, end - begin);
      if (word == "cbuffer" || word == "ConstantBuffer") return true;
      size_t next = Skip(code_, end);
      if (word == "const" || word == "uniform") {
        Blank(text_, {begin, end});
      } else if (word == "struct") {
        size_t after = Skip(code_, EndOfWord(code_, next));
        if (after < code_.size() && code_[after] == '{') return RewriteStructure(at, end, next, after);
        Blank(text_, {begin, end});
      } else {
        if (!IsVariable(next)) return false;
        insertions_[begin] += "ConstantBuffer<";
        insertions_[end] += ">";
        return true;
      }
      begin = next;
    }
    return false;
  }

  /// A name, and the end of the declaration after it.
  bool IsVariable(size_t at) const {
    size_t end = EndOfWord(code_, at), next = Skip(code_, end);
    return end > at && next < code_.size() && code_[next] == ';';
  }

  /// `[[vk::push_constant]] struct Params { ... } p;`: first the structure, then the buffer.
  bool RewriteStructure(size_t attribute, size_t after_word, size_t name, size_t open) {
    size_t close = open;
    for (int depth = 0; close < code_.size(); ++close) {
      depth += code_[close] == '{' ? 1 : code_[close] == '}' ? -1 : 0;
      if (depth == 0) break;
    }
    if (close >= code_.size() || !IsVariable(Skip(code_, close + 1))) return false;
    size_t left = code_.rfind("[[", attribute), right = code_.find("]]", attribute);
    bool alone = left != std::string::npos && Skip(code_, left + 2) == attribute &&
                 Skip(code_, attribute + kAttribute.size()) == right;
    if (!alone) return false;
    std::string given = code_.substr(name, EndOfWord(code_, name) - name);
    if (given.empty()) {
      given = "adc_push_constants";
      insertions_[after_word] += " " + given;
    }
    Blank(text_, {left, right + 2});
    insertions_[close + 1] += "; [[vk::push_constant]] ConstantBuffer<" + given + "> ";
    return true;
  }

  std::string& text_;
  std::string code_;  ///< the text as it came, with blanks for comments
  std::map<size_t, std::string> insertions_;
};

}  // namespace

bool RewritePushConstants(std::string& text, uint32_t base, diag::Diagnostics& diagnostics) {
  std::vector<size_t> misread = PushConstantRewriter(text).Rewrite();
  for (size_t at : misread) {
    auto first = static_cast<uint32_t>(base + at);
    diagnostics
        .Error(diag::E0850, {first, first + static_cast<uint32_t>(kAttribute.size())},
               "push constants are a 'cbuffer', a 'ConstantBuffer' or a variable of a structure")
        .AddHelp("write [[vk::push_constant]] ConstantBuffer<TYPE> NAME;");
  }
  return misread.empty();
}

bool TakePragmaOnce(std::string& text) {
  std::string code = CodeOf(text);
  bool any = false;
  for (size_t at = code.find('#'); at != std::string::npos; at = code.find('#', at + 1)) {
    size_t before = code.find_last_not_of(" \t", at == 0 ? 0 : at - 1);
    if (at > 0 && before != std::string::npos && code[before] != '\n') continue;
    size_t word = code.find_first_not_of(" \t", at + 1);
    if (word == std::string::npos || code.compare(word, 6, "pragma") != 0) continue;
    size_t once = code.find_first_not_of(" \t", word + 6);
    if (once == std::string::npos || code.compare(once, 4, "once") != 0) continue;
    size_t end = std::min(code.find('\n', once), code.size());
    if (code.find_first_not_of(" \t\r", once + 4) < end) continue;
    Blank(text, {at, end});
    any = true;
  }
  return any;
}

}  // namespace adc::frontend::glsl
