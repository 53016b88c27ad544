#include <adrt/adrt.h>

#include "artifact/metadata.h"

// The scalar types of the public header are those of the metadata, counted from 1.

namespace {

bool IsType(uint32_t type) {
  return type >= ADRT_TYPE_I1 && type <= ADRT_TYPE_F64;
}

}  // namespace

static_assert(static_cast<uint32_t>(adc::artifact::ScalarType::kI1) + 1 == ADRT_TYPE_I1);
static_assert(static_cast<uint32_t>(adc::artifact::ScalarType::kU8) + 1 == ADRT_TYPE_U8);
static_assert(static_cast<uint32_t>(adc::artifact::ScalarType::kF64) + 1 == ADRT_TYPE_F64);

const char* adrt_type_name(uint32_t type) {
  // The names are literals, so a zero follows them.
  return IsType(type) ? adc::artifact::ScalarTypeName(static_cast<adc::artifact::ScalarType>(type - 1)).data()
                      : "?";
}

uint32_t adrt_type_size(uint32_t type) {
  return IsType(type) ? adc::artifact::ScalarTypeSize(static_cast<adc::artifact::ScalarType>(type - 1)) : 0;
}
