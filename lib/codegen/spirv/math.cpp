#include "codegen/spirv/math.h"

#include "codegen/common/math_functions.h"
#include "codegen/spirv/body.h"
#include "ir/module.h"
#include "support/check.h"

namespace adc::codegen::spirv {

Id MathLibrary::FunctionFor(ir::Op op, ir::Scalar scalar, FloatMode mode) {
  bool own = op != ir::Op::Erf && op != ir::Op::Rem;
  if (mode == FloatMode::Fast && scalar == ir::Scalar::F32 && own) return 0;
  auto [place, fresh] = made_.try_emplace({op, scalar}, 0);
  if (!fresh) return place->second;
  const MathFunctions& functions = MathFunctions::Get();
  if (op == ir::Op::Sin || op == ir::Op::Cos) return place->second = MakeSine(scalar, op == ir::Op::Cos);
  const ir::Function* function = functions.Find(op, scalar);
  ADC_CHECK(function != nullptr, "a function that nothing computes");
  return place->second = Make(functions.module(), *function);
}

Id MathLibrary::Make(const ir::Module& module, const ir::Function& function) {
  std::vector<Id> types;
  auto type_of = [&](ir::Type type) {
    return ir::IsFloat(type.scalar) ? m_.types.Float(RegisterWidth(type.scalar))
                                    : m_.types.Int(RegisterWidth(type.scalar));
  };
  for (ir::Value param : function.Params()) types.push_back(type_of(function.TypeOf(param)));
  FunctionBuilder builder(m_, type_of(function.result_types[0]), types);
  m_.Name(builder.id(), module.Text(function.name));
  ScalarEmitter scalars(builder, *this, FloatMode::Strict);
  ValueTable values(module, function, builder, scalars, nullptr);
  for (size_t n = 0; n < types.size(); ++n) values.Bind(function.Params()[n], builder.Parameter(n));
  BodyEmitter body(function, builder, scalars, values, nullptr);
  body.EmitBlock(function.Body());
  builder.Do(spv::OpReturnValue, {values.Get(function.Operand(function.Terminator(function.Body()), 0))});
  builder.Finish();
  return builder.id();
}

Id MathLibrary::MakeSine(ir::Scalar scalar, bool is_cosine) {
  const MathFunctions& functions = MathFunctions::Get();
  Id& turned = turned_sines_[scalar];
  if (turned == 0) turned = Make(functions.module(), functions.TurnedSine(scalar));
  Id type = m_.types.Float(RegisterWidth(scalar));
  FunctionBuilder builder(m_, type, {&type, 1});
  m_.Name(builder.id(), std::string(is_cosine ? "cos." : "sin.") + ir::Spelling(scalar));
  Id quarters = builder.Int(32, is_cosine ? 1 : 0);
  builder.Do(spv::OpReturnValue,
             {builder.Emit(spv::OpFunctionCall, type, {turned, builder.Parameter(0), quarters})});
  builder.Finish();
  return builder.id();
}

}  // namespace adc::codegen::spirv
