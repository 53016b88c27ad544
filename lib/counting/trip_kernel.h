#pragma once
// Trip kernels: they compute how often a `parallel` runs, where no size expression says it.
//
// The launcher deals the iterations of a `parallel`, so it has to know their number. Integer arithmetic on
// scalars, shapes and elements of buffers is an expression (sizing/bounds.h). Anything else, a root, a float
// from a buffer, the count of a loop in front, is computed where floats are: on the device. The axis gets a
// parameter that the launch fills in, and the task a kernel that computes its value:
//
//   %m = cast (sqrt %f) to i32                      kernel @k.i.trips(..., %i.trips: i64 trips, %sizes) {
//   parallel %i in 0..%m {              ->            %m = cast (sqrt %f) to i32
//     ...                                             store %sizes[0], (max (cast %m to i64), 0)
//                                                   }
//                                                   parallel %i in 0..(cast %i.trips to i32) {
//
// So the launch and the code use one number, counted once, even if a compiler rearranges the floats
// differently in the two places. If no floats are involved, since the bounds are integers, elements of
// buffers and the like, the code counts as well. If its own count differs, it ends the axis there: the data
// of the bounds has changed since, which its guard reports (codegen/common/stale_bounds.h).
//
//   %own = max (cast %m to i64), 0
//   parallel %i in 0..(cast (select (eq %own, %i.trips), %i.trips, %own) to i32) {

#include "ir/function.h"

namespace adc::counting {

/// Gives the kernel's `parallel` loops such parameters, ParamRole::Trips, and adds the kernels that count
/// them to the module, role Size: of the kernel's parameters and `%sizes: buffer<i64, 1>`, which gets at
/// position n the trip count of axis n (those of other axes stay 0).
///
/// Where what counts them follows from scalars, shapes and memory that the kernel has not written by then,
/// the trip kernel repeats it, serial tasks in front and all, and can run before the launch. Else it holds
/// the loop's prologue alone, and reads what the tasks in front have left when the loop's turn has come. An
/// axis that has an expression gets one too where that reads what the kernel itself keeps in scratch, and
/// this can be known before the launch.
///
/// *Requires*: tasks isolated, derivatives taken. *Guarantees*: Bounds::TripsOf is exact for every `parallel`
/// of the kernel. *Breaks*: nothing; values may be numbered anew.
void AddTripKernels(ir::Module& module, ir::Function& kernel);

}  // namespace adc::counting
