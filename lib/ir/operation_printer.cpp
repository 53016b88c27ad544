#include "ir/operation_printer.h"

#include <span>
#include <utility>

#include "ir/either_side.h"
#include "ir/known.h"
#include "ir/literal_places.h"
#include "ir/module.h"
#include "ir/promise.h"
#include "ir/string_literal.h"
#include "support/check.h"

namespace adc::ir {

namespace {

class OperationPrinter {
 public:
  OperationPrinter(const Module& module, const Function& function, OperandPrinter& print, std::string& out)
      : module_(module), function_(function), print_(print), out_(out) {}

  void Print(Inst inst) {
    const InstData& data = function_[inst];
    const OpInfo& info = InfoOf(data.op);
    std::span<const Value> operands = function_.Operands(inst);
    bool has_result = data.result_count != 0 && Known(function_, function_.Result(inst));
    Type result = has_result ? function_.TypeOf(function_.Result(inst)) : kNoType;
    out_ += info.spelling;
    switch (info.form) {
      case OpForm::Nullary:
        out_ += " " + TypeName(module_, result);
        return;
      case OpForm::AllocaForm:
        out_ += " " + TypeName(module_, result);
        if (data.Has(Word::Shared)) out_ += " shared";
        if (data.Has(Word::Unset)) out_ += " unset";
        out_ += RaisedText(data.op, data.words);
        return;
      case OpForm::Unary:
      case OpForm::Binary:
      case OpForm::Ternary:
      case OpForm::Variadic:
        Plain(data.op, operands, result);
        if (MayBeEither(data.op) && data.attr == kEitherSide) out_ += " either";
        out_ += RaisedText(data.op, data.words);
        return;
      case OpForm::RandomForm:
        List(operands, " ");
        out_ += " : " + TypeName(module_, result);
        return;
      case OpForm::Convert:
        for (Value v : operands) {
          out_ += ' ';
          print_.Alone(v);
        }
        out_ += " to " + TypeName(module_, result);
        out_ += RaisedText(data.op, data.words);
        return;
      case OpForm::ShapeForm:
        return Shape(data, operands, result);
      case OpForm::Access:
        return Access(data, operands);
      case OpForm::CallForm:
        return Call(data, operands);
      case OpForm::AssertForm:
        return Assert(data, operands);
      case OpForm::PrintForm:
        out_ += " " + StringLiteral(module_.Text(data.symbol));
        return List(operands, ", ");
      case OpForm::BarrierForm:
        return;
      case OpForm::StackNewForm:
        out_ += std::string(" ") + Spelling(result.scalar);
        return;
      case OpForm::StackForm:
        return Stack(data, operands);
      case OpForm::RowForm:
        out_ += " " + std::to_string(data.attr);
        return;
      case OpForm::RowAccess:
        return Row(data, operands, result);
      case OpForm::StatusForm:
        if (std::string_view check = CheckWord(data.words); !check.empty()) {
          out_.append(" ").append(check).append(" ");
        } else {
          out_ += " " + std::to_string(data.attr) + ", ";
        }
        out_ += std::to_string(data.component);
        return More(operands, kI64);
      case OpForm::Control:
      case OpForm::Terminator:
        break;
    }
    ADC_UNREACHABLE("control is printed with its regions");
  }

 private:
  void List(std::span<const Value> operands, const char* before) {
    for (Value v : operands) {
      out_ += std::exchange(before, ", ");
      print_.Alone(v);
    }
  }

  /// Operands that follow something else, of a type that is known.
  void More(std::span<const Value> operands, Type type) {
    for (Value v : operands) {
      out_ += ", ";
      print_.Asked(v, type);
    }
  }

  void Plain(Op op, std::span<const Value> operands, Type result) {
    std::vector<Value> group;
    for (uint32_t n = 0; n < operands.size(); ++n) {
      if (PlaceOfOperand(op, n) == LiteralPlace::Group) group.push_back(operands[n]);
    }
    bool states_result = op == Op::MatMake && result.rows != result.columns && !operands.empty() &&
                         Known(function_, operands[0]) && function_.TypeOf(operands[0]).IsScalar();
    bool state_type = !states_result && print_.GroupNeedsType(group);
    for (uint32_t n = 0; n < operands.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      switch (PlaceOfOperand(op, n)) {
        case LiteralPlace::Group:
          print_.Operand(operands[n], std::exchange(state_type, false));
          break;
        case LiteralPlace::Alone:
          print_.Alone(operands[n]);
          break;
        case LiteralPlace::Component:
          print_.Asked(operands[n], ScalarTypeOf(operands[0]));
          break;
        case LiteralPlace::Condition:
          print_.Asked(operands[n], kI1);
          break;
        case LiteralPlace::Wide:
          print_.Asked(operands[n], kI64);
          break;
      }
    }
    if (states_result) out_ += " : " + TypeName(module_, result);
  }

