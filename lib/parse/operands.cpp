#include "diag/errors/parse.h"
#include "ir/number.h"
#include "parse/body.h"
#include "parse/literal.h"
#include "support/nearest.h"

namespace adc::parse {

namespace {

bool IsLiteralWord(std::string_view word) {
  return word == "true" || word == "false" || word == "inf" || word == "nan";
}

}  // namespace

bool BodyParser::ParseOperandList(std::vector<Operand>* operands) {
  do {
    operands->emplace_back();
    if (!ParseOperand(&operands->back())) return false;
  } while (stream_.Accept(TokenKind::Comma));
  // On the same line no operand may follow without a comma: it would be taken for the next statement.
  if (stream_.Now().first_on_line) return true;
  bool operand = stream_.Is(TokenKind::Number) || stream_.Is(TokenKind::LeftParen);
  if (stream_.Is(TokenKind::ValueName)) {
    TokenKind next = stream_.PeekKind();
    operand = next != TokenKind::Equals && next != TokenKind::Comma;
  }
  if (operand) stream_.Unexpected("','");
  return !operand;
}

bool BodyParser::ParseOperand(Operand* operand, bool may_state_type) {
  const Token& token = stream_.Now();
  operand->span = stream_.SpanNow();
  if (token.kind == TokenKind::ValueName) {
    // A name that begins a line and is followed by '=' is the next statement: an operand is missing before
    // it.
    if (token.first_on_line && stream_.PeekKind() == TokenKind::Equals) {
      stream_.Error(diag::E0101, stream_.SpanPrevious(),
                    "expected an operand after this, found the next statement");
      return false;
    }
    operand->value = Look(token, operand->span);
    stream_.Advance();
    return true;
  }
  if (token.kind == TokenKind::Number || (token.kind == TokenKind::Word && IsLiteralWord(token.text)))
    return ParseLiteral(operand, may_state_type);
  if (token.kind == TokenKind::Symbol) return ParseConstantName(operand);
  if (token.kind == TokenKind::LeftParen) return ParseNested(operand);
  if (token.kind == TokenKind::Word && token.text == "shape" && stream_.PeekKind() == TokenKind::LeftParen) {
    uint32_t begin = token.begin;
    stream_.Advance();
    Made made;
    if (!ParseShape(operand->span, &made)) return false;
    operand->value = made.poison ? kPoison : function_.Result(made.inst);
    operand->span = stream_.SpanFrom(begin);
    return true;
  }
  std::string help;
  if (token.kind == TokenKind::Word && ir::OpFromSpelling(token.text))
    help = "an instruction that is an operand stands in parentheses: 'add (sin %a), 1.0'";
  else if (token.kind == TokenKind::Word)
    help = "a value begins with '%', a constant with '@'";
  stream_.Unexpected("an operand", std::move(help));
  return false;
}

bool BodyParser::ParseLiteral(Operand* operand, bool may_state_type) {
  uint32_t begin = stream_.Now().begin;
  operand->literal = stream_.Now().text;
  stream_.Advance();
  if (!may_state_type || !stream_.Is(TokenKind::Colon)) return true;
  // `mat.make 1.0, 2.0 : mat<...>` states the type of the whole, `1.0:f64` that of the literal.
  if (stream_.PeekKind() != TokenKind::Word) return true;
  uint32_t colon = stream_.Now().begin;
  stream_.Advance();
  std::optional<ir::Scalar> scalar = ScalarFromWord(stream_.Now().text);
  if (!scalar) {
    if (stream_.IsWord("vec") || stream_.IsWord("mat") || stream_.IsWord("array")) {
      stream_.Resume(colon);
      return true;
    }
    Type ignored;
    return ParseType(stream_, &ignored);
  }
  stream_.Advance();
  operand->stated = Type::Of(*scalar);
  operand->span = stream_.SpanFrom(begin);
  return true;
}

bool BodyParser::ParseConstantName(Operand* operand) {
  StringId name = stream_.module().Intern(stream_.Now().text);
  uint32_t position = shared_.module.FindConstant(name);
  if (position == ir::kNoAttr) {
    std::vector<std::string_view> candidates;
    for (const ir::ModuleConstant& constant : shared_.module.constants)
      candidates.push_back(shared_.module.Text(constant.name));
    std::string_view nearest =
        suggestions_++ < 50 ? NearestName(stream_.Now().text, candidates) : std::string_view();
    stream_.Error(diag::E0112, operand->span, "no constant is named " + Describe(stream_.Now()))
        .AddHelp(nearest.empty() ? "a function is called: 'call @f(%a)'"
                                 : "did you mean '@" + std::string(nearest) + "'?");
    operand->value = kPoison;
  } else {
    operand->value = function_.Global(position, shared_.module.constants[position].type);
  }
  stream_.Advance();
  return true;
}

bool BodyParser::ParseNested(Operand* operand) {
  diag::SourceSpan open = stream_.SpanNow();
  uint32_t begin = stream_.Now().begin;
  if (!EnterNesting(open)) return false;
  stream_.Advance();
  diag::SourceSpan word = stream_.SpanNow();
  Op op{};
  Made made;
  bool good = ParseOpWord(&op);
  if (good && (ir::HasRegions(op) || ir::IsTerminator(op))) {
    stream_.Error(diag::E0125, word, ir::OpName(op) + " cannot be an operand");
    good = false;
  }
  good = good && ParseInstruction(op, word, &made);
  good = good && stream_.ExpectClosing(TokenKind::RightParen, "')'", open);
  LeaveNesting();
  if (!good) return false;
  operand->span = stream_.SpanFrom(begin);
  operand->value = kPoison;
  if (made.poison) return true;
  if (function_[made.inst].result_count == 1) {
    operand->value = function_.Result(made.inst);
  } else {
    stream_.Error(diag::E0117, operand->span,
                  ir::OpName(op) + " has " + std::to_string(function_[made.inst].result_count) +
                      " results, an operand is one value");
  }
  return true;
}

Type BodyParser::TypeOf(const Operand& operand) const {
  if (operand.IsLiteral()) return operand.stated;
  return operand.IsPoison() ? ir::kNoType : function_.TypeOf(operand.value);
}

bool BodyParser::AnyPoison(std::span<const Operand> operands) {
  for (const Operand& operand : operands) {
    if (operand.IsPoison()) return true;
  }
  return false;
}

void BodyParser::Resolve(Operand& operand, Type wanted) {
  if (!operand.IsLiteral()) return;
  Type type = operand.stated;
  if (type.IsNone() && wanted.IsRegister()) type = wanted.ScalarType();
  if (type.IsNone()) type = ir::DefaultLiteralType(ir::KindOfSpelling(operand.literal));
  LiteralBits literal = ReadLiteral(operand.literal, type.scalar);
  if (!literal.good) {
    stream_.Error(diag::E0108, operand.span, literal.reason).AddHelp(literal.help);
    operand.value = kPoison;
    return;
  }
  // An integer that stands for a float prints as a float, so that its spelling tells its type wherever it is
  // used.
  bool keeps_spelling = !type.IsFloat() || ir::KindOfSpelling(operand.literal) == ir::LiteralKind::Float;
  StringId spelling = keeps_spelling ? shared_.module.Intern(operand.literal) : StringId();
  operand.value = function_.Constant(type, literal.bits, spelling);
}

void BodyParser::ResolveGroup(std::span<Operand* const> group) {
  Type type;
  ir::LiteralKind kind = ir::LiteralKind::Integer;
  bool has_literal = false;
  for (const Operand* operand : group) {
    if (type.IsNone()) type = TypeOf(*operand);
    if (!operand->IsLiteral()) continue;
    has_literal = true;
    ir::LiteralKind own = ir::KindOfSpelling(operand->literal);
    if (own != ir::LiteralKind::Integer) kind = own;
  }
  if (!has_literal) return;
  // Beside memory by mistake, a literal is typed by itself and the mistake is reported at the memory.
  if (!type.IsRegister()) type = ir::DefaultLiteralType(kind);
  for (Operand* operand : group) Resolve(*operand, type);
}

void BodyParser::ResolvePlain(Op op, std::vector<Operand>& operands) {
  std::vector<Operand*> group;
  for (uint32_t n = 0; n < operands.size(); ++n) {
    switch (ir::PlaceOfOperand(op, n)) {
      case ir::LiteralPlace::Group:
        group.push_back(&operands[n]);
        break;
      case ir::LiteralPlace::Alone:
        Resolve(operands[n], ir::kNoType);
        break;
      case ir::LiteralPlace::Component:
        Resolve(operands[n], TypeOf(operands[0]));
        break;
      case ir::LiteralPlace::Condition:
        Resolve(operands[n], ir::kI1);
        break;
      case ir::LiteralPlace::Wide:
        Resolve(operands[n], ir::kI64);
        break;
    }
  }
  ResolveGroup(group);
}

}  // namespace adc::parse
