// Every scalar operation of the table, for every type, against the one definition that the interpreter and
// constant folding use: on values that are likely to be wrong, on every target that this machine runs, at
// every level.

#include <catch2/catch.hpp>

#include "../support/scalar_cases.h"
#include "codegen_support.h"

namespace {

using namespace adc;
using namespace adc::codegen_tests;
using namespace adc::test;
using ir::Op, ir::Scalar;

/// Library functions of the host and of the definition may differ in the last bit where one is called for f32
/// through f64.
bool SameResult(const ScalarCase& c, uint64_t got, uint64_t want) {
  Scalar scalar = c.result.scalar;
  if (got == want) return true;
  if (IsNan(scalar, got) && IsNan(scalar, want)) return true;
  bool library = ir::ClassOf(c.op) == ir::OpClass::Function;
  if (!library || !ir::IsFloat(scalar)) return false;
  double a = ir::FloatFromBits(scalar, got), b = ir::FloatFromBits(scalar, want);
  double epsilon = scalar == Scalar::F64 ? 0x1p-51 : scalar == Scalar::F32 ? 0x1p-22 : 0x1p-10;
  return std::fabs(a - b) <= epsilon * std::max(std::fabs(a), std::fabs(b));
}

void CheckAll(const target::Target& target, uint32_t optimise) {
  static const std::vector<ScalarCase> cases = AllScalarCases();
  REQUIRE(cases.size() > 400);
  Kernels kernels;
  for (const ScalarCase& c : cases) BuildKernel(kernels.module, c);
  auto code = test::EmitRaised(codegen::EmitCpu, kernels.module, kernels.All(), ConfigFor(target, optimise));
  REQUIRE(code.Ok());
  LoadedImage image(ImageOf(*code));
  INFO(image.Error());
  REQUIRE(image.Ok());
  size_t wrong = 0;
  for (size_t number = 0; number < cases.size(); ++number) {
    const ScalarCase& c = cases[number];
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
