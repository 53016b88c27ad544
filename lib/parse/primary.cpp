// The parts of an expression: values and their elements, components, constants, groups in parentheses,
// operations in either form (expression.cpp), and types that convert or construct.

#include <charconv>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/body.h"
#include "parse/generics.h"
#include "parse/literal.h"

namespace adc::parse {

using ir::OpForm;

/// `.x`, `.2`, `[%i]` or `[%i, %j]` after a vector or matrix.
bool BodyParser::ParseComponents(Operand* operand) {
  Operand base = *operand;
  Resolve(base, ir::kNoType);
  *operand = {.value = kPoison, .span = base.span};
  Type type = TypeOf(base);
  if (stream_.Is(TokenKind::Dot)) {
    uint32_t component = 0;
    if (!ParseComponent(&component)) return false;
    operand->span.end = stream_.SpanPrevious().end;
    CombineComponent(base, component, operand->span, operand);
    return true;
  }
  std::vector<Operand> operands{base};
  if (!EnterNesting(stream_.SpanNow())) return false;
  bool good = ParseIndices(&operands);
  LeaveNesting();
  if (!good) return false;
  operand->span.end = stream_.SpanPrevious().end;
  for (Operand& index : operands) Resolve(index, ir::kNoType);
  if (base.IsPoison()) return true;
  size_t wanted = type.IsVec() ? 1 : type.IsMat() ? 2 : 0;
  if (wanted == 0) {
    stream_.Error(diag::E0129, base.span, TypeName(shared_.module, type) + " has no components")
        .AddHelp("indices stand behind buffers, fields, arrays, vectors and matrices");
    return true;
  }
  if (operands.size() - 1 != wanted) {
    stream_.Error(diag::E0123, operand->span,
                  TypeName(shared_.module, type) + " takes " + std::to_string(wanted) +
                      (wanted == 1 ? " index, not " : " indices, not ") +
                      std::to_string(operands.size() - 1));
    return true;
  }
  Made made;
  MakePlain(type.IsVec() ? Op::VecGet : Op::MatGet, operands, operand->span, ir::kNoType, &made);
  Check(&made, operands);
  if (!made.poison) operand->value = function_.Result(made.inst);
  return true;
}

void BodyParser::CombineComponent(const Operand& base, uint32_t component, diag::SourceSpan span,
                                  Operand* result) {
  *result = {.value = kPoison, .span = span};
  if (base.IsPoison()) return;
  Type type = TypeOf(base);
  if (!type.IsVec() || component >= type.rows) {
    stream_
        .Error(diag::E0129, span,
               TypeName(shared_.module, type) + " has no component " + std::to_string(component))
        .AddHelp(type.IsMat() ? "write '%m[%row, %column]'" : "");
    return;
  }
  Operand operands[] = {base, {.value = function_.Constant(ir::kI32, component, {}), .span = span}};
  Made made;
  MakePlain(Op::VecGet, operands, span, ir::kNoType, &made);
  if (!made.poison) result->value = function_.Result(made.inst);
}

bool BodyParser::ParsePrimary(Piece* piece, bool head) {
  const Token& token = stream_.Now();
  piece->operand.span = stream_.SpanNow();
  if (token.kind == TokenKind::ValueName) return ParseValue(&piece->operand);
  if (token.kind == TokenKind::Number) return ParseLiteral(&piece->operand);
  if (token.kind == TokenKind::Symbol) return ParseSymbol(piece);
  if (token.kind == TokenKind::LeftParen) {
    std::vector<Operand> items;
    if (!ParseGroup(&items, /*most=*/1)) return false;
    diag::SourceSpan span{piece->operand.span.begin, stream_.SpanPrevious().end};
    piece->operand = items[0];
    piece->operand.span = span;
    return true;
  }
  if (token.kind != TokenKind::Word) return stream_.Unexpected("an operand");
  if (IsLiteralWord(token.text)) return ParseLiteral(&piece->operand);
  if (IsTypeWord()) return ParseConstruction(piece);
  TokenKind next = stream_.PeekKind();
  bool call = next == TokenKind::LeftParen || (token.text == "call" && next == TokenKind::Symbol);
  if (head || (call && token.text != "atomic")) return ParseOperation(piece, head);
  std::string help = "a value begins with '%', a constant with '@'";
  if (ir::OpFromSpelling(token.text) || token.text == "atomic")
    help = "an instruction that is an operand stands in parentheses: 'add (sin %a), 1.0'";
  return stream_.Unexpected("an operand", std::move(help));
}

/// `%p.x` and `%p.2`, whose name `text` no value has, where `%p` is a vector. False where that is not so.
bool BodyParser::ParseComponentOfName(std::string_view text, size_t dot, Operand* operand) {
  const Names::Entry& base = names_.Look(stream_.module().Intern(text.substr(0, dot)));
  if (base.state != Names::State::Visible && base.state != Names::State::Reported) return false;
  std::string_view word = text.substr(dot + 1);
  bool vector = base.value != kPoison && function_.TypeOf(base.value).IsVec();
  uint32_t component = 0;
  auto [end, fault] = std::from_chars(word.data(), word.data() + word.size(), component);
  if (fault != std::errc() || end != word.data() + word.size() || !vector) {
    std::optional<uint32_t> letter = ComponentFromLetter(word);
    if (!letter) {
      if (!vector || word.size() != 1) return false;
      stream_.Error(diag::E0129, operand->span, "a vector has no component " + Quoted(word))
          .AddHelp("components are x, y, z and w, or numbers: '%p.2'");
      operand->value = kPoison;
      return true;
    }
    component = *letter;
  }
  diag::SourceSpan name = operand->span;
  name.end = name.begin + 1 + static_cast<uint32_t>(dot);
  NotePlace(name, base.place, base.value);
  CombineComponent({.value = base.value, .span = operand->span}, component, operand->span, operand);
  return true;
}

/// `%x`, `%p.x` where `%p` is a vector, and `%x[%i]` where `%x` is memory.
bool BodyParser::ParseValue(Operand* operand) {
  // A name that begins a line and is followed by '=' is the next statement: an operand is missing before it.
  if (stream_.Now().first_on_line && stream_.PeekKind() == TokenKind::Equals) {
    stream_.Error(diag::E0101, stream_.SpanPrevious(),
                  "expected an operand after this, found the next statement");
    return false;
  }
  std::string_view text = stream_.Now().text;
  StringId name = stream_.module().Intern(text);
  stream_.Advance();
  size_t dot = text.rfind('.');
  Names::State state = names_.Look(name).state;
  bool known = state == Names::State::Visible || state == Names::State::Reported;
  if (!known && dot != std::string_view::npos && ParseComponentOfName(text, dot, operand)) return true;
  operand->value = Look(name, operand->span);
  Type type = TypeOf(*operand);
  bool element = stream_.Is(TokenKind::DoubleColon) ||
                 (stream_.Is(TokenKind::LeftBracket) && !type.IsRegister() && !operand->IsPoison());
  return !element || ParseElement(operand);
}

/// The indices after the name of memory, and the load.
bool BodyParser::ParseElement(Operand* base) {
  diag::SourceSpan word = base->span;
  std::vector<Operand> operands{*base};
  uint32_t field = ir::kNoAttr;
  uint32_t component = ir::kNoAttr;
  bool bad_field = !ParseField(operands[0], &field);
  if (bad_field && !stream_.Is(TokenKind::LeftBracket)) return false;
  if (!EnterNesting(stream_.SpanNow())) return false;
  bool good = ParseIndices(&operands);
  LeaveNesting();
  if (!good) return false;
  for (Operand& operand : operands) Resolve(operand, ir::kNoType);
  if (!ParseComponent(&component)) return false;
  Made made;
  made.poison = bad_field;
  if (!bad_field) FinishAccess(Op::Load, operands, operands.size() - 1, field, component, {}, word, &made);
  *base = {.value = ResultOf(made), .span = SpanSince(word)};
  return true;
}

/// `@eps`, `@w[%i]`, `@f(%a)`.
bool BodyParser::ParseSymbol(Piece* piece) {
  TokenKind next = stream_.PeekKind();
  StringId name = stream_.module().Intern(stream_.Now().text);
  bool generic =
      next == TokenKind::Less && ((shared_.generics != nullptr && shared_.generics->IsGeneric(name)) ||
                                  shared_.module.Find(name) != nullptr);
  if (next == TokenKind::LeftParen || generic) {
    diag::SourceSpan word = stream_.SpanNow();
    if (!EnterNesting(word)) return false;
    bool good = ParseCall(word, &piece->made);
    LeaveNesting();
    piece->is_call = true;
    piece->operand.span = SpanSince(word);
    return good;
  }
  if (!ParseConstantName(&piece->operand)) return false;
  bool element = stream_.Is(TokenKind::LeftBracket) && TypeOf(piece->operand).IsArray();
  return !element || ParseElement(&piece->operand);
}

/// The contents of parentheses: one instruction, or expressions with commas between them, `most` at most.
bool BodyParser::ParseGroup(std::vector<Operand>* items, size_t most, Op op, Type* stated) {
  diag::SourceSpan open = stream_.SpanNow();
  if (!EnterNesting(open)) return false;
  uint32_t ternaries = std::exchange(ternaries_, 0);
  bool group_states = std::exchange(group_states_, false);
  stream_.Advance();
  bool good = true;
  do {
    Piece piece;
    items->emplace_back();
    // `mat.make (cos 0.5:f64), ...` states the type of the literal.
    group_states_ = stated != nullptr && op == Op::Random && items->size() > 1;
    good = ParseExpression(&piece, /*head=*/items->size() == 1) && TakeOperand(piece, &items->back());
    if (good && piece.is_whole && HasOperator()) good = RefuseOperator(SpellingOf(piece));
  } while (good && items->size() < most && stream_.Accept(TokenKind::Comma));
  if (good && stated != nullptr && items->size() > 1 && stream_.Accept(TokenKind::Colon))
    good = ParseType(stream_, stated);
  good = good && stream_.ExpectClosing(TokenKind::RightParen, "')'", open);
  ternaries_ = ternaries;
  group_states_ = group_states;
  LeaveNesting();
  return good;
}

std::string_view BodyParser::SpellingOf(const Piece& piece) const {
  return piece.made.poison ? "this" : ir::InfoOf(function_[piece.made.inst].op).spelling;
}

/// The operands of `op` in the form `add %a, %b`.
bool BodyParser::ParseSimpleList(Op op, std::vector<Operand>* operands) {
  do {
    operands->emplace_back();
    if (!ParseSimple(&operands->back())) return false;
  } while (stream_.Accept(TokenKind::Comma));
  if (HasOperator()) return RefuseOperator(ir::InfoOf(op).spelling);
  return !IsStrayOperand();
}

bool BodyParser::ParseSimple(Operand* operand) {
  Piece piece;
  return ParseUnary(&piece, /*head=*/false) && TakeOperand(piece, operand);
}

/// An operation where a value is wanted. `head`: right after '(', so that it may have either form.
bool BodyParser::ParseOperation(Piece* piece, bool head) {
  diag::SourceSpan word = stream_.SpanNow();
  Op op{};
  if (!ParseOpWord(&op)) return false;
  if (ir::HasRegions(op) || ir::IsTerminator(op)) {
    stream_.Error(diag::E0125, word, ir::OpName(op) + " cannot be an operand");
    return false;
  }
  if (!ParseInstructionPiece(op, word, piece)) return false;
  if (!piece->is_whole || head) return true;
  stream_.Error(diag::E0101, piece->operand.span, "expected an operand, found an instruction")
      .AddHelp("an instruction that is an operand stands in parentheses: 'add (sin %a), 1.0'");
  return false;
}

/// An instruction without regions, after its word: in either form.
bool BodyParser::ParseInstructionPiece(Op op, diag::SourceSpan word, Piece* piece) {
  piece->is_whole = true;
  bool parenthesis = stream_.Is(TokenKind::LeftParen);
  OpForm form = ir::InfoOf(op).form;
  bool good = false;
  if (form == OpForm::CallForm) {
    piece->is_whole = false;
    piece->is_call = true;
    good = ParseCall(word, &piece->made);
  } else if (form == OpForm::ShapeForm) {
    good = ParseShape(word, &piece->made);
    piece->is_whole = !parenthesis;
    if (good && parenthesis) piece->operand.value = ResultOf(piece->made);
  } else if (!parenthesis) {
    good = ParseInstruction(op, word, &piece->made);
  } else if (form == OpForm::Convert) {
    good = ParseConvertInParentheses(op, word, piece);
  } else if (form == OpForm::Unary || form == OpForm::Binary || form == OpForm::Ternary ||
             form == OpForm::Variadic || form == OpForm::RandomForm) {
    good = ParseCallOfOperation(op, word, piece);
  } else {
    good = ParseInstruction(op, word, &piece->made);
  }
  piece->operand.span = SpanSince(word);
  return good;
}

/// `max(%a, %b)`, or `max (neg %a), %b`.
bool BodyParser::ParseCallOfOperation(Op op, diag::SourceSpan word, Piece* piece) {
  std::vector<Operand> operands;
  Type stated;
  bool may_state = op == Op::Random || op == Op::MatMake;
  if (!ParseGroup(&operands, SIZE_MAX, op, may_state ? &stated : nullptr)) return false;
  bool first_operand = operands.size() == 1 && ir::InfoOf(op).form != OpForm::Unary && stated.IsNone();
  if (first_operand) {
    Piece first{.operand = operands[0]};
    if (!ParsePostfixAfter(&first)) return false;
    operands[0] = first.operand;
    if (stream_.Accept(TokenKind::Comma) && !ParseSimpleList(op, &operands)) return false;
    if (HasOperator()) return RefuseOperator(ir::InfoOf(op).spelling);
    return op == Op::Random ? FinishRandom(word, operands, &piece->made)
                            : FinishPlain(op, word, operands, &piece->made);
  }
  if (IsWordAfterOperands(op)) return FinishPlain(op, word, operands, &piece->made);
  piece->is_whole = false;
  if (op == Op::MatMake && !stated.IsNone()) {
    for (Operand& operand : operands) Resolve(operand, stated);
    MakeOf(op, stated, operands, SpanSince(word), &piece->made);
  } else if (op == Op::Random) {
    if (stated.IsNone())
      return stream_.Unexpected("the type of the value", "write 'random(%seed, %counter : f32)'");
    MakeRandom(stated, word, operands, &piece->made);
  } else {
    Combine(op, operands, SpanSince(word), &piece->operand);
    return true;
  }
  piece->operand.value = ResultOf(piece->made);
  return true;
}

/// `cast(%x to f64)`, or `cast (neg %x) to f64`.
bool BodyParser::ParseConvertInParentheses(Op op, diag::SourceSpan word, Piece* piece) {
  diag::SourceSpan open = stream_.SpanNow();
  if (!EnterNesting(open)) return false;
  stream_.Advance();
  Piece inner;
  Operand operand;
  bool good = ParseExpression(&inner, /*head=*/true) && TakeOperand(inner, &operand);
  LeaveNesting();
  if (!good) return false;
  bool call = stream_.IsWord("to");
  if (!call && !stream_.ExpectClosing(TokenKind::RightParen, "')'", open)) return false;
  if (!call) {
    Piece after{.operand = operand};
    if (!ParsePostfixAfter(&after)) return false;
    operand = after.operand;
  }
  if (!FinishConvert(op, word, operand, &piece->made)) return false;
  if (!call) return true;
  if (!stream_.ExpectClosing(TokenKind::RightParen, "')'", open)) return false;
  piece->is_whole = false;
  piece->operand.value = ResultOf(piece->made);
  return true;
}

/// `f32(%i)` converts; `vec<f32, 3>(%a, %b, %c)` makes a vector, and of one scalar a vector of equal
/// components.
bool BodyParser::ParseConstruction(Piece* piece) {
  diag::SourceSpan word = stream_.SpanNow();
  Type type;
  if (!ParseType(stream_, &type)) return false;
  if (!stream_.Is(TokenKind::LeftParen))
    return stream_.Unexpected("'('", "a type before '(' converts: 'f32(%i)'");
  std::vector<Operand> items;
  if (!ParseGroup(&items, SIZE_MAX)) return false;
  piece->operand = {.value = kPoison, .span = SpanSince(word)};
  if (!type.IsRegister()) {
    stream_.Error(
        diag::E0113, word,
        TypeName(shared_.module, type) + " cannot be made here: only scalars, vectors and matrices");
    return true;
  }
  for (Operand& item : items) Resolve(item, type);
  if (AnyPoison(items)) return true;
  Type first = TypeOf(items[0]);
  Made made;
  bool converts = items.size() == 1 && !(type.IsVec() && first.IsScalar());
  if (converts && first == type) {
    piece->operand.value = items[0].value;
    return true;
  }
  if (converts) {
    made = CreateAt(Op::Cast, items, {&type, 1}, piece->operand.span);
    Check(&made, items);
  } else if (type.IsVec()) {
    if (items.size() == 1) items.resize(type.rows, items[0]);
    MakeOf(Op::VecMake, type, items, piece->operand.span, &made);
  } else if (type.IsMat()) {
    MakeOf(Op::MatMake, type, items, piece->operand.span, &made);
  } else {
    stream_.Error(diag::E0114, piece->operand.span,
                  TypeName(type) + " takes 1 value, not " + std::to_string(items.size()));
    return true;
  }
  if (!made.poison) piece->operand.value = function_.Result(made.inst);
  return true;
}

/// A vector or matrix of the type that is stated.
void BodyParser::MakeOf(Op op, Type type, std::span<const Operand> items, diag::SourceSpan span, Made* made) {
  if (op == Op::MatMake && !type.IsMat()) {
    stream_.Error(diag::E0113, span, "'mat.make' makes a matrix, not " + TypeName(shared_.module, type));
    made->poison = true;
    return;
  }
  MakePlain(op, items, span, op == Op::MatMake ? type : ir::kNoType, made);
  if (made->poison) return;
  Type result = function_.TypeOf(function_.Result(made->inst));
  if (result == type) return;
  stream_.Error(diag::E0107, span, "these values make " + TypeName(result) + ", not " + TypeName(type))
      .AddHelp("nothing is converted by itself: write '" + std::string(Spelling(type.scalar)) + "(%a)'");
  made->poison = true;
}

}  // namespace adc::parse
