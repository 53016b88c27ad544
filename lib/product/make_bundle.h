#pragma once
// From metadata and code to the bytes of a bundle.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "diag/result.h"
#include "product/metadata.h"

namespace adc::product {

/// The metadata in its canonical form. Fails with E0706 where a kernel is beyond what the format can say.
diag::Result<std::string> MetadataText(const artifact::Metadata& metadata);

/// The bundle of `metadata` with the payloads of `targets`, which are those of the metadata in its order, and
/// with the section `prints`, unless that is empty. Fails as MetadataText does.
diag::Result<std::vector<uint8_t>> BundleBytes(const artifact::Metadata& metadata,
                                               std::span<const MadeTarget> targets,
                                               const std::string& prints);

}  // namespace adc::product
