#pragma once
// Which lane's value a lane of a DPP instruction reads.

#include "instruction.h"

namespace adc::rdna3 {

/// The lane that `lane` reads, or none.
inline constexpr uint32_t kNoLane = ~0u;
uint32_t MovedFrom(const LaneMove& move, uint32_t lane);

/// The active lanes that an instruction runs for: a lane that has nobody to read from is left out, unless the
/// instruction says that it reads 0.
uint32_t LanesThatRun(const Wave& wave, const LaneMove& move);

/// Every lane's value becomes that of the lane that it reads; 0 where there is none.
template <class Values>
void MoveLanes(const Wave& wave, const LaneMove& move, Values& values) {
  Values moved = {};
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    uint32_t from = MovedFrom(move, lane);
    if (from != kNoLane && (wave.Active(from) || move.fetch_inactive)) moved[lane] = values[from];
  }
  values = moved;
}

}  // namespace adc::rdna3
