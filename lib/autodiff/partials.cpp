// The text is parsed once for each type of float, when the first partial of that type is asked for. A
// parameter's name says what it stands for: %s the seed, %a, %b, %c the operands, %r the result.

#include "autodiff/partials.h"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "ir/module.h"
#include "support/check.h"
#include "transform/embedded_text.h"

namespace adc::autodiff {

using ir::Function, ir::Inst, ir::Op, ir::Scalar, ir::Value;
using transform::ReplaceAll;

namespace {

constexpr uint32_t kMostOperands = 3;

/// The values of those words of the text that depend on the type.
struct Words {
  const char *real, *big, *tiny, *gone, *split, *least;
};

constexpr Words kHalf = {"f16", "0x1p14", "0x1p-9", "0x1p6", "65.0", "0x1p-13"};
constexpr Words kSingle = {"f32", "0x1p64", "0x1p-65", "0x1p8", "4097.0", "0x1p-75"};
constexpr Words kDouble = {"f64", "0x1p512", "0x1p-513", "0x1p10", "134217729.0", "0x1p-538"};

std::string TextFor(const Words& words) {
  std::string text = kPartialsText;
  ReplaceAll(text, "real", words.real);
  ReplaceAll(text, ", BIG", std::string(", ") + words.big);
  ReplaceAll(text, ", TINY", std::string(", ") + words.tiny);
  ReplaceAll(text, ", GONE", std::string(", ") + words.gone);
  ReplaceAll(text, " LEAST,", std::string(" ") + words.least + ",");
  ReplaceAll(text, ", SPLIT", std::string(", ") + words.split);
  return text;
}

/// 0, 1, 2 for an operand; 's' or 'r' for the seed or the result.
char RoleOf(const Function& function, const ir::Module& module, Value parameter) {
  std::string_view name = module.Text(function[parameter].name);
  ADC_CHECK(name.size() == 1 && std::string_view("abcrs").find(name[0]) != std::string_view::npos,
            "a partial takes something that is neither an operand nor the result");
  return name[0] <= 'c' ? static_cast<char>(name[0] - 'a') : name[0];
}

}  // namespace

/// The functions for one type of float.
class PartialTable {
 public:
  explicit PartialTable(const Words& words) {
    module_ = transform::ReadEmbeddedText("partials.ir", TextFor(words), transform::EmbeddedForm::AsWritten);
    for (const auto& function : module_->functions)
      by_name_.emplace(module_->Text(function->name), Partial(*module_, *function));
    for (uint32_t op = 0; op < ir::kOpCount; ++op)
      for (uint32_t n = 0; n < kMostOperands; ++n) by_op_[op][n] = Named(static_cast<Op>(op), n, {});
    CheckComplete();
  }

  const Partial* Named(Op op, uint32_t n, std::string_view variant) const {
    std::string name(ir::InfoOf(op).spelling);
    name += {'.', static_cast<char>('a' + n)};
    auto found = by_name_.find(name.append(variant));
    return found == by_name_.end() ? nullptr : &found->second;
  }
  const Partial* Of(Op op, uint32_t n) const {
    return n < kMostOperands ? by_op_[static_cast<uint8_t>(op)][n] : nullptr;
  }

 private:
  /// Checks that the operations with a derivative in the table of operations are those that have one here.
  void CheckComplete() const {
    for (uint32_t number = 0; number < ir::kOpCount; ++number) {
      auto op = static_cast<Op>(number);
      ir::Derivative derivative = ir::InfoOf(op).derivative;
      bool has_class = ir::ClassOf(op) == ir::OpClass::Arithmetic || ir::ClassOf(op) == ir::OpClass::Function;
      bool wants =
          has_class && (derivative == ir::Derivative::Linear || derivative == ir::Derivative::Partials);
      bool has =
          std::ranges::any_of(by_op_[number], [](const Partial* partial) { return partial != nullptr; });
      ADC_CHECK(wants == has, "partials.ir holds the operations that have partial derivatives");
    }
  }

  std::unique_ptr<ir::Module> module_;
  std::map<std::string, Partial, std::less<>> by_name_;
  const Partial* by_op_[ir::kOpCount][kMostOperands];
};

namespace {

const PartialTable& TableFor(Scalar scalar) {
  static const PartialTable single(kSingle);
  if (scalar == Scalar::F32) return single;
  if (scalar == Scalar::F16) {
    static const PartialTable half(kHalf);
    return half;
  }
  ADC_CHECK(scalar == Scalar::F64, "a partial derivative of floats alone");
  static const PartialTable wide(kDouble);
  return wide;
}

}  // namespace

const Partial* Partial::Find(Op op, uint32_t n, Scalar scalar, std::string_view variant) {
  const PartialTable& table = TableFor(scalar);
  return variant.empty() ? table.Of(op, n) : table.Named(op, n, variant);
}

Partial::Partial(const ir::Module& module, const Function& function) : function_(&function) {
  for (Value parameter : function.Params()) {
    char role = RoleOf(function, module, parameter);
    roles_.push_back(role);
    if (role < 3) operands_ |= static_cast<uint8_t>(1u << role);
    if (role == 'r') reads_result_ = true;
  }
  uint32_t rounded = 0;
  for (uint32_t n = 0; n < function.InstCount(); ++n) {
    const ir::InstData& data = function[Inst(n)];
    if (data.op == Op::Return) continue;
    ADC_CHECK(!data.regions[0].Valid() && data.result_count == 1, "a partial is a straight line of values");
    bool is_choice = data.op == Op::Neg || data.op == Op::Sgn || data.op == Op::Select ||
                     data.op == Op::And || data.op == Op::Abs || ir::IsCompare(data.op);
    if (!is_choice) rounded += data.op == Op::Mul ? 1 : 2;
  }
  is_computed_ = rounded > 1;
}

Value Partial::Write(ir::Builder& builder, std::span<const Value> operands, Value result, Value s) const {
  const Function& function = *function_;
  std::vector<Value> written(function.ValueCount());
  for (size_t n = 0; n < roles_.size(); ++n) {
    Value given = roles_[n] == 's' ? s : roles_[n] == 'r' ? result : operands[static_cast<size_t>(roles_[n])];
    ADC_CHECK(given.Valid(), "what a partial reads is there");
    written[function.Params()[n].raw] = given;
  }
  auto map = [&](Value v) {
    if (!function.IsConstant(v)) return written[v.raw];
    const ir::ConstantData& constant = function.ConstantOf(v);
    return builder.Bits(constant.type, constant.bits);
  };
  for (Inst inst : function[function.Body()].insts) {
    const ir::InstData& data = function[inst];
    std::vector<Value> values;
    for (Value v : function.Operands(inst)) values.push_back(map(v));
    if (data.op == Op::Return) return values[0];
    ir::Type type = function.TypeOf(function.Result(inst));
    Inst made = builder.Create(data.op, values, {&type, 1});
    builder.function()[made].attr = data.attr;
    written[function.Result(inst).raw] = builder.function().Result(made);
  }
  ADC_UNREACHABLE("a partial returns a value");
}

}  // namespace adc::autodiff
