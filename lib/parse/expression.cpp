// Infix expressions: `%c = %a * %b + 1.0`.
//
// An expression goes straight to IR, from left to right, as the flat text of the same instructions would.
// Only literals wait: `2.0 / 3.0 * %x` has no type before `%x` is read, so that an expression of literals
// alone is a small tree (TreeNode) until its place, or the other operand, gives it a type. Where nothing
// does, that is an error: no type is guessed.
//
// Both forms of an instruction meet here, and old text has to mean what it meant:
//   add (mul %a, %b), 1.0      a word and its operands; nothing may follow them, so that nobody has to know
//                              whether `neg %a + %b` is a sum
//   max(%a, %b) * 2.0          a call, which operators may follow
// `max (neg %a), %b` begins like a call of `max` with one operand. It is none, because `max` takes two: what
// stands in the parentheses was its first operand. In old text parentheses hold one instruction, so that it
// never looks like a call.
//
// `&&`, `||` and `?:` evaluate what C evaluates. Where that makes no difference they are `and`, `or` and
// `select`; where the right side reads memory, calls or chooses, or a side of a choice computes something,
// they are an `if`.

#include "diag/errors/parse.h"
#include "parse/body.h"
#include "parse/generics.h"

namespace adc::parse {

using ir::OpForm;

namespace {

struct Infix {
  Op op{};
  int strength = 0;  ///< 0: no operator
};

constexpr int kOrStrength = 1, kAndStrength = 2, kSignStrength = kWeakestInType;

/// C's precedence, weakest first.
Infix InfixOf(const Token& token) {
  switch (token.kind) {
    case TokenKind::OrOr:
      return {Op::Or, kOrStrength};
    case TokenKind::AndAnd:
      return {Op::And, kAndStrength};
    case TokenKind::Bar:
      return {Op::Or, 3};
    case TokenKind::Caret:
      return {Op::Xor, 4};
    case TokenKind::Ampersand:
      return {Op::And, 5};
    case TokenKind::EqualEqual:
      return {Op::Eq, 6};
    case TokenKind::NotEqual:
      return {Op::Ne, 6};
    case TokenKind::Less:
      return {Op::Lt, 7};
    case TokenKind::LessEqual:
      return {Op::Le, 7};
    case TokenKind::Greater:
      return {Op::Gt, 7};
    case TokenKind::GreaterEqual:
      return {Op::Ge, 7};
    case TokenKind::ShiftLeft:
      return {Op::Shl, 8};
    case TokenKind::ShiftRight:
      return {Op::Shr, 8};
    case TokenKind::Plus:
      return {Op::Add, kSignStrength};
    case TokenKind::Minus:
      return {Op::Sub, kSignStrength};
    case TokenKind::Number:  // `%a -1`
      if (token.text.starts_with('-')) return {Op::Sub, kSignStrength};
      break;
    case TokenKind::Star:
      return {Op::Mul, 10};
    case TokenKind::Slash:
      return {Op::Div, 10};
    case TokenKind::Percent:
      return {Op::Rem, 10};
    case TokenKind::End:
    case TokenKind::Bad:
    case TokenKind::Word:
    case TokenKind::ValueName:
    case TokenKind::Symbol:
    case TokenKind::String:
    case TokenKind::LeftParen:
    case TokenKind::RightParen:
    case TokenKind::LeftBrace:
    case TokenKind::RightBrace:
    case TokenKind::LeftBracket:
    case TokenKind::RightBracket:
    case TokenKind::Comma:
    case TokenKind::Colon:
    case TokenKind::DoubleColon:
    case TokenKind::Equals:
    case TokenKind::Arrow:
    case TokenKind::Dot:
    case TokenKind::DotDot:
    case TokenKind::Bang:
    case TokenKind::Tilde:
    case TokenKind::Question:
      break;
  }
  return {};
}

bool IsLiteralWord(std::string_view word) {
  return word == "true" || word == "false" || word == "inf" || word == "nan";
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

// `a && b`. The right side is parsed into a block of its own; where it is harmless it moves back.
bool BodyParser::ParseShortCircuit(Op op, int strength, Piece* piece) {
  const char* word = op == Op::And ? "'&&'" : "'||'";
  Operand left = piece->operand;
  NeedCondition(left, word);
  Operand right;
  Block outer = block_;
  block_ = function_.NewBlock();
  Piece right_piece;
  bool good = EnterNesting(stream_.SpanNow());
  if (good) {
    good = ParseBinary(&right_piece, /*head=*/false, strength) && TakeOperand(right_piece, &right);
    LeaveNesting();
  }
  Block made = std::exchange(block_, outer);
  if (!good) return false;
  diag::SourceSpan span{left.span.begin, right.span.end};
  piece->operand.span = span;
  block_ = made;
  NeedCondition(right, word);
  block_ = outer;
  if (left.IsPoison() || right.IsPoison()) {
    piece->operand = {.value = kPoison, .span = span};
    return true;
  }
  if (IsPureBlock(made)) {
    MoveInstructions(made, outer);
    Operand pair[] = {left, right};
    Combine(op, pair, span, &piece->operand);
    return true;
  }
  // `a && b`: if a then b else false. `a || b`: if a then true else b.
  Block other = function_.NewBlock();
  Operand constant{.value = function_.Constant(ir::kI1, op == Op::And ? 0 : 1, {}), .span = span};
  if (op == Op::And) {
    MakeChoice(left, made, right, other, constant, span, &piece->operand);
  } else {
    MakeChoice(left, other, constant, made, right, span, &piece->operand);
  }
  return true;
}

/// An `if` of two blocks, whose values have their types.
void BodyParser::MakeChoice(const Operand& condition, Block then_block, const Operand& then_value,
                            Block else_block, const Operand& else_value, diag::SourceSpan span,
                            Operand* result) {
  Type type = function_.TypeOf(then_value.value);
  Inst inst = function_.NewInst(Op::If, {&condition.value, 1}, {&type, 1}, span);
  function_.Append(block_, inst);
  Block blocks[] = {then_block, else_block};
  Value values[] = {then_value.value, else_value.value};
  for (int n = 0; n < 2; ++n) {
    function_[blocks[n]].owner = inst;
    function_[inst].regions[n] = blocks[n];
    function_.Append(blocks[n], function_.NewInst(Op::Yield, {&values[n], 1}, {},
                                                  n == 0 ? then_value.span : else_value.span));
  }
  *result = {.value = function_.Result(inst), .span = span};
}

bool BodyParser::IsPureBlock(Block block) const {
  for (Inst inst : function_[block].insts) {
    if (ir::InfoOf(function_[inst].op).effect != ir::Effect::Pure) return false;
  }
  return true;
}

void BodyParser::MoveInstructions(Block from, Block to) {
  std::vector<Inst> insts = std::move(function_[from].insts);
  function_[from].insts.clear();
  for (Inst inst : insts) function_.Append(to, inst);
}

/// Makes a scalar i1 of `operand`, or poison after an error.
void BodyParser::NeedCondition(Operand& operand, const char* what) {
  Resolve(operand, ir::kI1);
  if (operand.IsPoison()) return;
  Type type = TypeOf(operand);
  if (type == ir::kI1) return;
  std::string help = type.IsBool()      ? "write '&', '|' and 'select' for each component of a vector"
                     : type.IsInteger() ? "compare it: '%a != 0'"
                                        : "compare it: '%a != 0.0'";
  stream_
      .Error(diag::E0107, operand.span,
             std::string(what) + " takes i1, this is " + TypeName(shared_.module, type))
      .AddHelp(std::move(help));
  operand.value = kPoison;
}

// `c ? a : b`. The sides are parsed into blocks of their own; where both are values it is a `select`.
bool BodyParser::ParseTernary(Piece* piece) {
  if (!stream_.Is(TokenKind::Question)) return true;
  Operand condition;
  if (!TakeOperand(*piece, &condition)) return false;
  NeedCondition(condition, "'?'");
  if (!EnterNesting(stream_.SpanNow())) return false;
  stream_.Advance();
  Block outer = block_;
  Block blocks[2] = {function_.NewBlock(), function_.NewBlock()};
  Operand sides[2];
  bool good = true;
  for (int n = 0; n < 2 && good; ++n) {
    block_ = blocks[n];
    if (n == 0) ++ternaries_;
    Piece side;
    good = ParseExpression(&side, /*head=*/false) && TakeOperand(side, &sides[n]);
    if (n != 0) continue;
    --ternaries_;
    good = good && stream_.Expect(TokenKind::Colon, "':' and the other value");
  }
  block_ = outer;
  LeaveNesting();
  if (!good) return false;
  diag::SourceSpan span{condition.span.begin, sides[1].span.end};
  *piece = {.operand = {.value = kPoison, .span = span}};
  bool values = function_[blocks[0]].insts.empty() && function_[blocks[1]].insts.empty();
  if (values) {
    Operand operands[] = {condition, sides[0], sides[1]};
    Combine(Op::Select, operands, span, &piece->operand);
    return true;
  }
  for (int n = 0; n < 2; ++n) {
    block_ = blocks[n];
    Type other = TypeOf(sides[1 - n]);
    if (!sides[1 - n].IsPoison()) Resolve(sides[n], other);
  }
  block_ = outer;
  if (condition.IsPoison() || sides[0].IsPoison() || sides[1].IsPoison()) return true;
  Type types[2] = {TypeOf(sides[0]), TypeOf(sides[1])};
  if (types[0] != types[1] || !types[0].IsRegister()) {
    stream_
        .Error(diag::E0107, sides[1].span,
               "a side of '?:' is " + TypeName(shared_.module, types[1]) + ", the other is " +
                   TypeName(shared_.module, types[0]))
        .AddNote(sides[0].span, "the other side");
    return true;
  }
  MakeChoice(condition, blocks[0], sides[0], blocks[1], sides[1], span, &piece->operand);
  return true;
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

/// `.x`, `.2`, `[%i]` or `[%i, %j]` behind a vector or matrix.
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
  CheckMade(&made, operands);
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
  if (token.kind != TokenKind::Word) {
    stream_.Unexpected("an operand");
    return false;
  }
  if (IsLiteralWord(token.text)) return ParseLiteral(&piece->operand);
  if (IsTypeWord()) return ParseConstruction(piece);
  TokenKind next = stream_.PeekKind();
  bool call = next == TokenKind::LeftParen || (token.text == "call" && next == TokenKind::Symbol);
  if (head || (call && token.text != "atomic")) return ParseOperation(piece, head);
  std::string help = "a value begins with '%', a constant with '@'";
  if (ir::OpFromSpelling(token.text) || token.text == "atomic")
    help = "an instruction that is an operand stands in parentheses: 'add (sin %a), 1.0'";
  stream_.Unexpected("an operand", std::move(help));
  return false;
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
  if (!known && dot != std::string_view::npos && dot + 2 == text.size()) {
    const Names::Entry& base = names_.Look(stream_.module().Intern(text.substr(0, dot)));
    size_t component = std::string_view("xyzw").find(text[dot + 1]);
    bool visible = base.state == Names::State::Visible || base.state == Names::State::Reported;
    bool vector = visible && base.value != kPoison && function_.TypeOf(base.value).IsVec();
    if (vector && component == std::string_view::npos && text[dot + 1] > '9') {
      stream_.Error(diag::E0129, operand->span, "a vector has no component " + Quoted(text.substr(dot + 1)))
          .AddHelp("components are x, y, z and w, or numbers: '%p[2]'");
      operand->value = kPoison;
      return true;
    }
    if (visible && component != std::string_view::npos) {
      CombineComponent({.value = base.value, .span = operand->span}, static_cast<uint32_t>(component),
                       operand->span, operand);
      return true;
    }
  }
  operand->value = Look(name, operand->span);
  Type type = TypeOf(*operand);
  bool element = stream_.Is(TokenKind::DoubleColon) ||
                 (stream_.Is(TokenKind::LeftBracket) && !type.IsRegister() && !operand->IsPoison());
  return !element || ParseElement(operand);
}

/// The indices behind memory, and the load.
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
  if (!bad_field) FinishAccess(Op::Load, operands, operands.size() - 1, field, component, 0, word, &made);
  *base = {.value = made.poison ? kPoison : function_.Result(made.inst), .span = SpanSince(word)};
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

/// What stands in parentheses: one instruction, or expressions with commas between them, `most` at most.
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

/// An operation where a value is wanted. `head`: right behind '(', so that it may have either form.
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

/// An instruction without regions, behind its word: in either form.
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
    if (good && parenthesis)
      piece->operand.value = piece->made.poison ? kPoison : function_.Result(piece->made.inst);
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
  if (stream_.IsWord("either")) return FinishPlain(op, word, operands, &piece->made);
  piece->is_whole = false;
  if (op == Op::MatMake && !stated.IsNone()) {
    for (Operand& operand : operands) Resolve(operand, stated);
    MakeOf(op, stated, operands, SpanSince(word), &piece->made);
  } else if (op == Op::Random) {
    if (stated.IsNone()) {
      stream_.Unexpected("the type of the value", "write 'random(%seed, %counter : f32)'");
      return false;
    }
    MakeRandom(stated, word, operands, &piece->made);
  } else {
    Combine(op, operands, SpanSince(word), &piece->operand);
    return true;
  }
  piece->operand.value = piece->made.poison ? kPoison : function_.Result(piece->made.inst);
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
  piece->operand.value = piece->made.poison ? kPoison : function_.Result(piece->made.inst);
  return true;
}

/// `f32(%i)` converts; `vec<f32, 3>(%a, %b, %c)` makes a vector, and of one scalar a vector of equal
/// components.
bool BodyParser::ParseConstruction(Piece* piece) {
  diag::SourceSpan word = stream_.SpanNow();
  Type type;
  if (!ParseType(stream_, &type)) return false;
  if (!stream_.Is(TokenKind::LeftParen)) {
    stream_.Unexpected("'('", "a type before '(' converts: 'f32(%i)'");
    return false;
  }
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
    stream_.Unexpected("'='", compound ? "write '%x[%i] = %x[%i] + ...', or 'atomic add %x[%i], ...' where "
                                         "iterations share the element"
                                       : "");
    return false;
  }
  stream_.Advance();
  size_t indices = operands.size() - 1;
  operands.emplace_back();
  if (!ParseOperand(&operands.back())) return false;
  Made made;
  FinishAccess(Op::Store, operands, indices, field, component, 0, name.span, &made);
  return true;
}

void BodyParser::CheckMade(Made* made, std::span<const Operand> operands) {
  if (!made->poison) Check(made, operands);
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
  CheckMade(&made, copy);
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
  bool fits = ir::InfoOf(op).form == OpForm::Unary    ? operands.size() == 1
              : ir::InfoOf(op).form == OpForm::Binary ? operands.size() == 2
                                                      : operands.size() == 3;
  if (!fits) return false;
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
