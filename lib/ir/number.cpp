#include "ir/number.h"

#include "support/number.h"

namespace adc::ir {
namespace {

NumberForm FormOf(Scalar scalar) {
  NumberKind kind = IsFloat(scalar)      ? NumberKind::Float
                    : IsSigned(scalar)   ? NumberKind::Signed
                    : IsUnsigned(scalar) ? NumberKind::Unsigned
                                         : NumberKind::Truth;
  return {kind, static_cast<uint8_t>(BitWidth(scalar))};
}

}  // namespace

uint64_t WrapInteger(Scalar scalar, uint64_t bits) {
  return adc::WrapInteger(FormOf(scalar), bits);
}

uint64_t FloatToBits(Scalar scalar, double value) {
  return adc::FloatToBits(FormOf(scalar), value);
}

double FloatFromBits(Scalar scalar, uint64_t bits) {
  return adc::FloatFromBits(FormOf(scalar), bits);
}

uint16_t HalfFromFloat(float value) {
  return adc::HalfFromFloat(value);
}

float FloatFromHalf(uint16_t half) {
  return adc::FloatFromHalf(half);
}

std::string PrintNumber(Scalar scalar, uint64_t bits) {
  return adc::PrintNumber(FormOf(scalar), bits);
}

}  // namespace adc::ir
