// Infix expressions: `%c = %a * %b + 1.0`.
//
// An expression goes straight to IR, from left to right, as the flat text of the same instructions would.
// Only literals wait: `2.0 / 3.0 * %x` has no type before `%x` is read, so that an expression of literals
// alone is a small tree (TreeNode) until its place, or the other operand, gives it a type. Where nothing
// does, that is an error: no type is guessed.
//
// Both forms of an instruction meet here, and old text has to mean what it meant:
//   add (mul %a, %b), 1.0      a word and its operands; nothing may follow them: a reader need not
//                              know whether `neg %a + %b` is a sum
//   max(%a, %b) * 2.0          a call, which operators may follow
// `max (neg %a), %b` begins like a call of `max` with one operand. It is none, because `max` takes two: the
// parentheses hold its first operand. In old text parentheses hold one instruction, so that it never looks
// like a call.
//
// primary.cpp reads the operands between operators; choices.cpp reads `&&`, `||` and `?:`.

#include <utility>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/body.h"
#include "parse/literal.h"

namespace adc::parse {

namespace {

struct Infix {
  Op op{};
  int strength = 0;  ///< 0: no operator
};

constexpr int kOrStrength = 1, kAndStrength = 2, kSignStrength = kWeakestInType;

/// C's precedence, weakest first.
constexpr std::pair<TokenKind, Infix> kInfix[] = {
    {TokenKind::OrOr, {Op::Or, kOrStrength}},
    {TokenKind::AndAnd, {Op::And, kAndStrength}},
    {TokenKind::Bar, {Op::Or, 3}},
    {TokenKind::Caret, {Op::Xor, 4}},
    {TokenKind::Ampersand, {Op::And, 5}},
    {TokenKind::EqualEqual, {Op::Eq, 6}},
    {TokenKind::NotEqual, {Op::Ne, 6}},
    {TokenKind::Less, {Op::Lt, 7}},
    {TokenKind::LessEqual, {Op::Le, 7}},
    {TokenKind::Greater, {Op::Gt, 7}},
    {TokenKind::GreaterEqual, {Op::Ge, 7}},
    {TokenKind::ShiftLeft, {Op::Shl, 8}},
    {TokenKind::ShiftRight, {Op::Shr, 8}},
    {TokenKind::Plus, {Op::Add, kSignStrength}},
    {TokenKind::Minus, {Op::Sub, kSignStrength}},
    {TokenKind::Star, {Op::Mul, 10}},
    {TokenKind::Slash, {Op::Div, 10}},
    {TokenKind::Percent, {Op::Rem, 10}},
};

Infix InfixOf(const Token& token) {
  if (token.kind == TokenKind::Number && token.text.starts_with('-'))
    return {Op::Sub, kSignStrength};  // `%a -1`
  for (const auto& [kind, infix] : kInfix) {
    if (kind == token.kind) return infix;
  }
  return {};
}

/// Whether the result of `op` has the type of its operands, so that their type follows from its own.
bool PassesType(Op op) {
  using ir::TypeRule;
  TypeRule rule = ir::InfoOf(op).rule;
  return rule == TypeRule::SameNumber || rule == TypeRule::SameNumberScale || rule == TypeRule::SameFloat ||
         rule == TypeRule::SameInteger || rule == TypeRule::SameBits || rule == TypeRule::SameAny ||
         rule == TypeRule::SelectRule;
}

}  // namespace

bool BodyParser::HasOperator() const {
  return InfixOf(stream_.Now()).strength != 0 || stream_.Is(TokenKind::Question);
}

bool BodyParser::IsTypeWord() {
  return stream_.Is(TokenKind::Word) && BeginsType(stream_, stream_.Now().text);
}

bool BodyParser::BeginsExpression() {
  return stream_.Is(TokenKind::Word) && (IsLiteralWord(stream_.Now().text) || IsTypeWord());
}

bool BodyParser::RefuseOperator(std::string_view what) {
  stream_
      .Error(diag::E0101, stream_.SpanNow(),
             "an operator cannot follow the operands of '" + std::string(what) + "'")
      .AddHelp(what == "load"
                   ? "write '%x[%i]' in an expression"
                   : "write '" + std::string(what) + "(...)', or put the instruction in parentheses");
  return false;
}

bool BodyParser::TakeOperand(Piece& piece, Operand* operand) {
  *operand = piece.operand;
  if (!piece.is_whole && !piece.is_call) return true;
  operand->value = kPoison;
  if (piece.made.poison) return true;
  const ir::InstData& inst = function_[piece.made.inst];
  if (inst.result_count == 1) {
    operand->value = function_.Result(piece.made.inst);
  } else {
    stream_.Error(diag::E0117, operand->span,
                  ir::OpName(inst.op) + " has " + std::to_string(inst.result_count) +
                      " results, an operand is one value");
  }
  return true;
}

bool BodyParser::ParseExpression(Piece* piece, bool head) {
  if (!ParseBinary(piece, head, 0)) return false;
  return piece->is_whole || ParseTernary(piece);
}

bool BodyParser::ParseBinary(Piece* piece, bool head, int lowest) {
  if (!ParseUnary(piece, head)) return false;
  return piece->is_whole || ParseBinaryAfter(piece, lowest);
}

bool BodyParser::ParseBinaryAfter(Piece* piece, int lowest) {
  for (;;) {
    Infix infix = InfixOf(stream_.Now());
    if (infix.strength == 0 || infix.strength < lowest) return true;
    Operand left;
    if (!TakeOperand(*piece, &left)) return false;
    *piece = {.operand = left};
    bool short_circuit = infix.strength == kOrStrength || infix.strength == kAndStrength;
    if (short_circuit) {
      stream_.Advance();
      if (!ParseShortCircuit(infix.op, infix.strength + 1, piece)) return false;
      continue;
    }
    if (stream_.Is(TokenKind::Number)) stream_.SplitSign();
    stream_.Advance();
    Piece right;
    Operand pair[2] = {left, {}};
    if (!ParseBinary(&right, /*head=*/false, infix.strength + 1) || !TakeOperand(right, &pair[1]))
      return false;
    *piece = {};
    Combine(infix.op, pair, {pair[0].span.begin, pair[1].span.end}, &piece->operand);
  }
}

bool BodyParser::ParseUnary(Piece* piece, bool head) {
  std::vector<std::pair<TokenKind, diag::SourceSpan>> signs;
  while (stream_.Is(TokenKind::Minus) || stream_.Is(TokenKind::Bang) || stream_.Is(TokenKind::Tilde)) {
    signs.emplace_back(stream_.Now().kind, stream_.SpanNow());
    stream_.Advance();
  }
  // `- 2.0` is the number -2.0, as it is without the blank.
  bool number =
      (stream_.Is(TokenKind::Number) && !stream_.Now().text.starts_with('-')) || stream_.IsWord("inf");
  bool negative = number && !signs.empty() && signs.back().first == TokenKind::Minus;
  if (negative) {
    diag::SourceSpan sign = signs.back().second;
    signs.pop_back();
    StringId spelling = shared_.module.Intern("-" + std::string(stream_.Now().text));
    piece->operand.span = stream_.SpanNow();
    if (!ParseLiteral(&piece->operand)) return false;
    piece->operand.literal = shared_.module.Text(spelling);
    piece->operand.span.begin = sign.begin;
  } else if (!ParsePrimary(piece, head && signs.empty())) {
    return false;
  }
  if (piece->is_whole) return true;
  if (!ParsePostfixAfter(piece)) return false;
  while (!signs.empty()) {
    auto [kind, sign] = signs.back();
    signs.pop_back();
    Operand operand;
    if (!TakeOperand(*piece, &operand)) return false;
    diag::SourceSpan span{sign.begin, operand.span.end};
    *piece = {};
    if (kind == TokenKind::Bang) {
      NeedCondition(operand, "'!'");
    } else if (kind == TokenKind::Tilde && TypeOf(operand).IsBool()) {
      stream_.Error(diag::E0107, operand.span, "'~' takes integers, this is i1").AddHelp("write '!'");
      operand.value = kPoison;
    }
    Combine(kind == TokenKind::Minus ? Op::Neg : Op::Not, {&operand, 1}, span, &piece->operand);
  }
  return true;
}

bool BodyParser::ParsePostfixAfter(Piece* piece) {
  while (stream_.Is(TokenKind::LeftBracket) || stream_.Is(TokenKind::Dot)) {
    Operand base;
    if (!TakeOperand(*piece, &base)) return false;
    *piece = {.operand = base};
    if (!ParseComponents(&piece->operand)) return false;
  }
  return true;
}

/// `%x[%i] = %v`, `%g::vel[%i].y = %v`.
bool BodyParser::ParseAssignment(Region& region, const NameToken& name) {
  CheckNotEnded(region, name.span);
  std::vector<Operand> operands{{.value = Look(name.name, name.span), .span = name.span}};
  uint32_t field = ir::kNoAttr;
  uint32_t component = ir::kNoAttr;
  Type base = TypeOf(operands[0]);
  if (base.IsRegister()) {
    stream_.Error(diag::E0137, name.span, "a component of a value cannot be assigned: values do not change")
        .AddHelp(base.IsVec() ? "write '%new = vec.set %p, 0, ...' and use '%new'"
                              : "name a new value, or store in a buffer or a local array");
    return false;
  }
  if (!ParseField(operands[0], &field) || !ParseIndices(&operands)) return false;
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  if (!ParseComponent(&component)) return false;
  if (!stream_.Is(TokenKind::Equals)) {
    bool compound = InfixOf(stream_.Now()).strength != 0;
    return stream_.Unexpected("'='", compound
                                         ? "write '%x[%i] = %x[%i] + ...', or 'atomic add %x[%i], ...' where "
                                           "iterations share the element"
                                         : "");
  }
  stream_.Advance();
  size_t indices = operands.size() - 1;
  operands.emplace_back();
  if (!ParseOperand(&operands.back())) return false;
  Made made;
  FinishAccess(Op::Store, operands, indices, field, component, {}, name.span, &made);
  return true;
}

void BodyParser::Combine(Op op, std::span<const Operand> operands, diag::SourceSpan span, Operand* result) {
  std::vector<Operand> copy(operands.begin(), operands.end());
  *result = {.value = kPoison, .span = span};
  if (AnyPoison(copy)) return;
  if (CombineTree(op, copy, span, result)) return;
  const Operand* untyped = nullptr;
  bool typed = false;
  for (uint32_t n = 0; n < copy.size(); ++n) {
    if (ir::PlaceOfOperand(op, n) != ir::LiteralPlace::Group) continue;
    bool waits = copy[n].IsLiteral() && copy[n].stated.IsNone();
    if (waits && untyped == nullptr && KindOf(copy[n]) != ir::LiteralKind::Bool) untyped = &copy[n];
    typed = typed || !waits;
  }
  if (untyped != nullptr && !typed) {
    ReportUntyped(*untyped);
    return;
  }
  ResolvePlain(op, copy);
  Made made;
  MakePlain(op, copy, span, ir::kNoType, &made);
  Check(&made, copy);
  if (!made.poison) result->value = function_.Result(made.inst);
}

/// Where every operand waits for its type, and the result has the same, the result waits as well.
bool BodyParser::CombineTree(Op op, std::vector<Operand>& operands, diag::SourceSpan span, Operand* result) {
  if (operands.size() > 3 || !PassesType(op)) return false;
  for (uint32_t n = 0; n < operands.size(); ++n) {
    bool condition = ir::PlaceOfOperand(op, n) == ir::LiteralPlace::Condition;
    if (!condition && (!operands[n].IsLiteral() || !operands[n].stated.IsNone())) return false;
    if (condition && (operands[n].IsLiteral() || TypeOf(operands[n]) != ir::kI1)) return false;
  }
  if (operands.size() != ir::Arity(ir::InfoOf(op).form)) return false;
  TreeNode node;
  node.is_leaf = false;
  node.op = op;
  node.span = span;
  uint32_t begin = kNoTree;
  for (size_t n = 0; n < operands.size(); ++n) {
    node.operands[n] = AddTree(operands[n]);
    begin = std::min({begin, node.operands[n], operands[n].tree_begin});
  }
  *result = {.span = span, .tree = static_cast<uint32_t>(trees_.size()), .tree_begin = begin};
  trees_.push_back(node);
  return true;
}

uint32_t BodyParser::AddTree(const Operand& operand) {
  if (operand.IsTree()) return operand.tree;
  trees_.push_back({.literal = operand.literal, .value = operand.value, .span = operand.span});
  return static_cast<uint32_t>(trees_.size() - 1);
}

}  // namespace adc::parse
