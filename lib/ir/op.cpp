#include "ir/op.h"

#include <string>
#include <unordered_map>

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

const char* Spelling(Scalar s) {
  constexpr const char* kNames[] = {"i1",  "i8",  "i16", "i32", "i64", "u8",
                                    "u16", "u32", "u64", "f16", "f32", "f64"};
  return kNames[static_cast<uint8_t>(s)];
}

}  // namespace adc::ir
