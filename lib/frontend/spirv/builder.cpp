#include "frontend/spirv/builder.h"

#include "diag/errors/shader.h"
#include "frontend/spirv/types.h"

namespace adc::frontend::spirv {

using ir::Op;

ir::Value KernelBuilder::Make(ir::Op op, std::span<const ir::Value> operands) {
  std::vector<ir::Type> types;
  for (ir::Value value : operands) types.push_back(TypeOf(value));
  if (!ir::ResultType(op, types))
    Refuse(diag::E0852, span(),
           "operands of '" + std::string(ir::InfoOf(op).spelling) + "' do not fit each other");
  return ir::Builder::Make(op, operands);
}

ir::Value KernelBuilder::ComponentOf(ir::Value vector, uint32_t n) {
  if (TypeOf(vector).IsScalar()) return vector;
  return Make(Op::VecGet, {vector, I32(n)});
}

ir::Value KernelBuilder::MakeVector(std::span<const ir::Value> parts) {
  return parts.size() == 1 ? parts[0] : Make(Op::VecMake, parts);
}

ir::Value KernelBuilder::Column(ir::Value matrix, ir::Value column) {
  return VectorOf(TypeOf(matrix).rows,
                  [&](uint32_t row) { return Make(Op::MatGet, {matrix, I32(row), column}); });
}

ir::Value KernelBuilder::MatrixOf(ir::Type type, std::span<const ir::Value> columns) {
  if (columns.size() != type.columns) Refuse(diag::E0852, span(), "a matrix has another number of columns");
  std::vector<ir::Value> parts;
  for (uint32_t row = 0; row < type.rows; ++row) {
    for (uint32_t column = 0; column < type.columns; ++column)
      parts.push_back(ComponentOf(columns[column], row));
  }
  return function_.Result(Create(Op::MatMake, parts, {&type, 1}));
}

ir::Value KernelBuilder::Splat(ir::Value scalar, ir::Type like) {
  if (like.IsScalar()) return scalar;
  std::vector<ir::Value> parts(like.Components(), scalar);
  return function_.Result(Create(like.IsVec() ? Op::VecMake : Op::MatMake, parts, {&like, 1}));
}

ir::Value KernelBuilder::FloatLike(ir::Value like, double value) {
  ir::Type type = TypeOf(like);
  return Splat(Float(type.ScalarType(), value), type);
}

ir::Value KernelBuilder::Scaled(ir::Value value, double factor) {
  return Make(Op::Mul, {value, FloatLike(value, factor)});
}

ir::Value KernelBuilder::Unsigned(ir::Value value) {
  ir::Type type = TypeOf(value);
  return ir::IsSigned(type.scalar) ? Cast(value, IntegersLike(type, false)) : value;
}

ir::Value KernelBuilder::Choose(ir::Value condition, ir::Type type, const std::function<ir::Value()>& first,
                                const std::function<ir::Value()>& second) {
  ir::Inst branch = If(condition, {&type, 1});
  ir::Block outer = block();
  for (uint32_t arm = 0; arm < 2; ++arm) {
    SetBlock(function_[branch].regions[arm]);
    ir::Value value = arm == 0 ? first() : second();
    Yield({&value, 1});
  }
  SetBlock(outer);
  return function_.Result(branch);
}

void KernelBuilder::When(ir::Value condition, const std::function<void()>& body, bool holds) {
  ir::Inst branch = If(condition, {});
  ir::Block outer = block();
  SetBlock(function_[branch].regions[holds ? 0 : 1]);
  body();
  SetBlock(outer);
  CloseArms(branch);
}

void KernelBuilder::Close(ir::Block region) {
  if (function_.Terminator(region).Valid()) return;
  ir::Block back = block();
  SetBlock(region);
  Yield({});
  SetBlock(back);
}

// Yields are new instructions, and those move what the kernel has: the blocks are taken out first.
void KernelBuilder::CloseArms(ir::Inst branch) {
  const ir::InstData& data = function_[branch];
  ir::Block first = data.regions[0], second = data.regions[1];
  Close(first);
  Close(second);
}

}  // namespace adc::frontend::spirv
