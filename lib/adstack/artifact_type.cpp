#include "adstack/artifact_type.h"

#include "support/check.h"

namespace adc::adstack {

artifact::ScalarType ArtifactType(ir::Scalar scalar) {
  switch (scalar) {
#define ADC_SCALAR_TYPE(name, spelling, bytes) \
  case ir::Scalar::name:                       \
    return artifact::ScalarType::k##name;
#include "artifact/scalar_types.def"
#undef ADC_SCALAR_TYPE
  }
  ADC_UNREACHABLE("a scalar type without a name in bundles");
}

}  // namespace adc::adstack
