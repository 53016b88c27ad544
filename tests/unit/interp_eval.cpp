// The value of each scalar operation, on the corners where languages and machines differ.

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "ir/eval.h"
#include "ir/number.h"

using namespace adc;
using ir::Op, ir::Scalar, ir::Type;

namespace {

uint64_t Evaluate(Op op, Scalar scalar, std::vector<uint64_t> operands, Scalar result) {
  std::vector<Type> types(operands.size(), Type::Of(scalar));
  auto bits = ir::EvaluateScalar(op, types, Type::Of(result), operands);
  REQUIRE(bits.has_value());
  return *bits;
}

int64_t Int(Op op, Scalar scalar, std::vector<int64_t> operands) {
  std::vector<uint64_t> bits;
  for (int64_t v : operands) bits.push_back(ir::WrapInteger(scalar, static_cast<uint64_t>(v)));
  return static_cast<int64_t>(Evaluate(op, scalar, bits, scalar));
}

double Float(Op op, Scalar scalar, std::vector<double> operands) {
  std::vector<uint64_t> bits;
  for (double v : operands) bits.push_back(ir::FloatToBits(scalar, v));
  return ir::FloatFromBits(scalar, Evaluate(op, scalar, bits, scalar));
}

bool Compare(Op op, Scalar scalar, double a, double b) {
  return Evaluate(op, scalar, {ir::FloatToBits(scalar, a), ir::FloatToBits(scalar, b)}, Scalar::I1) != 0;
}

int64_t CastToInt(Scalar from, double value, Scalar to) {
  return static_cast<int64_t>(Evaluate(Op::Cast, from, {ir::FloatToBits(from, value)}, to));
}

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

}  // namespace

TEST_CASE("integers wrap at their width", "[interp]") {
  CHECK(Int(Op::Add, Scalar::I8, {127, 1}) == -128);
  CHECK(Int(Op::Sub, Scalar::I32, {INT32_MIN, 1}) == INT32_MAX);
  CHECK(Int(Op::Mul, Scalar::I64, {INT64_MAX, 2}) == -2);
  CHECK(Int(Op::Mul, Scalar::U16, {65535, 65535}) == 1);
  CHECK(Int(Op::Neg, Scalar::I16, {-32768}) == -32768);
  CHECK(Int(Op::Neg, Scalar::U8, {1}) == 255);
  CHECK(Int(Op::Abs, Scalar::I32, {INT32_MIN}) == INT32_MIN);
  CHECK(Int(Op::Not, Scalar::U8, {0x0F}) == 0xF0);
}

TEST_CASE("division by zero gives zero, and signs follow their definitions", "[interp]") {
  for (Scalar scalar : {Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U32, Scalar::U64}) {
    for (Op op : {Op::Div, Op::Rem, Op::Mod, Op::FloorDiv}) CHECK(Int(op, scalar, {7, 0}) == 0);
  }
  CHECK(Int(Op::Div, Scalar::I32, {INT32_MIN, -1}) == INT32_MIN);
  CHECK(Int(Op::FloorDiv, Scalar::I64, {INT64_MIN, -1}) == INT64_MIN);
  CHECK(Int(Op::Rem, Scalar::I32, {INT32_MIN, -1}) == 0);
  CHECK(Int(Op::Div, Scalar::I32, {-7, 2}) == -3);
  CHECK(Int(Op::Rem, Scalar::I32, {-7, 2}) == -1);
  CHECK(Int(Op::FloorDiv, Scalar::I32, {-7, 2}) == -4);
  CHECK(Int(Op::Mod, Scalar::I32, {-7, 2}) == 1);
  CHECK(Int(Op::Mod, Scalar::I32, {7, -2}) == -1);
  CHECK(Int(Op::FloorDiv, Scalar::I8, {-128, 127}) == -2);
  // Every pair of a small type, against the definitions.
  for (int64_t a = -128; a < 128; ++a) {
    for (int64_t b = -128; b < 128; ++b) {
      if (b == 0) continue;
      auto floor = static_cast<int64_t>(std::floor(static_cast<double>(a) / static_cast<double>(b)));
      CHECK(Int(Op::FloorDiv, Scalar::I8, {a, b}) == static_cast<int8_t>(floor));
      CHECK(Int(Op::Mod, Scalar::I8, {a, b}) == static_cast<int8_t>(a - b * floor));
    }
  }
}

TEST_CASE("shifts take their amount modulo the width", "[interp]") {
  CHECK(Int(Op::Shl, Scalar::I32, {1, 33}) == 2);
  CHECK(Int(Op::Shr, Scalar::I32, {-8, 1}) == -4);
  CHECK(Int(Op::Shr, Scalar::U8, {0x80, 7}) == 1);
  CHECK(Int(Op::Shr, Scalar::I8, {-128, -1}) == -1);
  CHECK(Int(Op::Clz, Scalar::U16, {0}) == 16);
  CHECK(Int(Op::Clz, Scalar::I64, {1}) == 63);
  CHECK(Int(Op::Popcount, Scalar::I8, {-1}) == 8);
}

TEST_CASE("min and max take the second operand on ties and NaN", "[interp]") {
  for (Scalar scalar : {Scalar::F16, Scalar::F32, Scalar::F64}) {
    CHECK(std::isnan(Float(Op::Min, scalar, {1.0, kNan})));
    CHECK(Float(Op::Min, scalar, {kNan, 1.0}) == 1.0);
    CHECK(std::signbit(Float(Op::Max, scalar, {0.0, -0.0})));
    CHECK_FALSE(std::signbit(Float(Op::Max, scalar, {-0.0, 0.0})));
    CHECK(Float(Op::Clamp, scalar, {5.0, 0.0, 2.0}) == 2.0);
    CHECK(Float(Op::Clamp, scalar, {kNan, 0.0, 2.0}) == 0.0);
  }
}

