// Every scalar operation of the table, for every type, against the one definition that the interpreter and
// constant folding use: on values that are likely to be wrong, on every target that this machine runs, at
// every level.

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "codegen_support.h"
#include "ir/eval.h"
#include "ir/number.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;
using ir::Op;
using ir::Scalar;

constexpr Scalar kScalars[] = {Scalar::I1,  Scalar::I8,  Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8,
                               Scalar::U16, Scalar::U32, Scalar::U64, Scalar::F16, Scalar::F32, Scalar::F64};

std::vector<uint64_t> ValuesOf(Scalar scalar) {
  std::vector<uint64_t> values;
  if (scalar == Scalar::I1) return {0, 1};
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
struct Case {
  Op op;
  std::vector<ir::Type> operand_types;
  ir::Type result;
  std::vector<std::vector<uint64_t>> operands;
  std::string name;
};

void AddCase(std::vector<Case>& cases, Op op, std::vector<ir::Type> types, ir::Type result) {
  Case c{op, types, result, std::vector<std::vector<uint64_t>>(types.size()), ""};
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

std::vector<Case> AllCases() {
  std::vector<Case> cases;
  for (uint32_t position = 0; position < ir::kOpCount; ++position) {
    auto op = static_cast<Op>(position);
    ir::OpForm form = ir::InfoOf(op).form;
    if (op == Op::Cast || op == Op::Bitcast) {
      for (Scalar from : kScalars) {
        for (Scalar to : kScalars) {
          ir::Type type = ir::Type::Of(from), result = ir::Type::Of(to);
          if (op == Op::Bitcast && ir::BitWidth(from) != ir::BitWidth(to)) continue;
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
    for (Scalar scalar : kScalars) {
      std::vector<ir::Type> types(arity, ir::Type::Of(scalar));
      if (op == Op::Select) types[0] = ir::kI1;
      if (std::optional<ir::Type> result = ir::ResultType(op, types)) AddCase(cases, op, types, *result);
    }
  }
  return cases;
}

/// parallel %i in 0..%n { store %out[%i], (op (load %a[%i]), ...) }
void BuildKernel(Kernels& kernels, const Case& c) {
  ir::Function& kernel = kernels.Add(c.name);
  ir::Value out = kernels.Param(kernel, ir::Type::Buffer(c.result, 1), "out");
  std::vector<ir::Value> inputs;
  for (size_t n = 0; n < c.operand_types.size(); ++n)
    inputs.push_back(
        kernels.Param(kernel, ir::Type::Buffer(c.operand_types[n], 1), "in" + std::to_string(n)));
  ir::Value count = kernels.Param(kernel, ir::kI32, "n");
  ir::Builder b(kernels.module, kernel, kernel.Body());
  ir::Value bounds[] = {b.I32(0), count};
  ir::Inst loop = b.Parallel(bounds, 0);
  ir::Block body = kernel[loop].regions[0];
  b.SetBlock(body);
  ir::Value index = kernel[body].params[0];
  std::vector<ir::Value> operands;
  for (ir::Value input : inputs) operands.push_back(b.Load(input, {&index, 1}));
  ir::Value value = kernel.Result(b.Create(c.op, operands, {&c.result, 1}));
  b.Access(Op::Store, out, {&index, 1}, {&value, 1});
  b.Yield({});
}

std::vector<uint8_t> Pack(Scalar scalar, const std::vector<uint64_t>& values) {
  std::vector<uint8_t> bytes(values.size() * ir::ByteSize(scalar));
  for (size_t n = 0; n < values.size(); ++n)
    std::memcpy(bytes.data() + n * ir::ByteSize(scalar), &values[n], ir::ByteSize(scalar));
  return bytes;
}

bool IsNan(Scalar scalar, uint64_t bits) {
  return ir::IsFloat(scalar) && std::isnan(ir::FloatFromBits(scalar, bits));
}

/// Library functions of the host and of the definition may differ in the last bit where one is called for f32
/// through f64.
bool SameResult(const Case& c, uint64_t got, uint64_t want) {
  Scalar scalar = c.result.scalar;
  if (got == want) return true;
  if (IsNan(scalar, got) && IsNan(scalar, want)) return true;
  bool library = (c.op >= Op::Sin && c.op <= Op::Erf) || c.op == Op::Pow || c.op == Op::Atan2;
  if (!library || !ir::IsFloat(scalar)) return false;
  double a = ir::FloatFromBits(scalar, got), b = ir::FloatFromBits(scalar, want);
  double epsilon = scalar == Scalar::F64 ? 0x1p-51 : scalar == Scalar::F32 ? 0x1p-22 : 0x1p-10;
  return std::fabs(a - b) <= epsilon * std::max(std::fabs(a), std::fabs(b));
}

uint64_t Unpack(Scalar scalar, const std::vector<uint8_t>& bytes, size_t n) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes.data() + n * ir::ByteSize(scalar), ir::ByteSize(scalar));
  if (ir::IsInteger(scalar) || scalar == Scalar::I1) return ir::WrapInteger(scalar, bits);
  return bits;
}

void CheckAll(const target::Target& target, uint32_t optimise) {
  static const std::vector<Case> cases = AllCases();
  REQUIRE(cases.size() > 400);
  Kernels kernels;
  for (const Case& c : cases) BuildKernel(kernels, c);
  auto code = codegen::EmitCpu(kernels.module, kernels.All(), ConfigFor(target, optimise));
  REQUIRE(code.Ok());
  LoadedImage image(ImageOf(*code));
  INFO(image.Error());
  REQUIRE(image.Ok());
  size_t wrong = 0;
  for (size_t number = 0; number < cases.size(); ++number) {
    const Case& c = cases[number];
    size_t count = c.operands[0].size();
    std::vector<uint8_t> out(count * ir::ByteSize(c.result.scalar), 0xAB);
    Launch launch;
    auto extent = static_cast<int64_t>(count);
    launch.Buffer(out.data(), {extent});
    std::vector<std::vector<uint8_t>> inputs;
    for (size_t k = 0; k < c.operands.size(); ++k)
      inputs.push_back(Pack(c.operand_types[k].scalar, c.operands[k]));
    for (auto& input : inputs) launch.Buffer(input.data(), {extent});
    launch.Scalar(static_cast<int32_t>(count));
    launch.Run(image.Entry(code->entries[number][0].symbol), 0, count);
    for (size_t n = 0; n < count; ++n) {
      std::vector<uint64_t> operands;
      for (const auto& list : c.operands) operands.push_back(list[n]);
      std::optional<uint64_t> want = ir::EvaluateScalar(c.op, c.operand_types, c.result, operands);
      REQUIRE(want.has_value());
      uint64_t got = Unpack(c.result.scalar, out, n);
      if (SameResult(c, got, *want)) continue;
      if (++wrong > 20) continue;
      std::string text(ir::InfoOf(c.op).spelling);
      for (size_t k = 0; k < operands.size(); ++k)
        text += " " + ir::PrintNumber(c.operand_types[k].scalar, operands[k]) + ":" +
                ir::Spelling(c.operand_types[k].scalar);
      UNSCOPED_INFO(text << " gives " << ir::PrintNumber(c.result.scalar, got) << " instead of "
                         << ir::PrintNumber(c.result.scalar, *want) << " : "
                         << ir::Spelling(c.result.scalar));
    }
  }
  INFO(target.name << " -O" << optimise);
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every scalar operation computes what its definition says") {
  for (const target::Target& target : RunnableTargets()) CheckAll(target, 2);
}

TEST_CASE("the optimiser's level does not change what operations compute") {
  target::Target target = RunnableTargets().back();
  for (uint32_t optimise : {0u, 1u, 3u}) CheckAll(target, optimise);
}
