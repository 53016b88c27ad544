#pragma once
// The floats of an argument: where they lie, in buffers and in layouts.

#include <vector>

#include "loader.h"
#include "values.h"

namespace adc::tool {

/// The place of one float of an argument. A companion has its floats where its primal has them.
struct Place {
  uint32_t type;
  uint64_t offset;  ///< bytes
};

double Read(const ArgValue& value, const Place& place);
void Write(ArgValue& value, const Place& place, double number);

/// The floats of an argument; of a layout those of fields that are `diff`, or of all float fields.
std::vector<Place> PlacesOf(const adrt_bundle* bundle, const Param& param, const ArgValue& value,
                            bool diff_only);

}  // namespace adc::tool
