// Writes what the documentation takes from the source: the tables of operations and of words in docs/ir.md
// and that of passes in docs/architecture.md, between their markers; whole, docs/errors.md and the grammars
// in editors/.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "autodiff/partials.h"
#include "diag/errors.h"
#include "diag/examples.h"
#include "driver/pipeline.h"
#include "grammars.h"
#include "ir/op.h"
#include "ir/words.h"

using namespace adc;

namespace {

/// A part of a page that is generated: the text in front of it, and after it.
struct Markers {
  std::string_view begin, end;
};
constexpr Markers kOperations = {"<!-- operations: generated from lib/ir/ops.def by scripts/gen-docs -->\n",
                                 "<!-- operations: end -->\n"};
constexpr Markers kWords = {"<!-- words: generated from lib/ir/words.def by scripts/gen-docs -->\n",
                            "<!-- words: end -->\n"};
constexpr Markers kPasses = {"<!-- passes: generated from lib/driver/pipeline.cpp by scripts/gen-docs -->\n",
                             "<!-- passes: end -->\n"};

/// Table cells cannot hold a bare '|'.
std::string Cell(std::string_view text) {
  std::string cell;
  for (char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

const char* FormText(ir::OpForm form) {
  switch (form) {
    case ir::OpForm::Nullary:
      return "`%r = op type`";
    case ir::OpForm::Unary:
      return "`%r = op a`";
    case ir::OpForm::Binary:
      return "`%r = op a, b`";
    case ir::OpForm::Ternary:
      return "`%r = op a, b, c`";
    case ir::OpForm::Variadic:
      return "`%r = op a, ...`";
    case ir::OpForm::RandomForm:
      return "`%r = op a, b[, c] : type`";
    case ir::OpForm::Convert:
      return "`%r = op a to type`";
    case ir::OpForm::ShapeForm:
      return "`%r = op %x, axis`";
    case ir::OpForm::Access:
      return "`op %x[...], ...`";
    case ir::OpForm::AllocaForm:
    case ir::OpForm::StackNewForm:
      return "`%r = op type`";
    case ir::OpForm::CallForm:
      return "`%r, ... = op @f(a, ...)`";
    case ir::OpForm::Control:
      return "section 5";
    case ir::OpForm::Terminator:
      return "`op a, ...`";
    case ir::OpForm::AssertForm:
    case ir::OpForm::PrintForm:
    case ir::OpForm::BarrierForm:
      return "section 5";
    case ir::OpForm::StackForm:
    case ir::OpForm::RowForm:
    case ir::OpForm::RowAccess:
    case ir::OpForm::StatusForm:
      return "section 8";
  }
  return "";
}

const char* RuleText(ir::TypeRule rule) {
  switch (rule) {
    case ir::TypeRule::SameNumber:
      return "numbers of one type";
    case ir::TypeRule::SameNumberScale:
      return "numbers of one type, or one of them the scalar";
    case ir::TypeRule::SameFloat:
      return "floats of one type";
    case ir::TypeRule::SameInteger:
      return "integers of one type";
    case ir::TypeRule::SameBits:
      return "integers or i1 of one type";
    case ir::TypeRule::SameAny:
      return "any";
    case ir::TypeRule::Compare:
      return "two of one type, gives i1";
    case ir::TypeRule::CompareOrder:
      return "numbers of one type, gives i1";
    case ir::TypeRule::Classify:
      return "a float, gives i1";
    case ir::TypeRule::SelectRule:
      return "i1, two of one type";
    case ir::TypeRule::CastRule:
      return "any shape to the same shape";
    case ir::TypeRule::BitcastRule:
      return "any to the same shape and width";
    case ir::TypeRule::VecMakeRule:
      return "2 to 16 scalars";
    case ir::TypeRule::VecGetRule:
      return "vector, index";
    case ir::TypeRule::VecSetRule:
      return "vector, index, scalar";
    case ir::TypeRule::DotRule:
      return "two vectors, gives the scalar";
    case ir::TypeRule::CrossRule:
      return "two 3-vectors";
    case ir::TypeRule::NormRule:
      return "float vector, gives the scalar";
    case ir::TypeRule::NormalizeRule:
      return "float vector";
    case ir::TypeRule::MatMakeRule:
      return "scalars, or rows";
    case ir::TypeRule::MatGetRule:
      return "matrix, row, column";
    case ir::TypeRule::MatMulRule:
      return "float matrices or vectors that fit";
    case ir::TypeRule::TransposeRule:
      return "matrix";
    case ir::TypeRule::DetRule:
      return "square float matrix to 4 by 4, gives the scalar";
    case ir::TypeRule::InverseRule:
      return "square float matrix to 4 by 4";
    case ir::TypeRule::OuterRule:
      return "two vectors, gives a matrix";
    case ir::TypeRule::IdentityRule:
      return "gives a square matrix";
    case ir::TypeRule::RandomRule:
      return "integers of 32 or 64 bits";
    case ir::TypeRule::ShapeRule:
      return "buffer or field of a layout, gives i32 or i64";
    case ir::TypeRule::LoadRule:
      return "gives the element";
    case ir::TypeRule::StoreRule:
      return "the element";
    case ir::TypeRule::TexelRule:
      return "the numbers of the element";
    case ir::TypeRule::AtomicRule:
      return "numbers";
    case ir::TypeRule::AtomicIntegerRule:
      return "integers";
    case ir::TypeRule::AtomicCompareRule:
      return "scalars: expected, new";
    case ir::TypeRule::AllocaRule:
      return "gives an array";
    case ir::TypeRule::ControlRule:
    case ir::TypeRule::TerminatorRule:
      return "section 5";
    case ir::TypeRule::CallRule:
      return "as the function";
    case ir::TypeRule::AssertRule:
      return "i1, text";
    case ir::TypeRule::PrintRule:
      return "text, values";
    case ir::TypeRule::BarrierRule:
      return "none";
    case ir::TypeRule::StackNewRule:
      return "gives a stack";
    case ir::TypeRule::StackPushRule:
      return "stack, scalar";
    case ir::TypeRule::StackPopRule:
      return "stack, gives the scalar";
    case ir::TypeRule::RowClaimRule:
      return "gives i64";
    case ir::TypeRule::RowLoadRule:
      return "i64, stack, index, gives a scalar";
    case ir::TypeRule::RowStoreRule:
      return "i64, stack, index, scalar";
    case ir::TypeRule::StatusRule:
      return "numbers, i64";
  }
  return "";
}

/// The values that the partials of `op` read: `a`, `b`, `c`, and `r`, the result.
std::string ReadsText(ir::Op op) {
  std::string reads;
  for (const char* name : {"a", "b", "c", "r"}) {
    bool is_read = false;
    for (uint32_t n = 0; n < 3; ++n) {
      const autodiff::Partial* partial = autodiff::Partial::Find(op, n, ir::Scalar::F32);
      if (partial == nullptr) continue;
      is_read |= *name == 'r' ? partial->reads_result() : (partial->operands() >> (*name - 'a') & 1) != 0;
    }
    if (is_read) reads += (reads.empty() ? "reads `" : ", `") + std::string(name) + "`";
  }
  return reads.empty() ? "of what it is written in" : reads;
}

std::string DerivativeText(ir::Op op) {
  switch (ir::InfoOf(op).derivative) {
    case ir::Derivative::None:
      return "";
    case ir::Derivative::Zero:
      return "zero";
    case ir::Derivative::Linear:
      return "linear";
    case ir::Derivative::Partials:
      return ReadsText(op);
    case ir::Derivative::Memory:
      return "of memory";
    case ir::Derivative::Control:
      return "of structure";
    case ir::Derivative::NotDifferentiable:
      return "none: refused where it is needed";
  }
  return "";
}

std::string Operations() {
  std::string out = "| operation | form | operands | meaning | derivative |\n|---|---|---|---|---|\n";
  for (uint32_t position = 0; position < ir::kOpCount; ++position) {
    const ir::OpInfo& info = ir::InfoOf(static_cast<ir::Op>(position));
    out += "| `" + std::string(info.spelling) + "` | " + FormText(info.form) + " | " + RuleText(info.rule) +
           " | " + Cell(info.doc) + " | " + DerivativeText(static_cast<ir::Op>(position)) + " |\n";
  }
  return out;
}

std::string Words() {
  constexpr std::pair<ir::WordPlace, const char*> kPlaces[] = {
      {ir::OnFor, "`for`"},
      {ir::OnWhile, "`while`"},
      {ir::OnParallel, "`parallel`"},
      {ir::OnIf, "`if`"},
      {ir::OnAlloca, "`alloca`"},
      {ir::OnAccess, "accesses"},
      {ir::OnScalar, "scalar operations"},
      {ir::OnSum, "`add`, `sub`"},
      {ir::OnProduct, "`mul`"},
      {ir::OnAngle, "`sin`, `cos`"},
      {ir::OnStack, "`stack.push`, `stack.pop`, `stack.top`"},
      {ir::OnCheck, "`assert`, `status.raise`"},
      {ir::OnFunction, "functions, `rem`"},
      {ir::OnAny, "any"}};
  std::string out = "| word | on | since | meaning |\n|---|---|---|---|\n";
  for (const ir::WordInfo& word : ir::kWords) {
    std::string places;
    for (const auto& [place, text] : kPlaces) {
      if ((word.places & place) != 0) places += (places.empty() ? "" : ", ") + std::string(text);
    }
    out += "| `" + std::string(word.spelling) + "` | " + places + " | " +
           std::string(driver::PhaseName(word.since)) + " | " + Cell(word.meaning) + " |\n";
  }
  return out;
}

const char* StageText(driver::Stage stage) {
  switch (stage) {
    case driver::Stage::Read:
      return "read";
    case driver::Stage::Normalise:
      return "normalise";
    case driver::Stage::Differentiate:
      return "differentiate";
    case driver::Stage::Plan:
      return "plan";
    case driver::Stage::Raise:
      return "raise";
    case driver::Stage::Write:
      return "write";
  }
  return "";
}

/// The passes in the order in which they run; phases are those of ir::Phase.
std::string Passes() {
  std::string out = "| stage | pass | runs in phase | what it does |\n|---|---|---|---|\n";
  const char* stage = "";
  for (const driver::Pass& pass : driver::Pipeline()) {
    std::string phases(driver::PhaseName(pass.first));
    if (pass.last != pass.first) phases += " to " + std::string(driver::PhaseName(pass.last));
    if (pass.gives) phases += ", leads to " + std::string(driver::PhaseName(*pass.gives));
    bool same = std::string_view(stage) == StageText(pass.stage);
    stage = StageText(pass.stage);
    out += "| " + std::string(same ? "" : stage) + " | `" + std::string(pass.name) + "` | " + phases + " | " +
           Cell(pass.summary) + " |\n";
  }
  return out;
}

std::string Errors() {
  std::string out =
      "# Messages\n\n"
      "Every message of `adc` carries the id of its kind, `[E0107]`; the ids stay what they are. `E` marks "
      "errors, `W` "
      "warnings.\n"
      "An example is a short input that gives the message, with the commands. A line `// right: TEXT` says "
      "what\n"
      "stands in place of the line above it where the input is right; several such lines take the place of "
      "one.\n"
      "Where a command below the message prints nothing, it is the right one. `adc explain E0107` prints the "
      "same.\n\n"
      "This page is generated from `lib/diag/errors/` by `scripts/gen-docs`, and each example is run by a "
      "test.\n";
  for (uint32_t position = 0; position < diag::ErrorCount(); ++position) {
    const diag::ErrorInfo& info = diag::InfoAt(position);
    out += "\n<a id=\"" + std::string(info.id) + "\"></a>\n\n## " + std::string(info.id) + ": " +
           std::string(info.title) + "\n\n" + std::string(info.explanation) + "\n\n";
    diag::Example example = diag::ExampleOf(info.id);
    out += example.text.empty() ? "No example: " + std::string(example.missing) + ".\n"
                                : "```\n" + std::string(example.text) + "```\n";
  }
  return out;
}

bool Read(const std::string& path, std::string* text) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) {
    std::fprintf(stderr, "adc_gen_docs: cannot read %s\n", path.c_str());
    return false;
  }
  *text = {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  return true;
}

bool Update(const std::string& path, const std::string& have, const std::string& want, bool check) {
  if (have == want) return true;
  if (check) {
    std::fprintf(stderr, "adc_gen_docs: %s is not current; run scripts/gen-docs\n", path.c_str());
    return false;
  }
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream << want;
  stream.close();
  if (stream) return true;
  std::fprintf(stderr, "adc_gen_docs: cannot write %s\n", path.c_str());
  return false;
}

/// The same for a file that is generated whole, and may be missing.
bool UpdateWhole(const std::string& path, const std::string& want, bool check) {
  std::string have;
  if (std::ifstream(path) && !Read(path, &have)) return false;
  return Update(path, have, want, check);
}

/// Brings the part of a page between markers up to date.
bool UpdatePart(const std::string& path, const Markers& markers, const std::string& part, bool check) {
  std::string page;
  if (!Read(path, &page)) return false;
  size_t begin = page.find(markers.begin), end = page.find(markers.end);
  if (begin == std::string::npos || end == std::string::npos || end < begin) {
    std::fprintf(stderr, "adc_gen_docs: %s has lost the markers of its table\n", path.c_str());
    return false;
  }
  begin += markers.begin.size();
  return Update(path, page, page.substr(0, begin) + part + page.substr(end), check);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Writes what the documentation takes from the source.", "adc_gen_docs");
  bool check = false;
  std::string folder;
  app.add_flag("--check", check, "write nothing; exit code 1 where a page is not current");
  app.add_option("DOCS-FOLDER", folder, "the folder that holds the pages")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  bool good = UpdatePart(folder + "/ir.md", kOperations, Operations(), check) &&
              UpdatePart(folder + "/ir.md", kWords, Words(), check) &&
              UpdatePart(folder + "/architecture.md", kPasses, Passes(), check);
  std::string editors = folder + "/../editors";
  good = UpdateWhole(folder + "/errors.md", Errors(), check) &&
         UpdateWhole(editors + "/vscode/syntaxes/adc.tmLanguage.json", TextMateGrammar(), check) &&
         UpdateWhole(editors + "/vim/syntax/adc.vim", VimSyntax(), check) && good;
  return good ? 0 : 1;
}
