#pragma once
// The loader's check of a bundle's signatures.

#include "core/handles.h"

namespace adrt {

/// Fills `signature` and `signer` of a bundle that was read. False only where memory ran out or its SIGN
/// section changed in between: a signature that vouches for nothing is no failure, the code just may not run.
bool CheckSignatures(adrt_bundle& bundle, artifact::Error* reason);

}  // namespace adrt
