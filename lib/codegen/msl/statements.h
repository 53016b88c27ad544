#pragma once
// The body of a Metal function as a tree of statements, as SPIRV-Cross lays it out: one statement per line,
// braces on lines of their own.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace adc::codegen::msl {

/// Identifiers as numbers, so that looking for one in a statement is cheap.
class Names {
 public:
  uint32_t Of(std::string_view word);
  const std::string& Text(uint32_t name) const { return texts_[name]; }

 private:
  std::unordered_map<std::string, uint32_t> numbers_;
  std::vector<std::string> texts_;
};

enum class Form : uint8_t {
  Declaration,  ///< float _1;
  Definition,   ///< float _1 = value;
  Assignment,   ///< _1 = value;
  Other,        ///< any other statement, also one with a body
};

struct Statement {
  std::string text;             ///< without indentation; of one with a body: the text before the body
  std::vector<uint32_t> names;  ///< that the text mentions
  Form form = Form::Other;
  uint32_t name = 0;  ///< Declaration, Definition, Assignment: of what
  bool has_body = false;
  std::vector<Statement> body;
  std::string tail;  ///< "while (...);" after the body of a `do`
  std::vector<uint32_t> tail_names;
  std::string place;  ///< the directive that says where it comes from; empty: nothing does
};

/// Stands for a directive that says where the line after it stands in the text itself: `FinishLines` writes
/// it.
inline constexpr std::string_view kOwnPlace = "#line own";

/// One statement without a body from its text, and the place of another one.
Statement ParseStatement(std::string_view text, Names& names, std::string_view place = {});

/// The statements of `text`, lines between the braces of a function; false where the layout is another one.
bool ParseBody(std::string_view text, Names& names, std::vector<Statement>& body);

/// Whether a statement, or one inside it, mentions the name.
bool Mentions(const Statement& statement, uint32_t name);

/// Type of a declaration or definition; value of a definition or assignment.
std::string_view TypeOf(const Statement& statement);
std::string_view ValueOf(const Statement& statement);

/// Puts `to` in the place of `from`, everywhere in the statement.
void Rename(Statement& statement, uint32_t from, uint32_t to, Names& names);

/// The statements as text, with opening braces at the end of a line. A statement that has a place stands
/// after its directive, since a directive also gives the place of all later lines, and kOwnPlace after the
/// last of these.
std::string Print(const std::vector<Statement>& body, uint32_t indentation);

/// Takes the first line off `rest`.
std::string_view TakeLine(std::string_view& rest);

/// Where a word stands as a whole in the text, from `from` on; npos: nowhere.
size_t FindWord(std::string_view text, std::string_view word, size_t from);

/// The whole text with directives for kOwnPlace.
std::string FinishLines(std::string_view text);

}  // namespace adc::codegen::msl
