#pragma once
// Grammars by which editors colour texts of the IR, made of the parser's words and of the table of
// operations.

#include <string>

/// For Visual Studio Code and other programs that read the grammars of TextMate.
std::string TextMateGrammar();
std::string VimSyntax();
