// `&&`, `||` and `?:` evaluate what C evaluates. Where that makes no difference they are `and`, `or` and
// `select`; where the right side reads memory, calls or chooses, or a side of a choice computes something,
// they are an `if`.

#include <utility>

#include "diag/errors/parse.h"
#include "ir/module.h"
#include "parse/body.h"

namespace adc::parse {

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
    for (Inst inst : std::exchange(function_[made].insts, {})) function_.Append(outer, inst);
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
    LearnWanted(sides[0].value, types[1]);
    LearnWanted(sides[1].value, types[0]);
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

}  // namespace adc::parse
