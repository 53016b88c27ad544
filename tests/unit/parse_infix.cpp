// Infix text and flat text of one program are one module. Flat text is rewritten line by line into infix
// text:
// `%7 = mul %a, %b`, used once by the line after it, becomes an operand of that line. What both parse to
// prints alike, but for the names that are lost that way.

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>

#include "../support/folders.h"
#include "../support/random_kernel.h"
#include "ir/literal_places.h"
#include "ir/module.h"
#include "parse_support.h"

using namespace adc;
using test::Reading;
namespace fs = std::filesystem;

namespace {

/// A piece of an expression, and how strongly what is outermost in it binds.
struct Piece {
  std::string text;
  int strength = 20;
};

const std::map<std::string, std::pair<std::string, int>>& Operators() {
  static const std::map<std::string, std::pair<std::string, int>> operators = {
      {"or", {"|", 3}},  {"xor", {"^", 4}},  {"and", {"&", 5}},  {"eq", {"==", 6}},
      {"ne", {"!=", 6}}, {"lt", {"<", 7}},   {"le", {"<=", 7}},  {"gt", {">", 7}},
      {"ge", {">=", 7}}, {"shl", {"<<", 8}}, {"shr", {">>", 8}}, {"add", {"+", 9}},
      {"sub", {"-", 9}}, {"mul", {"*", 10}}, {"div", {"/", 10}}, {"rem", {"%", 10}},
  };
  return operators;
}

bool IsLiteral(const std::string& operand) {
  return operand[0] != '%' && operand[0] != '@';
}

std::string WithType(const std::string& literal) {
  if (literal.find(':') != std::string::npos || literal == "true" || literal == "false") return literal;
  bool is_float = ir::KindOfSpelling(literal) == ir::LiteralKind::Float;
  return literal + (is_float ? ":f32" : ":i32");
}

/// `a, b[c, d], e` at its outer commas.
std::vector<std::string> Split(const std::string& list) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : list) {
    if (c == '[' || c == '(' || c == '<') ++depth;
    if (c == ']' || c == ')' || c == '>') --depth;
    if (c == ',' && depth == 0) {
      parts.emplace_back();
    } else if (c != ' ' || !parts.back().empty()) {
      parts.back() += c;
    }
  }
  return parts;
}

bool IsSimple(const std::string& operand) {
  return !operand.empty() && operand.find_first_of(" <>[](){}\"") == std::string::npos;
}

class InfixWriter {
 public:
  InfixWriter(const std::string& flat, uint64_t seed) : random_(seed) {
    size_t begin = 0;
    while (begin < flat.size()) {
      size_t end = flat.find('\n', begin);
      lines_.push_back(flat.substr(begin, end - begin));
      begin = end + 1;
    }
  }

  std::string Write() {
    for (size_t n = 0; n < lines_.size(); ++n) {
      const std::string& line = lines_[n];
      if (line.starts_with("kernel ") || line.starts_with("func ")) CountUses(n);
      if (!Rewrite(line)) {
        Flush();
        text_ += line + "\n";
      }
    }
    Flush();
    return text_;
  }
  size_t Folded() const { return folded_; }

 private:
  struct Waiting {
    std::string name;  ///< with its '%'
    Piece piece;
    std::string line;  ///< as a statement
  };

  void CountUses(size_t first) {
    uses_.clear();
    for (size_t n = first; n < lines_.size() && (n == first || lines_[n] != "}"); ++n) {
      const std::string& line = lines_[n];
      for (size_t at = line.find('%'); at != std::string::npos; at = line.find('%', at + 1)) {
        size_t end = at + 1;
        while (end < line.size() &&
               (std::isalnum(static_cast<unsigned char>(line[end])) || line[end] == '_' ||
                (line[end] == '.' && end + 1 < line.size() && line[end + 1] != '.' &&
                 std::isalnum(static_cast<unsigned char>(line[end + 1])))))
          ++end;
        ++uses_[line.substr(at, end - at)];
      }
    }
  }