  void Shape(const InstData& data, std::span<const Value> operands, Type result) {
    out_ += ' ';
    if (operands.empty()) {
      out_ += "<too few operands>";
    } else {
      print_.Field(operands[0], data.component);
    }
    out_ += ", " + std::to_string(data.attr);
    if (result != kI32) out_ += " : " + TypeName(module_, result);
  }

  void Access(const InstData& data, std::span<const Value> operands) {
    out_ += ' ';
    if (operands.size() < 1u + data.index_count) {
      out_ += "<too few operands>";
      return;
    }
    print_.Field(operands[0], data.attr);
    out_ += '[';
    List(operands.subspan(1, data.index_count), "");
    out_ += ']';
    if (data.component != kNoAttr) out_ += "." + std::to_string(data.component);
    Type element = AccessType(data, operands[0]);
    More(operands.subspan(1u + data.index_count), element);
    if (data.Has(Word::Plain)) out_ += " plain";
    out_ += RaisedText(data.op, data.words);
  }

  void Call(const InstData& data, std::span<const Value> operands) {
    out_ += ' ';
    print_.Symbol(data.symbol);
    out_ += '(';
    const Function* callee = module_.Find(data.symbol);
    for (uint32_t n = 0; n < operands.size(); ++n) {
      if (n != 0) out_ += ", ";
      bool known = callee != nullptr && n < callee->Params().size();
      print_.Asked(operands[n], known ? callee->TypeOf(callee->Params()[n]) : kNoType);
    }
    out_ += ')';
  }

  void Assert(const InstData& data, std::span<const Value> operands) {
    if (!operands.empty()) {
      out_ += ' ';
      print_.Asked(operands[0], kI1);
    }
    out_ += ", ";
    bool promise = data.Has(Word::Promise);
    if (promise && data.attr < kPromiseWords.size()) out_ += std::string(kPromiseWords[data.attr]) + ' ';
    out_ += StringLiteral(module_.Text(data.symbol));
    if (!operands.empty()) More(operands.subspan(1), kI64);
  }

  void Stack(const InstData& data, std::span<const Value> operands) {
    bool has_slot = data.Has(Word::HasSlot) && !operands.empty();
    size_t before_slot = operands.size() - (has_slot ? 1 : 0);
    if (before_slot != 0) {
      out_ += ' ';
      print_.Operand(operands[0]);
      More(operands.subspan(1, before_slot - 1), ScalarTypeOf(operands[0]));
    }
    if (!has_slot) return;
    out_ += " at ";
    print_.Alone(operands[before_slot]);
  }

  void Row(const InstData& data, std::span<const Value> operands, Type result) {
    for (uint32_t n = 0; n < operands.size(); ++n) {
      out_ += n == 0 ? " " : ", ";
      if (n == 1) out_ += std::to_string(data.attr) + ", ";
      if (n < 2) {
        print_.Asked(operands[n], kI64);
      } else {
        print_.Alone(operands[n]);
      }
    }
    if (data.op == Op::RowLoad) out_ += " : " + TypeName(module_, result);
  }

  /// The type of what an access of `base` reads or writes.
  Type AccessType(const InstData& data, Value base) const {
    if (!Known(function_, base)) return kNoType;
    Type type = function_.TypeOf(base);
    if (type.IsLayout() &&
        (type.count >= module_.layouts.size() || data.attr >= module_.layouts[type.count].fields.size()))
      return kNoType;
    Type element = module_.ElementType(function_, base, data.attr);
    return data.component == kNoAttr ? element : element.ScalarType();
  }

  Type ScalarTypeOf(Value v) const {
    return Known(function_, v) ? function_.TypeOf(v).ScalarType() : kNoType;
  }

  const Module& module_;
  const Function& function_;
  OperandPrinter& print_;
  std::string& out_;
};

}  // namespace

void PrintOperation(const Module& module, const Function& function, Inst inst, OperandPrinter& print,
                    std::string& out) {
  OperationPrinter(module, function, print, out).Print(inst);
}

}  // namespace adc::ir
