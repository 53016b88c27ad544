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

std::string PrintNumber(Scalar scalar, uint64_t bits) {
  return adc::PrintNumber(FormOf(scalar), bits);
}

}  // namespace adc::ir