  void Flush() {
    for (const Waiting& one : waiting_) text_ += one.line + "\n";
    waiting_.clear();
  }

  /// Operands, last one first: what waits last may take the place of one.
  std::vector<Piece> TakeOperands(const std::vector<std::string>& operands) {
    std::vector<Piece> pieces(operands.size());
    for (size_t n = operands.size(); n-- > 0;) {
      pieces[n] = {operands[n]};
      bool fold = !waiting_.empty() && waiting_.back().name == operands[n] && uses_[operands[n]] == 2 &&
                  random_() % 8 != 0 && waiting_.back().piece.text.size() < 200;
      if (!fold) continue;
      pieces[n] = waiting_.back().piece;
      waiting_.pop_back();
      ++folded_;
    }
    return pieces;
  }

  static std::string In(const Piece& piece, bool parentheses) {
    return parentheses ? "(" + piece.text + ")" : piece.text;
  }

  std::string Joined(const std::vector<Piece>& pieces, size_t first = 0) {
    std::string text;
    for (size_t n = first; n < pieces.size(); ++n) text += (n == first ? "" : ", ") + pieces[n].text;
    return text;
  }

  /// False where the line stays as it is.
  bool Rewrite(const std::string& line) {
    size_t indent = line.find_first_not_of(' ');
    if (indent == std::string::npos || indent == 0) return false;
    std::string body = line.substr(indent);
    std::string blanks(indent, ' ');
    size_t equals = body.find(" = ");
    if (body[0] == '%' && equals != std::string::npos && body.find(',') > equals) {
      Piece piece;
      if (!Expression(body.substr(equals + 3), &piece)) return false;
      std::string name = body.substr(0, equals);
      waiting_.push_back({name, piece, blanks + name + " = " + piece.text});
      return true;
    }
    return Statement(body, blanks);
  }

  bool Expression(const std::string& text, Piece* piece) {
    size_t blank = text.find(' ');
    if (blank == std::string::npos) return false;
    std::string word = text.substr(0, blank);
    std::string rest = text.substr(blank + 1);
    if (rest.ends_with(" either") || rest.ends_with("{")) return false;
    if (word == "load") return Load(rest, piece);
    if (word == "call") {
      size_t open = rest.find('(');
      std::string inner = rest.substr(open + 1, rest.size() - open - 2);
      std::vector<std::string> operands = inner.empty() ? std::vector<std::string>() : Split(inner);
      *piece = {rest.substr(0, open) + "(" + Joined(TakeOperands(operands)) + ")"};
      return true;
    }
    std::optional<ir::Op> op = ir::OpFromSpelling(word);
    if (!op) return false;
    if (word == "cast" || word == "bitcast") {
      size_t to = rest.find(" to ");
      if (!IsSimple(rest.substr(0, to))) return false;
      *piece = {word + "(" + TakeOperands({rest.substr(0, to)})[0].text + rest.substr(to) + ")"};
      return true;
    }
    ir::OpForm form = ir::InfoOf(*op).form;
    bool plain = form == ir::OpForm::Unary || form == ir::OpForm::Binary || form == ir::OpForm::Ternary ||
                 form == ir::OpForm::Variadic;
    std::vector<std::string> operands = Split(rest);
    if (!plain || !std::all_of(operands.begin(), operands.end(), IsSimple)) return false;
    // Nothing is guessed in an expression: literals alone state their type.
    size_t first = word == "select" ? 1 : 0;
    size_t last = word == "vec.get" || word == "mat.get" ? 1 : operands.size();
    bool all = word != "vec.set";
    for (size_t n = first; n < last; ++n) all = all && IsLiteral(operands[n]);
    // `1.0:f64, 2.0` are both f64, and `1.0, 2` both f32: written out, each would have its own.
    if (all && operands[first].find(':') == std::string::npos) {
      for (size_t n = first; n < last; ++n) operands[n] = WithType(operands[n]);
      if (!SameTypes(operands, first, last)) return false;
    }
    *piece = Operation(word, operands);
    return true;
  }

