#pragma once
// The origins of values that are no numbers.
//
// A *special* value is a NaN or, if they are asked for, an infinity. Beside each cell, each element of memory
// and each slot of an adstack that holds one stands its *origin*: the number of the execution that made a
// special value of ordinary ones, counted from 1 in the order of the run. A step that hands a special value
// on hands on its origin; of several operands the oldest one. So a NaN that a selection leaves out has an
// origin that nothing else has.
//
// The steps of this file follow the steps that they watch, and programs have them where LowerOptions::origins
// asks for them: other runs do not meet them. They watch plain runs before adstacks are lowered to rows.

#include <unordered_map>

#include "interp/machine.h"

namespace adc::interp {

struct Origins {
  bool infinities = false;
  uint64_t stop_at = 0;  ///< the run ends where this origin is made; 0: it does not
  uint64_t count = 0;    ///< made so far
  const Code* stopped = nullptr;

  std::vector<uint64_t> cells;                            ///< beside Machine::cell_store; 0: no origin
  std::unordered_map<const std::byte*, uint64_t> memory;  ///< of what was written, by a scalar's first byte
  std::unordered_map<const std::byte*, uint64_t> given;   ///< the same of what an argument held, once read
  std::vector<std::vector<uint64_t>> stacks;              ///< beside Machine::stacks
  std::array<uint64_t, 16> old{};  ///< the components of an element before the update that follows

  bool IsSpecial(ir::Scalar scalar, uint64_t bits) const;
  /// The origin of a special value: `known`, or a new one where that is 0. False at the origin to stop at.
  bool Take(uint64_t known, const Code* code, uint64_t* origin);
};

/// After dst = op a [, b [, c]]. Code::info is a WatchInfo.
const Code* WatchValueStep(Machine& m, const Code* c);
/// After dst = a.
const Code* WatchMoveStep(Machine& m, const Code* c);
/// After the picks and places of memory.h, whose numbers it has.
const Code* WatchPickStep(Machine& m, const Code* c);
const Code* WatchPlaceStep(Machine& m, const Code* c);
/// After the `b` cells at cell a of the frame were zeroed.
const Code* WatchClearStep(Machine& m, const Code* c);
/// After a push of cell b, or a read into dst, with the numbers of the step; `c` is the slot.
Step WatchPushStep(bool slot);
Step WatchStackReadStep(bool slot, bool taken);

}  // namespace adc::interp
