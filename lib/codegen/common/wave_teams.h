#pragma once
// Tasks of which a block may run as many iterations as a wave has lanes, all of its waves together.
//
//   parallel %i in 0..%n team {           lane l of each wave of block b: iteration 32 * b + l
//     %s = for %j in 0..%m apart {        each wave: its share of the turns
//       add_to %x.adj[%j], %v             the lanes of a wave sum up by turns (raise/private_sums.h)
//     }                                   all meet: the sums of the waves
//     store %y[%i], %s                    the first wave
//   }
//
// Where an iteration is a thread, 16,384 of them leave a large device with one wave where it could run
// sixteen; where it is a team (team_steps.h), the lanes of a wave have different turns and sum up nothing.

#include "ir/function.h"

namespace adc::codegen {

/// Whether the code of a task that may be in teams (raise/spread.h) has this form too. The control flow
/// around loops that are apart, and around writes of memory, is the same for all iterations then; a loop that
/// is apart writes only gathered sums, and all iterations know the cells of its turns and load alike: 32
/// lanes that each load their own would load from 32 places.
bool MayShareWaves(const ir::Function& kernel, ir::Inst parallel);

}  // namespace adc::codegen
