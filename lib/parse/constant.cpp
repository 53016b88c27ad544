// Constant expressions. They are expressions of the text, parsed into a function of their own, and computed
// by the definition of each operation that the interpreter has (ir/eval.h). Only operations whose result is
// the same on every machine may stand in one: the bytes of a product depend on it.

#include "diag/errors/parse.h"
#include "ir/eval.h"
#include "ir/module.h"
#include "ir/number.h"
#include "parse/body.h"
#include "parse/definitions.h"
#include "parse/literal.h"

namespace adc::parse {

namespace {

/// Whether every machine computes the same bits.
bool IsReproducible(Op op, Type type) {
  ir::OpClass op_class = ir::ClassOf(op);
  return !type.IsFloat() || ir::Has(op, ir::Exact) || op_class == ir::OpClass::Convert || op == Op::Select;
}

class Evaluator {
 public:
  Evaluator(Shared& shared, const ir::Function& function) : shared_(shared), function_(function) {
    bits_.assign(function.ValueCount(), 0);
  }

  uint64_t BitsOf(Value value) const {
    const ir::ValueData& data = function_[value];
    if (data.kind == ir::ValueKind::Constant) return function_.ConstantOf(value).bits;
    if (data.kind == ir::ValueKind::Global) return shared_.module.constants[data.owner].elements[0];
    return bits_[value.raw];
  }

  /// False after an error. Regions nest as deep as parentheses may.
  bool Run(Block block, uint64_t* yielded) {
    for (Inst inst : function_[block].insts) {
      const ir::InstData& data = function_[inst];
      std::span<const Value> operands = function_.Operands(inst);
      if (data.op == Op::Yield) {
        *yielded = BitsOf(operands[0]);
        return true;
      }
      if (data.op == Op::If) {
        uint64_t chosen = 0;
        if (!Run(data.regions[BitsOf(operands[0]) != 0 ? 0 : 1], &chosen)) return false;
        bits_[function_.Result(inst).raw] = chosen;
        continue;
      }
      if (!Compute(inst)) return false;
    }
    return true;
  }

 private:
  bool Compute(Inst inst) {
    const ir::InstData& data = function_[inst];
    std::vector<Type> types;
    std::vector<uint64_t> bits;
    bool exact = data.result_count == 1 && IsReproducible(data.op, function_.TypeOf(function_.Result(inst)));
    bool arrays = false;
    for (Value operand : function_.Operands(inst)) {
      types.push_back(function_.TypeOf(operand));
      arrays = arrays || !types.back().IsScalar();
      if (!arrays) bits.push_back(BitsOf(operand));
    }
    std::optional<uint64_t> result;
    if (exact && !arrays)
      result = ir::EvaluateScalar(data.op, types, function_.TypeOf(function_.Result(inst)), bits);
    if (result) {
      bits_[function_.Result(inst).raw] = *result;
      return true;
    }
    shared_.diagnostics.Error(diag::E0126, data.span, ir::OpName(data.op) + " cannot stand in a constant")
        .AddHelp(exact ? "a constant is made of numbers and scalar constants"
                       : "its last digits differ between machines: write the number");
    return false;
  }

  Shared& shared_;
  const ir::Function& function_;
  std::vector<uint64_t> bits_;
};

}  // namespace

bool BodyParser::ParseConstant(bool in_type, Operand* operand) {
  names_.Clear();
  names_.Push();
  states_types_ = false;
  Piece piece;
  bool good =
      in_type ? ParseBinary(&piece, /*head=*/false, kWeakestInType) : ParseExpression(&piece, /*head=*/false);
  return good && TakeOperand(piece, operand);
}

bool BodyParser::FinishConstant(Operand& operand, Type wanted, Type* found, uint64_t* bits) {
  Resolve(operand, wanted.IsNone() ? ir::kI64 : wanted);
  if (operand.IsPoison()) return false;
  *found = TypeOf(operand);
  if (!wanted.IsNone() && *found != wanted) {
    stream_
        .Error(diag::E0126, operand.span,
               "the value is " + TypeName(shared_.module, *found) + ", its place asks for " +
                   TypeName(shared_.module, wanted))
        .AddHelp("convert it: '" + TypeName(wanted) + "(...)'");
    return false;
  }
  if (!found->IsScalar()) {
    stream_.Error(diag::E0126, operand.span,
                  "a constant is a number, not " + TypeName(shared_.module, *found));
    return false;
  }
  Evaluator evaluator(shared_, function_);
  uint64_t unused = 0;
  if (!evaluator.Run(function_.Body(), &unused)) return false;
  *bits = evaluator.BitsOf(operand.value);
  return true;
}

struct ConstantExpression::Parts {
  explicit Parts(Shared& all) : shared(all) {}
  Shared& shared;
  ir::Function function{ir::FunctionKind::Function, {}};
  Names names;
  std::unordered_map<StringId, bool> unsure;
  std::unique_ptr<BodyParser> parser;
  Operand operand;
};

ConstantExpression::ConstantExpression(Shared& shared) : parts_(std::make_unique<Parts>(shared)) {}
ConstantExpression::~ConstantExpression() = default;

bool ConstantExpression::Parse(TokenStream& stream, bool in_type) {
  parts_->parser = std::make_unique<BodyParser>(parts_->shared, stream.file(), stream.Now().begin,
                                                stream.lexer().End(), parts_->function, parts_->names,
                                                /*silent=*/false, parts_->unsure);
  bool good = parts_->parser->ParseConstant(in_type, &parts_->operand);
  parts_->parser->stream().Continue(stream);
  return good;
}

bool ConstantExpression::Finish(Type type, Type* found, uint64_t* bits) {
  return parts_->parser->FinishConstant(parts_->operand, type, found, bits);
}

bool ParseCount(TokenStream& stream, const char* what, Count* count) {
  auto is_more = [](TokenKind next) {
    return next == TokenKind::Plus || next == TokenKind::Minus || next == TokenKind::Star ||
           next == TokenKind::Slash || next == TokenKind::Percent || next == TokenKind::Number;
  };
  *count = {.good = true, .value = kNoCount};
  if (stream.Is(TokenKind::Number) && !is_more(stream.PeekKind())) {
    count->text = Quoted(stream.Now().text);
    uint64_t value = 0;
    if (ReadCount(stream.Now().text, kNoCount - 1, &value)) count->value = value;
    stream.Advance();
    return true;
  }
  bool begins = stream.Is(TokenKind::Number) || stream.Is(TokenKind::Symbol) ||
                stream.Is(TokenKind::LeftParen) || stream.Is(TokenKind::Minus);
  if (!begins) return stream.Unexpected(what);
  diag::SourceSpan place = stream.SpanNow();
  ConstantExpression expression(stream.shared());
  if (!expression.Parse(stream, /*in_type=*/true)) return false;
  Type type;
  uint64_t bits = 0;
  count->good = expression.Finish(ir::kNoType, &type, &bits);
  if (!count->good) return true;
  if (!type.IsInteger()) {
    stream.Error(diag::E0126, {place.begin, stream.SpanPrevious().end},
                 std::string(what) + " is an integer, not " + TypeName(type));
    count->good = false;
    return true;
  }
  count->text = "'" + ir::PrintNumber(type.scalar, bits) + "'";
  bool negative = ir::IsSigned(type.scalar) && static_cast<int64_t>(bits) < 0;
  if (!negative) count->value = bits;
  return true;
}

}  // namespace adc::parse
