#include "codegen/msl/statements.h"

#include <algorithm>

#include "support/letters.h"

namespace adc::codegen::msl {
namespace {

/// The word that begins at `at`; empty where none does.
std::string_view WordAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsNameCharacter(text[end])) ++end;
  return text.substr(at, end - at);
}

std::vector<uint32_t> NamesIn(std::string_view text, Names& names) {
  std::vector<uint32_t> found;
  for (size_t at = 0; at < text.size();) {
    if (!IsNameCharacter(text[at])) {
      ++at;
      continue;
    }
    std::string_view word = WordAt(text, at);
    // Numbers, their suffixes and exponents, and members are no names.
    bool is_name = !IsDigit(word[0]) && (at == 0 || text[at - 1] != '.');
    if (is_name) found.push_back(names.Of(word));
    at += word.size();
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool IsScalarType(std::string_view word) {
  static constexpr std::string_view kTypes[] = {"bool", "char", "uchar", "short", "ushort", "int",
                                                "uint", "long", "ulong", "half",  "float"};
  return std::find(std::begin(kTypes), std::end(kTypes), word) != std::end(kTypes);
}

void Classify(Statement& statement, Names& names) {
  std::string_view text = statement.text;
  if (!text.ends_with(";")) return;
  std::string_view word = WordAt(text, 0);
  bool typed = IsScalarType(word) && text.substr(word.size()).starts_with(" ");
  if (typed) word = WordAt(text, word.size() + 1);
  if (word.empty() || IsDigit(word[0])) return;
  std::string_view rest = text.substr(static_cast<size_t>(word.data() + word.size() - text.data()));
  if (typed && rest == ";") {
    statement.form = Form::Declaration;
  } else if (rest.starts_with(" = ")) {
    statement.form = typed ? Form::Definition : Form::Assignment;
  } else {
    return;
  }
  statement.name = names.Of(word);
}

std::string_view Trimmed(std::string_view line) {
  size_t begin = line.find_first_not_of(' ');
  return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

class BodyParser {
 public:
  BodyParser(std::string_view text, Names& names) : rest_(text), names_(names) {}

  bool Parse(std::vector<Statement>& body) {
    // Of the block: each says its places anew.
    std::string_view place;
    while (!rest_.empty()) {
      std::string_view line = Trimmed(TakeLine(rest_));
      if (line.empty()) continue;
      if (line.starts_with("#line")) {
        // Line 0 says that there is no place.
        place = line.starts_with("#line 0 ") ? std::string_view() : line;
        continue;
      }
      if (line == "{") {
        if (body.empty() || body.back().text.ends_with(";") || body.back().has_body) return false;
        body.back().has_body = true;
        ++depth_;
        if (!Parse(body.back().body)) return false;
        body.back().tail = tail_;
        body.back().tail_names = NamesIn(tail_, names_);
        place = {};
        continue;
      }
      if (line.starts_with("}")) {
        tail_ = Trimmed(line.substr(1));
        return depth_-- > 0;
      }
      // An `else` stands in the line in which its `if` ends.
      body.push_back(ParseStatement(line, names_, line.starts_with("else") ? std::string_view() : place));
    }
    return depth_ == 0;
  }

 private:
  std::string_view rest_;
  Names& names_;
  std::string_view tail_;
  int depth_ = 0;
};

class Printer {
 public:
  void Print(const std::vector<Statement>& body, uint32_t indentation, std::string& text) {
    std::string margin(indentation, ' ');
    for (size_t n = 0; n < body.size(); ++n) {
      const Statement& statement = body[n];
      // An `else` goes on in the line where its `if` was closed; one that holds only an `if` joins it.
      bool follows = statement.has_body && statement.text.starts_with("else");
      if (!follows) SetPlace(statement.place, text);
      if (!statement.has_body) {
        text += margin + statement.text + '\n';
        continue;
      }
      if (!follows) text += margin;
      const std::vector<Statement>* inner = &statement.body;
      if (statement.text == "else" && IsChain(*inner)) {
        std::string chained;
        Print(*inner, indentation, chained);
        text += "else " + chained.substr(indentation);
        continue;
      }
      text += statement.text + " {\n";
      Print(*inner, indentation + 4, text);
      text += margin + "}";
      if (!statement.tail.empty()) text += " " + statement.tail;
      bool else_next = n + 1 < body.size() && body[n + 1].has_body && body[n + 1].text.starts_with("else");
      text += else_next ? " " : "\n";
    }
  }

  void SetPlace(std::string_view place, std::string& text) {
    if (!place.empty()) {
      text.append(place).push_back('\n');
    } else if (elsewhere_) {
      text.append(kOwnPlace).push_back('\n');
    }
    elsewhere_ = !place.empty();
  }

 private:
  /// An `if`, maybe with an `else`, and without a directive in front of it.
  bool IsChain(const std::vector<Statement>& list) const {
    bool one = list.size() == 1, two = list.size() == 2 && list[1].text == "else";
    return (one || two) && list[0].has_body && list[0].text.starts_with("if (") && list[0].place.empty() &&
           !elsewhere_;
  }

  bool elsewhere_ = false;  ///< a directive says that the next line comes from another file
};

}  // namespace

uint32_t Names::Of(std::string_view word) {
  auto [at, is_new] = numbers_.emplace(std::string(word), static_cast<uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(word);
  return at->second;
}

Statement ParseStatement(std::string_view text, Names& names, std::string_view place) {
  Statement statement;
  statement.place = place;
  statement.text = text;
  statement.names = NamesIn(text, names);
  Classify(statement, names);
  return statement;
}

bool ParseBody(std::string_view text, Names& names, std::vector<Statement>& body) {
  return BodyParser(text, names).Parse(body);
}

bool Mentions(const Statement& statement, uint32_t name) {
  auto has = [name](const std::vector<uint32_t>& names) {
    return std::binary_search(names.begin(), names.end(), name);
  };
  if (has(statement.names) || has(statement.tail_names)) return true;
  return std::any_of(statement.body.begin(), statement.body.end(),
                     [name](const Statement& inner) { return Mentions(inner, name); });
}

std::string_view TypeOf(const Statement& statement) {
  return WordAt(statement.text, 0);
}

std::string_view ValueOf(const Statement& statement) {
  std::string_view text = statement.text;
  size_t begin = text.find(" = ") + 3;
  return text.substr(begin, text.size() - begin - 1);
}

void Rename(Statement& statement, uint32_t from, uint32_t to, Names& names) {
  auto replace = [&](std::string& text, std::vector<uint32_t>& mentioned) {
    if (!std::binary_search(mentioned.begin(), mentioned.end(), from)) return;
    const std::string &old_word = names.Text(from), &new_word = names.Text(to);
    for (size_t at = FindWord(text, old_word, 0); at != std::string::npos;
         at = FindWord(text, old_word, at)) {
      bool is_member = at != 0 && text[at - 1] == '.';
      if (!is_member) text.replace(at, old_word.size(), new_word);
      at += is_member ? old_word.size() : new_word.size();
    }
    mentioned = NamesIn(text, names);
  };
  replace(statement.text, statement.names);
  replace(statement.tail, statement.tail_names);
  if (statement.form != Form::Other && statement.name == from) statement.name = to;
  for (Statement& inner : statement.body) Rename(inner, from, to, names);
}

std::string Print(const std::vector<Statement>& body, uint32_t indentation) {
  std::string text;
  Printer printer;
  printer.Print(body, indentation, text);
  printer.SetPlace({}, text);
  return text;
}

std::string_view TakeLine(std::string_view& rest) {
  size_t end = rest.find('\n');
  std::string_view line = rest.substr(0, end);
  rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  return line;
}

size_t FindWord(std::string_view text, std::string_view word, size_t from) {
  for (size_t at = text.find(word, from); at != std::string_view::npos; at = text.find(word, at + 1)) {
    size_t end = at + word.size();
    bool whole =
        (at == 0 || !IsNameCharacter(text[at - 1])) && (end == text.size() || !IsNameCharacter(text[end]));
    if (whole) return at;
  }
  return std::string_view::npos;
}

std::string FinishLines(std::string_view text) {
  std::string finished;
  for (size_t number = 1; !text.empty(); ++number) {
    std::string_view line = TakeLine(text);
    if (line == kOwnPlace) {
      finished += "#line " + std::to_string(number + 1) + " \"program_source\"\n";
    } else {
      finished.append(line).push_back('\n');
    }
  }
  return finished;
}

}  // namespace adc::codegen::msl
