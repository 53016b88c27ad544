#pragma once
// MakeSavedStacks: values that a kernel saves for its gradient become adstacks where only data says how many
// there are.
//
//   store %saved.f32[%slot], %v        =>   %s = stack.new f32
//                                           stack.push %s, %v at %slot
//   %v = load %saved.f32[%slot]        =>   %v = stack.pop %s at %slot
//
// Such a stack lies in the caller's buffer and not in a row (artifact::Storage::kSaved): InstData::component
// of its stack.new is the position of the parameter. It is sized as any other, by expression or by a size
// kernel, and guarded as any other, by the extent of the buffer.
//
// Requires: tasks isolated. Guarantees: for an access of a saved buffer that is left, arguments and shapes
// bound the slot. Breaks: positions of instructions.

#include "ir/builder.h"
#include "sizing/bounds.h"

namespace adc::adstack {

/// Elements that `access` needs of its buffer of saved values, by arguments and shapes alone; kNoNode: these
/// do not say it. They may bound the reads of a gradient less tightly than the stores of its kernel: then
/// they do not say it.
artifact::NodeId SavedElements(const ir::Function& kernel, sizing::Bounds& bounds, ir::Inst access);

/// The parameter of saved values that `inst` loads from or stores to; kNoAttr: none.
uint32_t SavedParam(const ir::Function& kernel, ir::Inst inst);

void MakeSavedStacks(ir::Module& module, ir::Function& kernel);

}  // namespace adc::adstack
