// Every number prints as a literal that reads back to the same bits, and no literal is taken for what it is
// not.

#include <catch2/catch.hpp>
#include <random>

#include "ir/literal_places.h"
#include "ir/number.h"
#include "parse/literal.h"

using namespace adc;
using ir::Scalar;

namespace {

void CheckBack(Scalar scalar, uint64_t bits) {
  std::string text = ir::PrintNumber(scalar, bits);
  parse::LiteralBits back = parse::ReadLiteral(text, scalar);
  INFO(ir::Spelling(scalar) << ' ' << bits << ' ' << text << ' ' << back.reason);
  REQUIRE(back.good);
  CHECK(back.bits == bits);
  bool is_float = ir::KindOfSpelling(text) == ir::LiteralKind::Float;
  CHECK(is_float == ir::IsFloat(scalar));
}

}  // namespace

TEST_CASE("numbers read back as they print", "[parse]") {
  for (uint64_t half = 0; half < 0x10000; ++half) {
    bool nan = (half & 0x7C00) == 0x7C00 && (half & 0x3FF) != 0;
    if (!nan) CheckBack(Scalar::F16, half);
  }
  std::mt19937_64 random(3);
  for (int round = 0; round < 20000; ++round) {
    uint64_t bits = random();
    for (Scalar scalar : {Scalar::I8, Scalar::I16, Scalar::I32, Scalar::I64, Scalar::U8, Scalar::U16,
                          Scalar::U32, Scalar::U64})
      CheckBack(scalar, ir::WrapInteger(scalar, bits));
    auto low = static_cast<uint32_t>(bits);
    if ((low & 0x7F800000) != 0x7F800000) CheckBack(Scalar::F32, low);
    if ((bits & 0x7FF0000000000000) != 0x7FF0000000000000) CheckBack(Scalar::F64, bits);
  }
  for (Scalar scalar : {Scalar::F16, Scalar::F32, Scalar::F64}) {
    for (double value : {0.0, -0.0, 1.0, -1.0, HUGE_VAL, -HUGE_VAL})
      CheckBack(scalar, ir::FloatToBits(scalar, value));
  }
}

TEST_CASE("literals round once, to nearest", "[parse]") {
  auto f32 = [](const char* text) {
    return ir::FloatFromBits(Scalar::F32, parse::ReadLiteral(text, Scalar::F32).bits);
  };
  CHECK(f32("0.1") == static_cast<double>(0.1f));
  // Halfway between two floats, and a hair above: rounding by way of a double would lose the hair.
  CHECK(f32("1.00000005960464477539062500000000001") == static_cast<double>(1.00000012f));
  CHECK(f32("1.000000059604644775390625") == 1.0);
  CHECK(f32("0x1.8p3") == 12.0);
  CHECK(f32("-0x1p-149") == -0x1p-149);
  CHECK(f32("7") == 7.0);
}

TEST_CASE("what a type cannot hold is refused with a reason", "[parse]") {
  auto refused = [](const char* text, Scalar scalar) {
    parse::LiteralBits literal = parse::ReadLiteral(text, scalar);
    return !literal.good && !literal.reason.empty();
  };
  CHECK(refused("128", Scalar::I8));
  CHECK_FALSE(refused("-128", Scalar::I8));
  CHECK(refused("-1", Scalar::U64));
  CHECK_FALSE(refused("-0", Scalar::U64));
  CHECK(refused("18446744073709551616", Scalar::U64));
  CHECK_FALSE(refused("0xFFFFFFFFFFFFFFFF", Scalar::U64));
  CHECK(refused("3.5e38", Scalar::F32));
  CHECK(refused("1e-50", Scalar::F32));
  CHECK_FALSE(refused("0.000e-9999", Scalar::F32));
  CHECK_FALSE(refused("0x0p99999", Scalar::F64));
  CHECK(refused("2049", Scalar::F16));
  CHECK(refused("18446744073709551615", Scalar::F64));
  CHECK(refused("1.0", Scalar::I32));
  CHECK(refused("nan", Scalar::I32));
  CHECK(refused("1", Scalar::I1));
  CHECK(refused("true", Scalar::F32));
}
