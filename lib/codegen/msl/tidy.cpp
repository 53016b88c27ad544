#include "codegen/msl/tidy.h"

#include <algorithm>
#include <cstddef>

#include "codegen/msl/statements.h"
#include "support/letters.h"

// A conditional value, as it comes and as it goes:
//
//   float _7;                              float _7 = 0.0;
//   float _8;                              if (_3) {
//   if (_3)                                    _7 = x.at[_2] * _5;
//   {                                          y.at[_2] = _7;
//       float _6 = x.at[_2] * _5;          }
//       y.at[_2] = _6;
//       _7 = _6;
//   }
//   else
//   {
//       _7 = 0.0;
//   }
//
// Four steps, innermost block first. A declaration moves down to the first assignment of its block and takes
// its value (SinkDeclarations). A plain value that a branch ends with is given before the branch instead
// (HoistPlainValues): the variable is declared in the block of the `if` and not mentioned in between, so no
// statement sees it early. A temporary that a branch ends with copying takes the name of the variable
// (MergeCopies): the branch mentions the variable nowhere else, and does not leave before the copy. Results
// that no statement reads are dropped, and neighbouring declarations of one type share a line.

namespace adc::codegen::msl {
namespace {

constexpr size_t kLineWidth = 110;

/// A literal or a variable.
bool IsPlain(std::string_view value) {
  return !value.empty() &&
         std::all_of(value.begin(), value.end(), [](char c) { return IsNameCharacter(c) || c == '.'; });
}

bool Leaves(const Statement& statement) {
  if (statement.text == "break;" || statement.text == "continue;" || statement.text.starts_with("return")) {
    return true;
  }
  return std::any_of(statement.body.begin(), statement.body.end(), Leaves);
}

/// Whether the statement, or one inside it, makes or changes the variable.
bool Assigns(const Statement& statement, uint32_t name) {
  if (statement.form != Form::Other && statement.name == name) return true;
  // The head of a loop may assign what it mentions.
  if (statement.form == Form::Other && !statement.text.starts_with("if (") &&
      std::binary_search(statement.names.begin(), statement.names.end(), name)) {
    return true;
  }
  return std::any_of(statement.body.begin(), statement.body.end(),
                     [name](const Statement& inner) { return Assigns(inner, name); });
}

class Tidier {
 public:
  explicit Tidier(Names& names) : names_(names) {}

  void Tidy(std::vector<Statement>& block) {
    for (Statement& statement : block) {
      if (statement.has_body) Tidy(statement.body);
    }
    DropUnread(block);
    for (Statement& statement : block) {
      if (IsIf(statement) || IsElse(statement)) MergeCopies(statement.body);
    }
    for (size_t at = 0; at < block.size(); ++at) {
      if (IsIf(block[at])) at = HoistPlainValues(block, at);
    }
    SinkDeclarations(block);
  }

  void ShareLines(std::vector<Statement>& block) {
    for (Statement& statement : block) ShareLines(statement.body);
    std::vector<Statement> shared;
    for (size_t at = 0; at < block.size();) {
      size_t end = at;
      while (end < block.size() && CanShare(block[end])) ++end;
      if (end == at) {
        shared.push_back(std::move(block[at++]));
        continue;
      }
      JoinDeclarations(
          {block.begin() + static_cast<std::ptrdiff_t>(at), block.begin() + static_cast<std::ptrdiff_t>(end)},
          shared);
      at = end;
    }
    block = std::move(shared);
  }

 private:
  static bool IsIf(const Statement& s) { return s.has_body && s.text.starts_with("if ("); }
  static bool IsElse(const Statement& s) { return s.has_body && s.text == "else"; }

  /// Drops declarations that no statement reads, and results of atomics that no statement reads: these are
  /// called all the same.
  void DropUnread(std::vector<Statement>& block) {
    for (size_t at = block.size(); at-- > 0;) {
      Statement& statement = block[at];
      bool atomic = statement.form == Form::Definition && ValueOf(statement).starts_with("atomic");
      if (statement.form != Form::Declaration && !atomic) continue;
      bool read = std::any_of(block.begin() + static_cast<std::ptrdiff_t>(at) + 1, block.end(),
                              [&](const Statement& later) { return Mentions(later, statement.name); });
      if (read) continue;
      if (atomic) {
        statement =
            ParseStatement(std::string(ValueOf(statement)) + ";", names_, std::string(statement.place));
      } else {
        block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
      }
    }
  }

