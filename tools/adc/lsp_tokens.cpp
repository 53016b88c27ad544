#include "lsp_tokens.h"

#include <algorithm>

namespace adc::tool {

using parse::Token, parse::TokenKind;

std::vector<Token> TokensOf(const diag::SourceFile& file) {
  diag::Diagnostics unheard;
  parse::Lexer lexer(file, 0, static_cast<uint32_t>(file.text.size()), unheard);
  lexer.SetQuiet(true);
  std::vector<Token> tokens;
  for (Token token = lexer.Next(); token.kind != TokenKind::End; token = lexer.Next()) {
    lexer.TakeComments();
    tokens.push_back(token);
  }
  return tokens;
}

/// The token that holds `offset`, or else ends there; the position past the last one where none does.
size_t TokenAt(const std::vector<Token>& tokens, size_t offset) {
  auto after = std::upper_bound(tokens.begin(), tokens.end(), offset,
                                [](size_t at, const Token& token) { return at < token.begin; });
  if (after == tokens.begin()) return tokens.size();
  auto at = static_cast<size_t>(after - tokens.begin()) - 1;
  if (offset == tokens[at].begin && at > 0 && tokens[at - 1].end == offset &&
      tokens[at].kind != TokenKind::Word && tokens[at].kind != TokenKind::ValueName &&
      tokens[at].kind != TokenKind::Symbol)
    --at;
  return offset <= tokens[at].end ? at : tokens.size();
}

}  // namespace adc::tool
