// Every scalar operation of the table, for every type, on a Vulkan device, against the one definition that
// the interpreter and constant folding use.

#include <iostream>

#include "../support/scalar_cases.h"
#include "ir/module.h"
#include "spirv_runner.h"
#include "spirv_support.h"

namespace {

using namespace adc;
using namespace adc::test;
using ir::Op, ir::Scalar;

bool IsLibrary(Op op) {
  return ir::ClassOf(op) == ir::OpClass::Function;
}

bool IsSubnormal(Scalar scalar, uint64_t bits) {
  if (scalar != Scalar::F32 && scalar != Scalar::F64) return false;
  double smallest = scalar == Scalar::F32 ? 0x1p-126 : 0x1p-1022;
  double value = std::fabs(ir::FloatFromBits(scalar, bits));
  return value != 0 && value < smallest;
}

/// A device may take a subnormal number for zero, and divides with an error of up to 2.5 ulp.
bool SameResult(const ScalarCase& c, const std::vector<uint64_t>& operands, uint64_t got, uint64_t want) {
  Scalar scalar = c.result.scalar;
  if (got == want) return true;
  for (size_t k = 0; k < operands.size(); ++k) {
    if (IsSubnormal(c.operand_types[k].scalar, operands[k])) return true;
  }
  if (!ir::IsFloat(scalar)) return false;
  if (IsNan(scalar, got) && IsNan(scalar, want)) return true;
  double a = ir::FloatFromBits(scalar, got), b = ir::FloatFromBits(scalar, want);
  if (IsSubnormal(scalar, want) && std::fabs(a) <= 2 * std::fabs(b)) return true;
  // An fma is rounded once where the device can.
  if (c.op == Op::Fma && scalar != Scalar::F16) {
    double product = ir::FloatFromBits(scalar, operands[0]) * ir::FloatFromBits(scalar, operands[1]);
    if (scalar == Scalar::F32) product = static_cast<float>(product);
    return got == ir::FloatToBits(scalar, product + ir::FloatFromBits(scalar, operands[2]));
  }
  bool quotient = c.op == Op::Div || c.op == Op::Rcp || c.op == Op::Sqrt || c.op == Op::Rsqrt;
  if (!IsLibrary(c.op) && !quotient) return false;
  double epsilon = scalar == Scalar::F64 ? 0x1p-50 : scalar == Scalar::F32 ? 0x1p-21 : 0x1p-10;
  return std::fabs(a - b) <= epsilon * std::max(std::fabs(a), std::fabs(b));
}

std::string Describe(const ScalarCase& c, const std::vector<uint64_t>& operands, uint64_t got,
                     uint64_t want) {
  std::string text(ir::InfoOf(c.op).spelling);
  for (size_t k = 0; k < operands.size(); ++k)
    text += " " + ir::PrintNumber(c.operand_types[k].scalar, operands[k]) + ":" +
            ir::Spelling(c.operand_types[k].scalar);
  return text + " gives " + ir::PrintNumber(c.result.scalar, got) + " instead of " +
         ir::PrintNumber(c.result.scalar, want) + " : " + ir::Spelling(c.result.scalar);
}

size_t RunCase(VulkanRunner& runner, const ScalarCase& c, const codegen::EntryCode& entry, bool near,
               std::string& report) {
  runner.Reset();
  size_t count = c.operands[0].size(), bytes = ir::ByteSize(c.result.scalar);
  std::vector<VulkanRunner::Range> ranges;
  std::vector<uint64_t> words;
  auto take = [&](size_t size) {
    uint64_t place = runner.Take(size);
    ranges.push_back({place, (size + 3) & ~size_t{3}});
    words.insert(words.end(), {runner.AddressOf(place), count});
    return place;
  };
  uint64_t out = take(count * bytes);
  for (size_t k = 0; k < c.operands.size(); ++k) {
    std::vector<uint8_t> packed = Pack(c.operand_types[k].scalar, c.operands[k]);
    std::memcpy(runner.At(take(packed.size())), packed.data(), packed.size());
  }
  words.insert(words.end(), {count, 0, runner.AddressOf(runner.Take(64)), count, 64});
  REQUIRE(entry.bindings.size() == ranges.size());
  if (!near) ranges.clear();
  runner.Run(near ? entry.symbol : entry.far_symbol, ranges, words, 1);
  size_t wrong = 0;
  std::vector<uint8_t> result(runner.At(out), runner.At(out) + count * bytes);
  for (size_t n = 0; n < count; ++n) {
    std::vector<uint64_t> operands;
    for (const auto& list : c.operands) operands.push_back(list[n]);
    std::optional<uint64_t> want = ir::EvaluateScalar(c.op, c.operand_types, c.result, operands);
    if (!want) FAIL("a case without a value");
    uint64_t got = Unpack(c.result.scalar, result, n);
    if (SameResult(c, operands, got, *want)) continue;
    if (++wrong <= 3) report += Describe(c, operands, got, *want) + "\n";
  }
  return wrong;
}

void CheckAll(codegen::FloatMode mode, uint32_t optimise) {
  VulkanRunner* runner = VulkanRunner::Get();
  if (runner == nullptr) {
    std::cerr << "SKIPPED: no Vulkan device here, so that no operation is run\n";
    return;
  }
  static const std::vector<ScalarCase> cases = AllScalarCases();
  size_t first = 0, wrong = 0, ran = 0;
  std::string report;
  // A module per operation: a driver reads the whole of it for each of its entries.
  while (first < cases.size()) {
    size_t last = first;
    while (last < cases.size() && cases[last].op == cases[first].op && last - first < 20) ++last;
    LoweredModule lowered;
    lowered.module = std::make_unique<ir::Module>();
    lowered.module->phase = ir::Phase::Lowered;
    for (size_t n = first; n < last; ++n) BuildKernel(*lowered.module, cases[n]);
    for (const auto& function : lowered.module->functions) lowered.kernels.push_back({function.get(), {}});
    codegen::CodeConfig config = SpirvConfig("vulkan:1.3", optimise);
    config.float_mode = mode;
    SpirvModule module = SpirvFor(lowered, config);
    runner->LoadModule(module.words);
    for (size_t n = first; n < last; ++n, ++ran)
      wrong += RunCase(*runner, cases[n], module.code.entries[n - first][0], n % 2 == 0, report);
    first = last;
  }
  INFO(report);
  CHECK(ran == cases.size());
  CHECK(wrong == 0);
}

}  // namespace

TEST_CASE("every scalar operation computes on Vulkan what its definition says") {
  CheckAll(codegen::FloatMode::Contract, 2);
}

TEST_CASE("operations computed strictly and unoptimised are the same") {
  CheckAll(codegen::FloatMode::Strict, 0);
}
