#include "autodiff/emitter.h"

#include "ir/clone.h"

namespace adc::autodiff {

using ir::Inst, ir::Op, ir::Type, ir::Value;

DerivedBody::DerivedBody(ir::Module& of, const ir::Function& from, diag::Diagnostics& reports,
                         DerivedKernel derived, ScopedMap parameters)
    : module(of),
      primal(from),
      diagnostics(reports),
      built(*derived.function),
      companions(std::move(derived.companions)),
      builder(of, *derived.function, derived.function->Body()),
      names(of, *derived.function),
      values(std::move(parameters)) {}

Emitter::Emitter(DerivedBody& body)
    : module_(body.module),
      primal_(body.primal),
      diagnostics_(body.diagnostics),
      built_(body.built),
      companions_(body.companions),
      builder_(body.builder),
      names_(body.names),
      values_(body.values),
      failed_(body.failed) {}

Value Emitter::At(Value v) {
  if (Value known = values_.Get(v.raw); known.Valid()) return known;
  const ir::ValueData& data = primal_[v];
  if (data.kind == ir::ValueKind::Constant) {
    const ir::ConstantData& constant = primal_.ConstantOf(v);
    return built_.Constant(constant.type, constant.bits, constant.spelling);
  }
  return data.kind == ir::ValueKind::Global ? built_.Global(data.owner, data.type) : Provide(v);
}

std::vector<Value> Emitter::AtAll(std::span<const Value> values) {
  std::vector<Value> result;
  result.reserve(values.size());
  for (Value v : values) result.push_back(At(v));
  return result;
}

void Emitter::Bind(Value v, Value built) {
  values_.Set(v.raw, built);
  names_.Name(built, "", primal_, v);
}

void Emitter::BindResults(Inst inst, Inst built) {
  for (uint32_t n = 0; n < primal_[inst].result_count; ++n)
    Bind(primal_.Result(inst, n), built_.Result(built, n));
}

Inst Emitter::Copy(Inst inst) {
  const ir::InstData& data = primal_[inst];
  std::vector<Value> operands = AtAll(primal_.Operands(inst));
  std::vector<Type> results;
  for (uint32_t n = 0; n < data.result_count; ++n) results.push_back(primal_.TypeOf(primal_.Result(inst, n)));
  Inst copy = builder_.Create(data.op, operands, results);
  ir::CopyAttributes(data, built_[copy]);
  BindResults(inst, copy);
  return copy;
}

Value Emitter::Assemble(Type type, std::span<const Value> components) {
  if (type.IsScalar()) return components[0];
  Op op = type.IsVec() ? Op::VecMake : Op::MatMake;
  return built_.Result(builder_.Create(op, components, {&type, 1}));
}

Value Emitter::Component(Value v, uint32_t component) {
  Type type = built_.TypeOf(v);
  if (type.IsScalar()) return v;
  if (type.IsVec()) return builder_.Make(Op::VecGet, {v, builder_.I32(static_cast<int32_t>(component))});
  return builder_.Make(Op::MatGet, {v, builder_.I32(static_cast<int32_t>(component / type.columns)),
                                    builder_.I32(static_cast<int32_t>(component % type.columns))});
}

void Emitter::Refuse(diag::ErrorId id, Inst inst, std::string text, std::string help) {
  failed_ = true;
  diagnostics_.Error(id, primal_[inst].span, std::move(text)).AddHelp(std::move(help));
}

}  // namespace adc::autodiff