TEST_CASE("rounding, signs and remainders of floats", "[interp]") {
  for (Scalar scalar : {Scalar::F16, Scalar::F32, Scalar::F64}) {
    CHECK(Float(Op::Round, scalar, {0.5}) == 0.0);
    CHECK(Float(Op::Round, scalar, {1.5}) == 2.0);
    CHECK(Float(Op::Round, scalar, {2.5}) == 2.0);
    CHECK(Float(Op::Round, scalar, {-2.5}) == -2.0);
    CHECK(std::signbit(Float(Op::Round, scalar, {-0.25})));
    CHECK(Float(Op::Sgn, scalar, {-3.0}) == -1.0);
    CHECK(std::isnan(Float(Op::Sgn, scalar, {kNan})));
    CHECK(Float(Op::Mod, scalar, {-7.0, 2.0}) == 1.0);
    CHECK(Float(Op::Rem, scalar, {-7.0, 2.0}) == -1.0);
    CHECK(Float(Op::FloorDiv, scalar, {-7.0, 2.0}) == -4.0);
  }
  CHECK(Float(Op::Round, Scalar::F64, {0.49999999999999994}) == 0.0);
  CHECK(Float(Op::Round, Scalar::F64, {0x1p52 + 1}) == 0x1p52 + 1);
}

TEST_CASE("each float type computes in its own precision", "[interp]") {
  CHECK(Float(Op::Add, Scalar::F32, {16777216.0, 1.0}) == 16777216.0);
  CHECK(Float(Op::Add, Scalar::F16, {2048.0, 1.0}) == 2048.0);
  CHECK(Float(Op::Mul, Scalar::F16, {300.0, 300.0}) == kInf);
  CHECK(Float(Op::Fma, Scalar::F32, {16777217.0 / 2, 2.0, 1.0}) == 16777216.0);
  // Rounded once: 1 + 2^-11 + 2^-24 lies above the middle of two neighbours of f16.
  CHECK(Float(Op::Fma, Scalar::F16, {0x1p-12, 0x1p-12, 1.00048828125 - 0x1p-20}) == 1.0);
  CHECK(Float(Op::Sqrt, Scalar::F32, {2.0}) == static_cast<double>(std::sqrt(2.0f)));
}

TEST_CASE("comparisons with NaN are false but for ne", "[interp]") {
  for (Op op : {Op::Eq, Op::Lt, Op::Le, Op::Gt, Op::Ge}) CHECK_FALSE(Compare(op, Scalar::F32, kNan, kNan));
  CHECK(Compare(Op::Ne, Scalar::F64, kNan, kNan));
  CHECK(Compare(Op::Eq, Scalar::F16, 0.0, -0.0));
}

TEST_CASE("conversions truncate, saturate, and give zero for NaN", "[interp]") {
  for (Scalar from : {Scalar::F16, Scalar::F32, Scalar::F64}) {
    CHECK(CastToInt(from, kNan, Scalar::I32) == 0);
    CHECK(CastToInt(from, -1.75, Scalar::I32) == -1);
    CHECK(CastToInt(from, kInf, Scalar::I8) == 127);
    CHECK(CastToInt(from, -kInf, Scalar::I64) == INT64_MIN);
    CHECK(CastToInt(from, -5.0, Scalar::U16) == 0);
    CHECK(CastToInt(from, 300.0, Scalar::U8) == 255);
    CHECK(CastToInt(from, 0.25, Scalar::I1) == 1);
  }
  CHECK(CastToInt(Scalar::F32, 2147483648.0, Scalar::I32) == INT32_MAX);
  CHECK(CastToInt(Scalar::F64, 2147483646.5, Scalar::I32) == 2147483646);
  CHECK(static_cast<uint64_t>(CastToInt(Scalar::F64, 0x1p64, Scalar::U64)) == UINT64_MAX);
  CHECK(Evaluate(Op::Cast, Scalar::I32, {static_cast<uint64_t>(int64_t{-1})}, Scalar::U8) == 255);
  CHECK(Evaluate(Op::Cast, Scalar::I32, {256}, Scalar::I8) == 0);
  CHECK(Evaluate(Op::Cast, Scalar::I32, {256}, Scalar::I1) == 1);
  CHECK(ir::FloatFromBits(Scalar::F32, Evaluate(Op::Cast, Scalar::U64, {UINT64_MAX}, Scalar::F32)) == 0x1p64);
  CHECK(Evaluate(Op::Bitcast, Scalar::F32, {0xBF800000u}, Scalar::I32) == 0xFFFFFFFFBF800000ull);
  CHECK(Evaluate(Op::Bitcast, Scalar::I16, {static_cast<uint64_t>(int64_t{-1})}, Scalar::F16) == 0xFFFF);
}

TEST_CASE("what is no scalar arithmetic has no value", "[interp]") {
  Type vector = Type::Vec(Scalar::F32, 3);
  uint64_t bits[] = {0, 0};
  Type types[] = {ir::kF32, ir::kF32};
  CHECK_FALSE(ir::EvaluateScalar(Op::Dot, types, ir::kF32, bits).has_value());
  CHECK_FALSE(ir::EvaluateScalar(Op::And, types, ir::kF32, bits).has_value());
  CHECK_FALSE(ir::EvaluateScalar(Op::Neg, {&vector, 1}, vector, {bits, 1}).has_value());
}
