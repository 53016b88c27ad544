#include "ir/clone.h"

#include <algorithm>

#include "ir/module.h"
#include "support/check.h"

namespace adc::ir {

Value Cloner::Map(Value v) {
  Value mapped = map_.Get(v);
  if (mapped.Valid()) return mapped;
  const ValueData& d = from_[v];
  if (&from_ == &to_.function()) return v;
  if (d.kind == ValueKind::Constant) {
    const ConstantData& c = from_.ConstantOf(v);
    return map_[v] = to_.function().Constant(c.type, c.bits, c.spelling);
  }
  ADC_CHECK(d.kind == ValueKind::Global, "a cloned operand has no counterpart");
  return map_[v] = to_.function().Global(d.owner, d.type);
}

Inst Cloner::CloneInst(Inst inst, bool keep_names) {
  Function& into = to_.function();
  std::vector<Value> operands;
  for (uint32_t n = 0; n < from_[inst].operand_count; ++n) operands.push_back(Map(from_.Operand(inst, n)));
  std::vector<Type> results;
  for (uint32_t n = 0; n < from_[inst].result_count; ++n)
    results.push_back(from_.TypeOf(from_.Result(inst, n)));
  Inst copy = into.NewInst(from_[inst].op, operands, results, from_[inst].span);
  CopyAttributes(from_[inst], into[copy]);
  into.Append(to_.block(), copy);
  for (uint32_t n = 0; n < results.size(); ++n) {
    map_[from_.Result(inst, n)] = into.Result(copy, n);
    if (keep_names) into[into.Result(copy, n)].name = from_[from_.Result(inst, n)].name;
  }
  Block outer = to_.block();
  uint32_t regions = from_.RegionCount(inst);
  for (uint32_t r = 0; r < regions; ++r) {
    Block source_region = from_[inst].regions[r];
    Block region = into.NewBlock(copy);
    into[copy].regions[r] = region;
    size_t params = from_[source_region].params.size();
    for (size_t n = 0; n < params; ++n) {
      Value param = from_[source_region].params[n];
      map_[param] = into.AddParam(region, from_.TypeOf(param), keep_names ? from_[param].name : StringId());
    }
    to_.SetBlock(region);
    CloneBody(source_region, true, keep_names);
  }
  to_.SetBlock(outer);
  return copy;
}

void Cloner::CloneBody(Block block, bool with_terminator, bool keep_names) {
  size_t count = from_[block].insts.size();
  for (size_t n = 0; n < count; ++n) {
    Inst inst = from_[block].insts[n];
    if (IsTerminator(from_[inst].op) && !with_terminator) continue;
    if (is_left_out_ && is_left_out_(inst)) continue;
    CloneInst(inst, keep_names);
  }
}

std::unique_ptr<Function> CloneSignature(const Function& from, StringId name, ValueMap& map) {
  auto into = std::make_unique<Function>(from.kind, name);
  into->result_types = from.result_types;
  into->vjp = from.vjp;
  into->jvp = from.jvp;
  into->grad = from.grad;
  into->role = from.role;
  into->derived_from = from.derived_from;
  into->span = from.span;
  into->leading_comments = from.leading_comments;
  for (size_t n = 0; n < from.params.size(); ++n) {
    Value param = from.Params()[n];
    map[param] = into->AddParameter(from.TypeOf(param), from[param].name, from.params[n]);
  }
  return into;
}

StringId FreshName(Module& module, const Function& function, std::string name) {
  auto taken = [&] {
    return std::any_of(function.Params().begin(), function.Params().end(),
                       [&](Value param) { return module.Text(function[param].name) == name; });
  };
  while (taken()) name += ".n";
  return module.Intern(name);
}

}  // namespace adc::ir
