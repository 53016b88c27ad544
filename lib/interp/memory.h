#pragma once
// The steps of memory: loads, stores, atomics, local arrays, adstacks and rows.

#include "interp/machine.h"

namespace adc::interp {

/// Any access operation; Code::info is its AccessInfo, `dst` the first cell of the result, `a` of the value,
/// `b` of the second value. `scalar` is the type in registers. Null where the operation does not take that
/// type.
Step AccessStep(ir::Op op, ir::Scalar scalar, Place place);
/// For runs that watch (interp/origins.h), with the numbers of the access: before it, keeps what the element
/// holds; after it, says where special values in the element and in the result come from.
Step RememberStep(ir::Scalar scalar, Place place);
Step WatchAccessStep(ir::Scalar scalar, Place place);
/// dst = extent `b` of the memory named by cell a; as i32 where c is 1.
const Code* ShapeStep(Machine& m, const Code* c);
/// dst = the first of b zeroed cells at cell a of the frame.
const Code* AllocaStep(Machine& m, const Code* c);
/// dst = component number (cell b) of the c components at a.
const Code* PickStep(Machine& m, const Code* c);
/// The component numbered by cell b, of the `info` components at dst, becomes cell c.
const Code* PlaceStep(Machine& m, const Code* c);

/// dst = adstack a, emptied.
const Code* StackNewStep(Machine& m, const Code* c);
/// Adstack (cell a) takes cell b; in the slot that cell c names.
Step StackPushStep(bool slot);
/// dst = the newest element of adstack (cell a), taken away or not; in the slot that cell c names.
Step StackPopStep(bool slot);
Step StackTopStep(bool slot);

/// row.claim, row.capacity; row.load into dst, row.store of b, in the slot in cell a. Code::info is a
/// RowInfo.
Step RowStep(ir::Op op);

}  // namespace adc::interp
