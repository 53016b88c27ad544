#pragma once
// What raising takes from a target and from the command line. Targets with equal configurations share one
// raised module.

#include "target/target.h"

namespace adc::raise {

struct RaiseConfig {
  bool device = false;        ///< threads of a device, many of them, which run one or a few iterations each
  bool check_bounds = false;  ///< an access out of range is left out and reported
  bool assertions = false;    ///< `assert` is compiled
  uint32_t lane_bytes = 0;    ///< of the vectors that a processor computes with at full speed; 0: no lanes
  bool lanes_fuse = false;    ///< they have fma

  friend bool operator==(const RaiseConfig&, const RaiseConfig&) = default;
};

}  // namespace adc::raise
