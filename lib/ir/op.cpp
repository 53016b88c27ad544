#include "ir/op.h"

#include <unordered_map>

#include "ir/op_sets.h"
#include "support/check.h"

namespace adc::ir {
namespace {

constexpr OpInfo kOps[] = {
#define ADC_OP(name, spelling, op_class, form, rule, effect, traits, derivative, doc) \
  {spelling,                                                                          \
   OpClass::op_class,                                                                 \
   OpForm::form,                                                                      \
   TypeRule::rule,                                                                    \
   Effect::effect,                                                                    \
   static_cast<uint8_t>(traits),                                                      \
   Derivative::derivative,                                                            \
   doc},
#include "ir/ops.def"
#undef ADC_OP
};

}  // namespace

const OpInfo& InfoOf(Op op) {
  return kOps[static_cast<uint8_t>(op)];
}

std::optional<Op> OpFromSpelling(std::string_view text) {
  static const auto* const kBySpelling = [] {
    auto* map = new std::unordered_map<std::string_view, Op>();
    for (uint32_t position = 0; position < kOpCount; ++position)
      map->emplace(kOps[position].spelling, static_cast<Op>(position));
    return map;
  }();
  auto found = kBySpelling->find(text);
  if (found == kBySpelling->end()) return std::nullopt;
  return found->second;
}

Op Inverted(Op op) {
  // clang-format off
  switch (In<CompareOp>(op)) {
    using enum CompareOp;
    case Eq: return Op::Ne;
    case Ne: return Op::Eq;
    case Lt: return Op::Ge;
    case Ge: return Op::Lt;
    case Gt: return Op::Le;
    case Le: return Op::Gt;
  }
  // clang-format on
  ADC_UNREACHABLE("comparison");
}

Op Mirrored(Op op) {
  // clang-format off
  switch (In<CompareOp>(op)) {
    using enum CompareOp;
    case Eq: case Ne: return op;
    case Lt: return Op::Gt;
    case Gt: return Op::Lt;
    case Le: return Op::Ge;
    case Ge: return Op::Le;
  }
  // clang-format on
  ADC_UNREACHABLE("comparison");
}

const char* Spelling(Scalar s) {
  constexpr const char* kNames[] = {"i1",  "i8",  "i16", "i32", "i64", "u8",
                                    "u16", "u32", "u64", "f16", "f32", "f64"};
  return kNames[static_cast<uint8_t>(s)];
}

}  // namespace adc::ir
