#pragma once
// DropAxes: loops lose the axes along which their iterations do not differ.
//
//   kernel @k(%x: buffer<f32, 1>, %n: i32, %m: i32 if_read) {     kernel @k(%x: buffer<f32, 1>, %n: i32) {
//     parallel %j, %i in 0..%m, 0..%n { ... %i ... }          ->    parallel %i in 0..%n { ... %i ... }
//
// A dispatch of a shader has three axes, and most shaders ask for one: who launches the kernel gives no
// number for the others, along which there is one workgroup. The front end marks the numbers `if_read`. If
// nothing reads the number but the bounds of such axes, and nothing their indices, then axes and parameter
// go.
//
// Requires: Form::Scalars, before parameters are derived from others; reads are seen once dead code is gone.
// Guarantees: the same results where the parameters that go are 1. No parameter is `if_read`.
// Breaks: nothing. Linear time.

#include "ir/function.h"

namespace adc::transform {

void DropAxes(ir::Function& kernel);

}  // namespace adc::transform
