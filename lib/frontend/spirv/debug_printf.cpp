// `debugPrintfEXT("at %u: %f\n", i, v)` is `print "at {}: {}", %i, %v`: a line, with the shortest text of
// each value. A format that asks for another text of a value is refused, since what is printed would not be
// what it says.

#include <algorithm>

#include "diag/errors/shader.h"
#include "frontend/spirv/operations.h"
#include "ir/module.h"
#include "support/letters.h"

namespace adc::frontend::spirv {
namespace {

/// `%v3f`.
struct Specifier {
  std::string text;
  uint32_t components = 1;
  char letter = 0;  ///< d, u or f; 0: one that is not taken
};

/// The specifier that begins at a `%`.
Specifier SpecifierAt(std::string_view format) {
  Specifier found;
  size_t at = std::min(format.find_first_not_of("-+ #.0123456789", 1), format.size());
  bool plain = at == 1;
  if (at + 1 < format.size() && format[at] == 'v' && IsDigit(format[at + 1])) {
    found.components = static_cast<uint32_t>(format[at + 1] - '0');
    at += 2;
  }
  size_t begin = at;
  while (at < format.size() && (format[at] == 'l' || (format[at] == 'u' && format.substr(at + 1, 1) == "l")))
    ++at;
  if (at < format.size()) ++at;
  std::string_view word = format.substr(begin, at - begin);
  found.text = format.substr(0, at);
  if (!plain) return found;
  for (std::string_view known : {"d", "i", "ld", "li"}) found.letter = word == known ? 'd' : found.letter;
  for (std::string_view known : {"u", "lu", "ul"}) found.letter = word == known ? 'u' : found.letter;
  for (std::string_view known : {"f", "g"}) found.letter = word == known ? 'f' : found.letter;
  return found;
}

/// The value as the specifier has it.
ir::Value Printed(KernelBuilder& b, ir::Value value, const Specifier& specifier, diag::SourceSpan place) {
  ir::Type type = b.TypeOf(value);
  bool fits = specifier.letter == 'f' ? type.IsFloat() : type.IsInteger();
  if (!fits || type.IsMat() || type.Components() != specifier.components)
    Refuse(diag::E0854, place,
           "'" + specifier.text + "' in a printf is given a value of type " + ir::TypeName(type),
           "write %d or %u for an integer and %f for a float, with v2 to v4 in front of the letter for a "
           "vector");
  return specifier.letter == 'u' ? b.Unsigned(value) : value;
}

}  // namespace

void Operations::DebugPrintf(const Instruction& inst) {
  std::string whole = binary_.TextOf(inst.At(2)), text;
  std::string_view format = whole;
  std::vector<ir::Value> values;
  size_t next = 3, holes = 0;
  while (!format.empty()) {
    if (format.starts_with("%%") || format[0] != '%') {
      text += format[0];
      format.remove_prefix(format[0] == '%' ? 2 : 1);
      continue;
    }
    Specifier specifier = SpecifierAt(format);
    format.remove_prefix(specifier.text.size());
    if (specifier.letter == 0)
      Refuse(diag::E0854, inst.span,
             "'" + specifier.text +
                 "' in a printf: what a kernel prints has the shortest text that reads back, without "
                 "width, precision or another base",
             "write %d, %i, %u, %f or %g, for a vector %v3f and its like");
    if (next >= inst.operands.size())
      Refuse(diag::E0854, inst.span, "a printf has no value for '" + specifier.text + "'", "give it a value");
    values.push_back(Printed(b_, GetOne(inst.At(next++)), specifier, inst.span));
    text += "{}";
    ++holes;
  }
  if (next < inst.operands.size())
    Refuse(diag::E0854, inst.span, "a printf has more values than its format shows",
           "write a %d or %f for each");
  size_t braces = 0;
  for (size_t at = text.find("{}"); at != std::string::npos; at = text.find("{}", at + 2)) ++braces;
  if (braces != holes)
    Refuse(diag::E0854, inst.span,
           "a printf with '{}' in its text, which stands for a value in what a kernel prints", "write '{ }'");
  if (text.ends_with('\n')) text.pop_back();
  ir::Inst print = b_.Create(ir::Op::Print, values, {});
  kernel_[print].symbol = module_.Intern(text);
}

}  // namespace adc::frontend::spirv