  static bool SameTypes(const std::vector<std::string>& operands, size_t first, size_t last) {
    for (size_t n = first; n < last; ++n) {
      if (operands[n].substr(operands[n].find(':') + 1) !=
          operands[first].substr(operands[first].find(':') + 1))
        return false;
    }
    return true;
  }

  Piece Operation(const std::string& word, const std::vector<std::string>& operands) {
    std::vector<Piece> pieces = TakeOperands(operands);
    auto found = Operators().find(word);
    if (found != Operators().end()) {
      auto [sign, strength] = found->second;
      bool extra = random_() % 6 == 0;
      return {In(pieces[0], extra || pieces[0].strength < strength) + " " + sign + " " +
                  In(pieces[1], extra || pieces[1].strength <= strength),
              strength};
    }
    if (word == "neg" && !IsLiteral(operands[0])) return {"-" + In(pieces[0], pieces[0].strength < 15), 15};
    if (word == "vec.get") {
      constexpr const char* kNames[] = {"0", "1", "2", "3"};
      auto index = std::find(std::begin(kNames), std::end(kNames), operands[1]);
      bool parentheses = pieces[0].strength < 20;
      if (index != std::end(kNames) && pieces[0].strength == 20 && random_() % 2 == 0 &&
          (operands[0] != pieces[0].text || !IsNumbered(operands[0])))
        // `%x[%i].y` loads one component, `(%x[%i]).y` the element.
        return {In(pieces[0], pieces[0].text.ends_with("]")) + "." + "xyzw"[index - std::begin(kNames)]};
      return {In(pieces[0], parentheses) + "[" + pieces[1].text + "]"};
    }
    if (word == "mat.get")
      return {In(pieces[0], pieces[0].strength < 20) + "[" + pieces[1].text + ", " + pieces[2].text + "]"};
    return {word + "(" + Joined(pieces) + ")"};
  }

  static bool IsNumbered(const std::string& name) { return name[1] >= '0' && name[1] <= '9'; }

  bool Load(const std::string& rest, Piece* piece) {
    size_t open = rest.find('['), close = rest.find(']');
    if (open == std::string::npos || close == std::string::npos) return false;
    std::string inner = rest.substr(open + 1, close - open - 1);
    std::vector<std::string> operands = inner.empty() ? std::vector<std::string>() : Split(inner);
    if (!std::all_of(operands.begin(), operands.end(), IsSimple)) return false;
    *piece = {rest.substr(0, open) + "[" + Joined(TakeOperands(operands)) + rest.substr(close)};
    return true;
  }

  /// Statements whose operands may be expressions.
  bool Statement(const std::string& body, const std::string& blanks) {
    for (const char* word : {"yield ", "return ", "continue_if ", "break ", "continue "}) {
      if (!body.starts_with(word)) continue;
      std::vector<std::string> operands = Split(body.substr(std::string(word).size()));
      if (!std::all_of(operands.begin(), operands.end(), IsSimple)) return false;
      std::string text = Joined(TakeOperands(operands));
      Flush();
      text_ += blanks + word + text + "\n";
      return true;
    }
    if (body.starts_with("if ") && body.ends_with(" {")) {
      std::string text = TakeOperands({body.substr(3, body.size() - 5)})[0].text;
      Flush();
      text_ += blanks + "if " + text + " {\n";
      return true;
    }
    bool store = body.starts_with("store ");
    if (!store && !body.starts_with("atomic add ")) return false;
    size_t open = body.find('['), close = body.find(']'), comma = body.find(", ", close);
    if (comma == std::string::npos) return false;
    std::string inner = body.substr(open + 1, close - open - 1);
    std::vector<std::string> operands = inner.empty() ? std::vector<std::string>() : Split(inner);
    operands.push_back(body.substr(comma + 2));
    if (!std::all_of(operands.begin(), operands.end(), IsSimple)) return false;
    std::vector<Piece> pieces = TakeOperands(operands);
    std::string value = pieces.back().text;
    pieces.pop_back();
    std::string element = body.substr(store ? 6 : 11, open - (store ? 6 : 11)) + "[" + Joined(pieces) +
                          body.substr(close, comma - close);
    Flush();
    text_ += blanks + (store ? element + " = " + value : "atomic add " + element + ", " + value) + "\n";
    return true;
  }

