// composed.ir is read once for each type that an operation occurs on: the lines that stand for the type, with
// the type in the place of $T. Parser, verifier, inliner and simplifier make of it functions without calls
// and branches, whose instructions are copied in the place of the operation.

#include "transform/composed.h"

#include <array>
#include <mutex>
#include <sstream>
#include <string>

#include "ir/module.h"
#include "support/check.h"
#include "transform/composed_text.h"
#include "transform/embedded_text.h"
#include "transform/rewriter.h"

namespace adc::transform {
namespace {

using ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Type, ir::Value;

/// Whether a word in front of a bar holds of `scalar`.
bool Fits(const std::string& word, Scalar scalar) {
  uint32_t width = ir::BitWidth(scalar);
  if (word == "float") return ir::IsFloat(scalar);
  if (word == "integer") return ir::IsInteger(scalar);
  if (word == "signed") return ir::IsInteger(scalar) && ir::IsSigned(scalar);
  if (word == "unsigned") return ir::IsInteger(scalar) && !ir::IsSigned(scalar);
  if (word == "narrow") return width < 32;
  if (word == "wide") return width >= 32;
  if (word[0] == 'w') return ir::IsInteger(scalar) && word == "w" + std::to_string(width);
  return word == ir::Spelling(scalar);
}

std::string TextFor(Scalar scalar) {
  std::istringstream all(kComposedText);
  std::string text;
  for (std::string line; std::getline(all, line);) {
    size_t bar = line.starts_with("//") ? std::string::npos : line.find('|');
    bool fits = true;
    if (bar != std::string::npos) {
      std::istringstream words(line.substr(0, bar));
      for (std::string word; words >> word;) fits = fits && Fits(word, scalar);
      line.erase(0, bar + 1);
    }
    if (fits) text += line + "\n";
  }
  std::string width = std::to_string(ir::BitWidth(scalar));
  ReplaceAll(text, "$T", ir::Spelling(scalar));
  ReplaceAll(text, "$U", "u" + width);
  ReplaceAll(text, "$S", "i" + width);
  return text;
}

const Function& TextOf(Op op, Scalar scalar) {
  constexpr size_t kScalars = static_cast<size_t>(Scalar::F64) + 1;
  static std::array<std::once_flag, kScalars> once;
  static std::array<std::unique_ptr<ir::Module>, kScalars> modules;
  auto number = static_cast<size_t>(scalar);
  std::call_once(once[number], [&] {
    modules[number] = ReadEmbeddedText("composed.ir", TextFor(scalar), EmbeddedForm::Simplified);
  });
  const Function* function = modules[number]->Find(ir::InfoOf(op).spelling);
  ADC_CHECK(function != nullptr, "an operation that composed.ir does not hold");
  return *function;
}

class FunctionExpander final : public Rewriter {
 public:
  using Rewriter::Rewriter;

 private:
  void Visit(Inst inst) override {
    const ir::InstData& data = from_[inst];
    if (!ir::Has(data.op, ir::OwnText)) return Copy(inst);
    builder_.SetSpan(data.span);
    Define(inst, ExpandComposed(builder_, data.op, MapAll(from_.Operands(inst))));
  }
};

}  // namespace

Value ExpandComposed(FoldingBuilder& builder, Op op, std::span<const Value> operands) {
  Scalar scalar = builder.function().TypeOf(operands[0]).scalar;
  if (scalar == Scalar::F16 && ir::Has(op, ir::OwnText)) {
    std::vector<Value> wide;
    for (Value operand : operands) wide.push_back(builder.Cast(operand, Type::Of(Scalar::F32)));
    return builder.Cast(ExpandComposed(builder, op, wide), Type::Of(Scalar::F16));
  }
  const Function& text = TextOf(op, scalar);
  std::vector<Value> known(text.ValueCount());
  for (size_t n = 0; n < operands.size(); ++n) known[text.Params()[n].raw] = operands[n];
  auto map = [&](Value v) {
    if (!text.IsConstant(v)) return known[v.raw];
    return builder.Bits(text.TypeOf(v), text.ConstantOf(v).bits);
  };
  for (Inst inst : text[text.Body()].insts) {
    const ir::InstData& data = text[inst];
    std::vector<Value> mapped;
    for (Value v : text.Operands(inst)) mapped.push_back(map(v));
    if (data.op == Op::Return) return mapped[0];
    Type type = text.TypeOf(text.Result(inst));
    Value& made = known[text.Result(inst).raw];
    if (data.op == Op::Cast) {
      made = builder.Cast(mapped[0], type);
    } else if (data.op == Op::Bitcast) {
      made = builder.MakePure(Op::Bitcast, mapped, type, ir::kNoAttr);
    } else {
      made = builder.Make(data.op, mapped);
    }
  }
  ADC_UNREACHABLE("a function of composed.ir without a result");
}

void ExpandFunctions(ir::Module& module, FoldConfig fold) {
  for (std::unique_ptr<Function>& function : module.functions) {
    if (AnyInst(*function, [](const ir::InstData& data) { return ir::Has(data.op, ir::OwnText); }))
      *function = std::move(*FunctionExpander(module, *function, fold).Run());
  }
}

}  // namespace adc::transform
