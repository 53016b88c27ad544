#pragma once
// SHA-256 as text: of keys of the cache, and of sources, which `sha256sum` prints alike.

#include <string>
#include <string_view>

#include "artifact/sha256.h"

namespace adc::product {

/// The digest of all that `hash` has taken, as 64 lower-case hexadecimal digits. Once.
std::string HexDigest(artifact::Sha256* hash);

std::string TextDigest(std::string_view text);

}  // namespace adc::product
