#pragma once
// Every scalar operation of the table, for every type, as a kernel each, with values that are likely to be
// wrong: for tests that hold generated code against ir::EvaluateScalar.

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "ir/builder.h"
#include "ir/eval.h"
#include "ir/module.h"
#include "ir/number.h"
#include "transform/composed.h"

namespace adc::test {

inline constexpr ir::Scalar kScalars[] = {ir::Scalar::I1,  ir::Scalar::I8,  ir::Scalar::I16, ir::Scalar::I32,
                                          ir::Scalar::I64, ir::Scalar::U8,  ir::Scalar::U16, ir::Scalar::U32,
                                          ir::Scalar::U64, ir::Scalar::F16, ir::Scalar::F32, ir::Scalar::F64};

inline std::vector<uint64_t> ValuesOf(ir::Scalar scalar) {
  std::vector<uint64_t> values;
  if (scalar == ir::Scalar::I1) return {0, 1};
  if (ir::IsFloat(scalar)) {
    for (double v :
         {0.0,     -0.0,     1.0,       -1.0,  0.5,     -0.5,         1.5,    2.5,    -2.5,   3.5,
          0.1,     -0.3,     7.25,      -7.75, 100.0,   1e-3,         5.9e-8, 6.1e-5, 2049.0, 65504.0,
          65520.0, -70000.0, 8388609.0, 1e10,  -3e9,    1e-30,        1e30,   4.5e15, 1e300,  1e-300,
          127.9,   128.0,    -128.5,    255.5, 32767.5, 2147483647.0, 9.3e18, 1.9e19})
      values.push_back(ir::FloatToBits(scalar, v));
    values.push_back(ir::FloatToBits(scalar, std::numeric_limits<double>::infinity()));
    values.push_back(ir::FloatToBits(scalar, -std::numeric_limits<double>::infinity()));
    values.push_back(ir::FloatToBits(scalar, std::numeric_limits<double>::quiet_NaN()));
    return values;
  }
  uint32_t width = ir::BitWidth(scalar);
  for (uint64_t v :
       {uint64_t{0}, uint64_t{1}, uint64_t{2}, uint64_t{3}, uint64_t{7}, uint64_t{13}, uint64_t{100},
        ~uint64_t{0}, ~uint64_t{0} - 1, ~uint64_t{0} - 6, uint64_t{1} << (width - 1),
        (uint64_t{1} << (width - 1)) - 1, (uint64_t{1} << (width - 1)) + 1, uint64_t{0x123456789ABCDEF}})
    values.push_back(ir::WrapInteger(scalar, v));
  return values;
}

/// One kernel and what it is fed: element `n` of each operand.
struct ScalarCase {
  ir::Op op;
  std::vector<ir::Type> operand_types;
  ir::Type result;
  std::vector<std::vector<uint64_t>> operands;
  std::string name;
};

inline void AddCase(std::vector<ScalarCase>& cases, ir::Op op, std::vector<ir::Type> types, ir::Type result) {
  ScalarCase c{op, types, result, std::vector<std::vector<uint64_t>>(types.size()), ""};
  std::vector<std::vector<uint64_t>> values;
  for (ir::Type type : types) values.push_back(ValuesOf(type.scalar));
  size_t total = 1;
  for (const auto& list : values) total *= list.size();
  // Three operands take every fifth combination.
  size_t stride = types.size() == 3 ? 5 : 1;
  for (size_t n = 0; n < total; n += stride) {
    size_t rest = n;
    for (size_t k = 0; k < types.size(); ++k) {
      c.operands[k].push_back(values[k][rest % values[k].size()]);
      rest /= values[k].size();
    }
  }
  c.name = "k" + std::to_string(cases.size());
  cases.push_back(std::move(c));
}

inline std::vector<ScalarCase> AllScalarCases() {
  std::vector<ScalarCase> cases;
  for (uint32_t position = 0; position < ir::kOpCount; ++position) {
    auto op = static_cast<ir::Op>(position);
    ir::OpForm form = ir::InfoOf(op).form;
    if (op == ir::Op::Cast || op == ir::Op::Bitcast) {
      for (ir::Scalar from : kScalars) {
        for (ir::Scalar to : kScalars) {
          ir::Type type = ir::Type::Of(from), result = ir::Type::Of(to);
          if (op == ir::Op::Bitcast && ir::BitWidth(from) != ir::BitWidth(to)) continue;
          uint64_t zero = 0;
          if (ir::EvaluateScalar(op, {&type, 1}, result, {&zero, 1})) AddCase(cases, op, {type}, result);
        }
      }
      continue;
    }
    size_t arity = form == ir::OpForm::Unary     ? 1
                   : form == ir::OpForm::Binary  ? 2
                   : form == ir::OpForm::Ternary ? 3
                                                 : 0;
    if (arity == 0) continue;
    for (ir::Scalar scalar : kScalars) {
      std::vector<ir::Type> types(arity, ir::Type::Of(scalar));
      if (op == ir::Op::Select) types[0] = ir::kI1;
      if (std::optional<ir::Type> result = ir::ResultType(op, types)) AddCase(cases, op, types, *result);
    }
  }
  return cases;
}

/// parallel %i in 0..%n { store %out[%i], (op (load %a[%i]), ...) }
inline void BuildKernel(ir::Module& module, const ScalarCase& c) {
  ir::Function& kernel = module.AddFunction(ir::FunctionKind::Kernel, module.Intern(c.name));
  auto parameter = [&](ir::Type type, const std::string& name) {
    return kernel.AddParameter(type, module.Intern(name), {});
  };
  ir::Value out = parameter(ir::Type::Buffer(c.result, 1), "out");
  std::vector<ir::Value> inputs;
  for (size_t n = 0; n < c.operand_types.size(); ++n)
    inputs.push_back(parameter(ir::Type::Buffer(c.operand_types[n], 1), "in" + std::to_string(n)));
  ir::Value count = parameter(ir::kI32, "n");
  ir::Builder b(module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), count};
  ir::Inst loop = b.Parallel(bounds, 0);
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  ir::Value index = kernel[body].params[0];
  std::vector<ir::Value> operands;
  for (ir::Value input : inputs) operands.push_back(b.Load(input, {&index, 1}));
  bool composed = ir::ClassOf(c.op) == ir::OpClass::Composed || ir::Has(c.op, ir::OwnText);
  transform::FoldingBuilder folding(module, kernel, body);
  ir::Value value = composed ? transform::ExpandComposed(folding, c.op, operands)
                             : kernel.Result(b.Create(c.op, operands, {&c.result, 1}));
  b.Access(ir::Op::Store, out, {&index, 1}, {&value, 1});
  b.Yield({});
}

inline std::vector<uint8_t> Pack(ir::Scalar scalar, const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * ir::ByteSize(scalar));
  for (size_t n = 0; n < values.size(); ++n)
    std::memcpy(bytes.data() + n * ir::ByteSize(scalar), &values[n], ir::ByteSize(scalar));
  return bytes;
}

inline bool IsNan(ir::Scalar scalar, uint64_t bits) {
  return ir::IsFloat(scalar) && std::isnan(ir::FloatFromBits(scalar, bits));
}

inline uint64_t Unpack(ir::Scalar scalar, const std::vector<uint8_t>& bytes, size_t n) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + n * ir::ByteSize(scalar), ir::ByteSize(scalar));
  if (ir::IsInteger(scalar) || scalar == ir::Scalar::I1) return ir::WrapInteger(scalar, bits);
  return bits;
}

}  // namespace adc::test
