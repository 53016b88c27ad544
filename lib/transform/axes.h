#pragma once
// DropAxes: a kernel of a shader loses the axes along which its invocations do not differ.
//
//   kernel @k(..., %nx: i32, %ny: i32, %nz: i32) {
//     parallel %z, %y, %x in 0..%nz, 0..%ny, 0..%nx {
//       ... %x ...
//     }
//   }
//
// becomes
//
//   kernel @k(..., %nx: i32) {
//     parallel %x in 0..%nx { ... %x ... }
//   }
//
// Each axis of a dispatch has a parameter, the number of invocations (ir/shader_binding.h). Where workgroups
// have one invocation along y or z, and nothing reads the index or the number, the shader does not ask for
// the axis: it is dispatched with one workgroup, and axis and parameter go. Invocations that workgroups of
// more than one have stay: all of them run.
//
// Requires: Form::Scalars, before parameters are derived from others; reads are seen once dead code is gone.
// Guarantees: the same results where launches have one workgroup along what is left out.
// Breaks: nothing.

#include "ir/function.h"

namespace adc::transform {

void DropAxes(ir::Module& module);

}  // namespace adc::transform