  std::mt19937_64 random_;
  std::vector<std::string> lines_;
  std::vector<Waiting> waiting_;
  std::map<std::string, int> uses_;
  std::string text_;
  size_t folded_ = 0;
};

/// Values numbered in the order in which a function names them first, comments left out.
std::string WithoutNames(const std::string& text) {
  std::string out;
  std::map<std::string, size_t> numbers;
  for (size_t at = 0; at < text.size();) {
    size_t line = text.rfind('\n', at);
    line = line == std::string::npos ? 0 : line + 1;
    if (at == line || text[at] == '/') {
      size_t first = text.find_first_not_of(' ', line);
      if (text.compare(first, 2, "//") == 0) {
        at = text.find('\n', first) + 1;
        continue;
      }
    }
    if (at == line && (text.compare(at, 7, "kernel ") == 0 || text.compare(at, 5, "func ") == 0))
      numbers.clear();
    if (text[at] != '%') {
      out += text[at++];
      continue;
    }
    size_t end = at + 1;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
            (text[end] == '.' && std::isalnum(static_cast<unsigned char>(text[end + 1])))))
      ++end;
    std::string name = text.substr(at, end - at);
    out += "%" + std::to_string(numbers.try_emplace(name, numbers.size()).first->second);
    at = end;
  }
  return out;
}

/// Whether `flat`, the text of a file at `path`, is the same module as its infix form.
void CheckInfix(const std::string& path, const std::string& flat, uint64_t seed, size_t* folded) {
  InfixWriter writer(flat, seed);
  std::string infix = writer.Write();
  *folded += writer.Folded();
  diag::SourceManager sources;
  diag::Diagnostics diagnostics;
  std::unique_ptr<ir::Module> module = parse::ParseText(path, infix, {}, sources, diagnostics);
  INFO(path);
  INFO(infix);
  INFO(diag::PrintDiagnostics(diagnostics, sources, false));
  REQUIRE_FALSE(diagnostics.HasErrors());
  CHECK(WithoutNames(ir::Print(*module)) == WithoutNames(flat));
}

}  // namespace

TEST_CASE("infix text is the same module as flat text: files", "[parse][infix]") {
  size_t files = 0, folded = 0;
  for (const char* folder : {"tests/files", "tests/e2e", "samples", "lib"}) {
    std::vector<std::string> paths;
    for (const fs::directory_entry& entry :
         fs::recursive_directory_iterator(fs::path(adc::test::SourceFolder()) / folder)) {
      if (entry.path().extension() == ".ir") paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string& path : paths) {
      diag::SourceManager sources;
      diag::Diagnostics diagnostics;
      std::unique_ptr<ir::Module> module = parse::ParseFile(path, {}, sources, diagnostics);
      if (module == nullptr || diagnostics.HasErrors()) continue;
      std::string flat = ir::Print(*module);
      ++files;
      CheckInfix(path, flat, files, &folded);
    }
  }
  CHECK(files > 200);
  CHECK(folded > 3000);
}

TEST_CASE("infix text is the same module as flat text: random kernels", "[parse][infix]") {
  size_t folded = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    test::RandomKernelConfig config;
    config.scalar = seed % 2 == 0 ? "f32" : "f64";
    config.vectors = seed % 3 == 0;
    config.statements = 10;
    auto reading = test::ReadGood(test::RandomKernel(seed, config));
    CheckInfix("random.ir", ir::Print(*reading->module), seed, &folded);
  }
  CHECK(folded > 1000);
}