  /// For the `if` at `at`: variables whose first mention in one of its branches gives them a plain value get
  /// it before the `if`. Returns where the `if` is afterwards.
  size_t HoistPlainValues(std::vector<Statement>& block, size_t at) {
    bool has_else = at + 1 < block.size() && IsElse(block[at + 1]);
    if (!has_else) return at;
    std::vector<Statement> hoisted;
    for (size_t branch : {1, 0}) {
      std::vector<Statement>& body = block[at + branch].body;
      for (size_t n = 0; n < body.size(); ++n) {
        if (body[n].form != Form::Assignment) continue;
        std::string value(ValueOf(body[n]));
        uint32_t name = body[n].name;
        if (!IsPlain(value) || FirstMention(body, name) != n) continue;
        size_t declared = DeclarationOf(block, at, name);
        bool known = std::any_of(hoisted.begin(), hoisted.end(), [&](const Statement& other) {
          return other.name == name && ValueOf(other) == value;
        });
        if (declared != at && !AssignsAny(body, NamesOf(value))) {
          std::string type(TypeOf(block[declared]));
          hoisted.push_back(
              ParseStatement(type + " " + names_.Text(name) + " = " + value + ";", names_, body[n].place));
          block[declared] = {};
        } else if (!known) {
          continue;
        }
        body[n] = {};
      }
      std::erase_if(body, IsDropped);
    }
    size_t count = hoisted.size();
    block.insert(block.begin() + static_cast<std::ptrdiff_t>(at), std::make_move_iterator(hoisted.begin()),
                 std::make_move_iterator(hoisted.end()));
    at += count;
    at -= static_cast<size_t>(
        std::count_if(block.begin(), block.begin() + static_cast<std::ptrdiff_t>(at), IsDropped));
    std::erase_if(block, IsDropped);
    if (block[at + 1].body.empty()) block.erase(block.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    return at;
  }
  static bool IsDropped(const Statement& statement) { return statement.text.empty(); }

  /// Position of the declaration of `name` in the block, before `at` and with no mention in between; `at`
  /// where there is none.
  static size_t DeclarationOf(const std::vector<Statement>& block, size_t at, uint32_t name) {
    if (std::binary_search(block[at].names.begin(), block[at].names.end(), name)) return at;
    for (size_t n = at; n-- > 0;) {
      if (block[n].form == Form::Declaration && block[n].name == name) return n;
      if (Mentions(block[n], name)) break;
    }
    return at;
  }

  static size_t FirstMention(const std::vector<Statement>& body, uint32_t name) {
    size_t at = 0;
    while (at < body.size() && !Mentions(body[at], name)) ++at;
    return at;
  }
  static size_t MentionsIn(const std::vector<Statement>& body, uint32_t name) {
    return static_cast<size_t>(
        std::count_if(body.begin(), body.end(), [name](const Statement& s) { return Mentions(s, name); }));
  }
  std::vector<uint32_t> NamesOf(const std::string& value) { return ParseStatement(value, names_).names; }
  static bool AssignsAny(const std::vector<Statement>& body, const std::vector<uint32_t>& names) {
    return std::any_of(names.begin(), names.end(), [&](uint32_t name) {
      return std::any_of(body.begin(), body.end(), [name](const Statement& s) { return Assigns(s, name); });
    });
  }

  /// In a branch: `_x = _t;` at its end, with _t of this block, makes _t be _x from the start.
  void MergeCopies(std::vector<Statement>& body) {
    for (size_t n = body.size(); n-- > 0;) {
      if (body[n].form != Form::Assignment) break;
      uint32_t target = body[n].name;
      std::vector<uint32_t> source = NamesOf(std::string(ValueOf(body[n])));
      if (source.size() != 1 || names_.Text(source[0]) != ValueOf(body[n])) continue;
      size_t made = 0;
      while (made < n && !(body[made].name == source[0] &&
                           (body[made].form == Form::Definition || body[made].form == Form::Declaration))) {
        ++made;
      }
      bool good = made < n && MentionsIn(body, target) == 1;
      for (size_t between = made; between < n && good; ++between) good = !Leaves(body[between]);
      for (size_t later = n + 1; later < body.size() && good; ++later)
        good = !Assigns(body[later], source[0]);
      if (!good) continue;
      for (Statement& statement : body) Rename(statement, source[0], target, names_);
      if (body[made].form == Form::Definition) {
        body[made] = ParseStatement(names_.Text(target) + " = " + std::string(ValueOf(body[made])) + ";",
                                    names_, std::string(body[made].place));
      }
      // The copy says nothing now, and neither does a declaration.
      body.erase(body.begin() + static_cast<std::ptrdiff_t>(n));
      if (body[made].form == Form::Declaration) {
        body.erase(body.begin() + static_cast<std::ptrdiff_t>(made));
        --n;
      }
    }
  }

  void SinkDeclarations(std::vector<Statement>& block) {
    for (size_t at = block.size(); at-- > 0;) {
      if (block[at].form != Form::Declaration) continue;
      uint32_t name = block[at].name;
      size_t use = at + 1;
      while (use < block.size() && !Mentions(block[use], name)) ++use;
      if (use == block.size() || block[use].form != Form::Assignment || block[use].name != name) continue;
      std::string value(ValueOf(block[use]));
      std::vector<uint32_t> read = NamesOf(value);
      if (std::binary_search(read.begin(), read.end(), name)) continue;
      block[use] = ParseStatement(std::string(TypeOf(block[at])) + " " + block[use].text, names_,
                                  std::string(block[use].place));
      block.erase(block.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }

  static bool CanShare(const Statement& statement) {
    return statement.form == Form::Declaration ||
           (statement.form == Form::Definition && IsPlain(ValueOf(statement)));
  }

  /// Neighbouring declarations, by type; their values are plain and none of them is a variable of the others.
  void JoinDeclarations(std::vector<Statement> run, std::vector<Statement>& result) {
    std::vector<std::string> types;
    for (const Statement& statement : run) {
      std::string type(TypeOf(statement));
      if (std::find(types.begin(), types.end(), type) == types.end()) types.push_back(type);
    }
    bool independent = std::all_of(run.begin(), run.end(), [&](const Statement& one) {
      return one.form == Form::Declaration ||
             std::none_of(run.begin(), run.end(), [&](const Statement& other) {
               return &other != &one && std::binary_search(one.names.begin(), one.names.end(), other.name);
             });
    });
    if (!independent) {
      for (Statement& statement : run) result.push_back(std::move(statement));
      return;
    }
    for (const std::string& type : types) {
      std::string line;
      std::string_view place;
      for (const Statement& statement : run) {
        if (TypeOf(statement) != type) continue;
        if (line.empty()) place = statement.place;
        std::string item = statement.text.substr(type.size() + 1, statement.text.size() - type.size() - 2);
        if (!line.empty() && line.size() + item.size() + 3 > kLineWidth) {
          result.push_back(ParseStatement(line + ";", names_, place));
          line.clear();
          place = statement.place;
        }
        line += line.empty() ? type + " " + item : ", " + item;
      }
      result.push_back(ParseStatement(line + ";", names_, place));
    }
  }

  Names& names_;
};

/// A signature on as many lines as it takes.
std::string Wrapped(std::string_view signature) {
  std::string text;
  while (!signature.empty()) {
    size_t comma = signature.find(", ");
    std::string_view part = signature.substr(0, comma == std::string_view::npos ? comma : comma + 1);
    signature.remove_prefix(comma == std::string_view::npos ? signature.size() : comma + 2);
    size_t line_begin = text.rfind('\n') + 1;
    if (text.empty()) {
      text += part;
    } else if (text.size() - line_begin + part.size() + 1 > kLineWidth) {
      text.append("\n        ").append(part);
    } else {
      text.append(" ").append(part);
    }
  }
  return text;
}

}  // namespace

std::string TidyFunction(std::string_view function) {
  size_t open = function.find("\n{\n"), close = function.rfind("\n}");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::string(function);
  }
  Names names;
  std::vector<Statement> body;
  if (close > open + 2 && !ParseBody(function.substr(open + 3, close - open - 2), names, body)) {
    return std::string(function);
  }
  Tidier tidier(names);
  tidier.Tidy(body);
  tidier.ShareLines(body);
  return Wrapped(function.substr(0, open)) + " {\n" + Print(body, 4) + "}\n";
}

}  // namespace adc::codegen::msl
