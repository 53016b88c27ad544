#pragma once
// The types of the IR as a bundle names them.

#include "artifact/metadata.h"
#include "ir/type.h"

namespace adc::adstack {

artifact::ScalarType ArtifactType(ir::Scalar scalar);

}  // namespace adc::adstack
