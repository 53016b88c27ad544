// Result types by rule, and the types of operands that are refused.

#include <catch2/catch.hpp>

#include "ir/check.h"
#include "ir/module.h"

using namespace adc;
using namespace adc::ir;

namespace {

std::optional<Type> Result(Op op, std::vector<Type> operands) {
  return ResultType(op, operands);
}

constexpr Type kV3 = Type::Vec(Scalar::F32, 3);
constexpr Type kM23 = Type::Mat(Scalar::F32, 2, 3);
constexpr Type kM33 = Type::Mat(Scalar::F32, 3, 3);

}  // namespace

TEST_CASE("result types of vectors and matrices", "[ir]") {
  CHECK(Result(Op::Add, {kV3, kV3}) == kV3);
  CHECK_FALSE(Result(Op::Add, {kV3, kF32}));
  CHECK(Result(Op::Mul, {kF32, kM23}) == kM23);
  CHECK(Result(Op::Div, {kM23, kF32}) == kM23);
  CHECK_FALSE(Result(Op::Div, {kF32, kM23}));
  CHECK_FALSE(Result(Op::Mul, {kF64, kM23}));
  CHECK(Result(Op::Lt, {kV3, kV3}) == Type::Vec(Scalar::I1, 3));
  CHECK(Result(Op::Select, {Type::Vec(Scalar::I1, 3), kV3, kV3}) == kV3);
  CHECK(Result(Op::Select, {kI1, kM23, kM23}) == kM23);
  CHECK_FALSE(Result(Op::Select, {Type::Vec(Scalar::I1, 2), kV3, kV3}));
  CHECK(Result(Op::MatMul, {kM23, kM33}) == kM23);
  CHECK(Result(Op::MatMul, {kM23, kV3}) == Type::Vec(Scalar::F32, 2));
  CHECK(Result(Op::MatMul, {Type::Vec(Scalar::F32, 2), kM23}) == kV3);
  CHECK_FALSE(Result(Op::MatMul, {kM33, kM23}));
  CHECK(Result(Op::Transpose, {kM23}) == Type::Mat(Scalar::F32, 3, 2));
  CHECK(Result(Op::Outer, {Type::Vec(Scalar::F32, 2), kV3}) == kM23);
  CHECK(Result(Op::Det, {kM33}) == kF32);
  CHECK_FALSE(Result(Op::Det, {kM23}));
  CHECK(Result(Op::MatMake, {kV3, kV3}) == kM23);
  CHECK(Result(Op::MatMake, std::vector<Type>(9, kF32)) == kM33);
  CHECK_FALSE(Result(Op::MatMake, std::vector<Type>(6, kF32)));
  CHECK(Result(Op::VecMake, {kF64, kF64}) == Type::Vec(Scalar::F64, 2));
  CHECK(Result(Op::Dot, {kV3, kV3}) == kF32);
  CHECK(Result(Op::Cross, {kV3, kV3}) == kV3);
  CHECK_FALSE(Result(Op::Cross, {Type::Vec(Scalar::F32, 2), Type::Vec(Scalar::F32, 2)}));
}

// Whatever is refused is explained, and what is not refused has a type: over every operation of plain form
// and every choice of operands from a list of types.
TEST_CASE("what is refused is explained", "[ir]") {
  Module module;
  const Type kinds[] = {kI1,
                        kI32,
                        kU32,
                        kF32,
                        kF64,
                        kV3,
                        Type::Vec(Scalar::I1, 3),
                        Type::Vec(Scalar::I32, 2),
                        kM23,
                        kM33,
                        kNoType,
                        Type::Buffer(kF32, 1),
                        Type::Array(kF32, 4),
                        Type::Stack(Scalar::F32)};
  for (uint32_t raw = 0; raw < kOpCount; ++raw) {
    Op op = static_cast<Op>(raw);
    OpForm form = InfoOf(op).form;
    bool plain = form == OpForm::Unary || form == OpForm::Binary || form == OpForm::Ternary ||
                 form == OpForm::Variadic;
    if (!plain) continue;
    for (uint32_t count = 0; count <= 4; ++count) {
      for (uint32_t choice = 0; choice < 400; ++choice) {
        std::vector<Type> operands;
        uint32_t digits = choice * 2654435761u;
        for (uint32_t n = 0; n < count; ++n, digits /= std::size(kinds))
          operands.push_back(kinds[digits % std::size(kinds)]);
        std::optional<Type> type = ResultType(op, operands);
        if (type) {
          CHECK(type->IsRegister());
          continue;
        }
        Misfit misfit = ExplainOperands(module, op, operands);
        INFO(InfoOf(op).spelling);
        CHECK_FALSE(misfit.text.empty());
        CHECK((misfit.operand == kNoAttr || misfit.operand < operands.size()));
      }
    }
  }
}
