#pragma once
// The facts that raising takes from a target and from the command line. Targets with equal configurations
// share one raised module.

#include "target/target.h"

namespace adc::raise {

/// RaiseConfig::body_lanes: as many as suit the body, where lanes are estimated to win.
inline constexpr uint32_t kAutomaticLanes = UINT32_MAX;

struct RaiseConfig {
  bool device = false;  ///< threads of a device, many of them, which run one or a few iterations each
  bool exchanges_floats = false;  ///< an atomic sum of floats is a loop of exchanges
  bool check_bounds = false;      ///< an access out of range is left out and reported
  bool assertions = false;        ///< `assert` is compiled
  bool form_for_one = false;      ///< code may have a second form, for a worker that meets no other
  uint32_t lane_bytes = 0;      ///< of the vectors that a processor computes with at full speed; 0: no lanes
  bool lanes_fuse = false;      ///< they have fma
  uint32_t body_lanes = 0;      ///< iterations side by side of bodies that vectors can run; 0: none
  uint32_t vector_bytes = 0;    ///< of the widest vectors
  uint32_t team_bytes = 0;      ///< memory that the threads of a block may share in a team; 0: no teams
  bool wide_team_sums = false;  ///< they sum numbers of 64 bits in that memory
  uint64_t largest_function = UINT64_MAX;  ///< operations of a task that stays one function
  bool may_team = false;  ///< sums that a loop carries may be made in parts, by the threads of a block

  friend bool operator==(const RaiseConfig&, const RaiseConfig&) = default;
};

}  // namespace adc::raise
