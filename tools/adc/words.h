#pragma once
// The words of a command line before they are parsed: quotes, response files, and the spelling of compilers
// in that of CLI11.

#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace adc::tool {

/// The words of a text: separated by white space, with '...', "..." and backslash as a shell reads them.
/// False where a quote stays open.
bool SplitWords(std::string_view text, std::vector<std::string>* words);

/// The words in front of `--`, where one of them is a C++ file; those after it are for Clang.
std::vector<std::string> TakeClangArguments(const std::vector<std::string>& words,
                                            std::vector<std::string>* arguments);

/// Replaces each `@file` by the words of that file; response files may name others. False after an error was
/// printed.
bool ExpandResponseFiles(std::vector<std::string>* words);

/// The name that CLI11 has for an option: "--@MD" for "-MD", as it reads one letter after one dash.
std::string RegisteredName(std::string spelling);
/// How users write the option.
std::string SpellingOf(const CLI::Option& option);

/// Respells the words for `app`, each option and each value a word of its own: "-O2" is "-O", "2". The
/// request for help replaces all words. False after an error was printed: of an unknown option, of a value
/// too many or too few.
bool Respell(const CLI::App& app, std::vector<std::string>* words);

}  // namespace adc::tool
