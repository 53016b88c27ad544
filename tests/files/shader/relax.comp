// A loop whose counter goes to a push constant is a `for`, whose tape has a slot per iteration; a guard ends the
// invocation.
// RUN: adc %s --emit=ir | FileCheck %s
// RUN: adc gradcheck %s --shape=x=8 --shape=loss=8 --arg=n=10 --arg=count=8 --arg=invocations_x=64
// RUN: adc run %s --kernel=relax --arg=x=random --shape=x=8 --shape=loss=8 --arg=n=10 --arg=count=8 --arg=invocations_x=64 > %t.cpu
// RUN: adc run %s --kernel=relax --arg=x=random --shape=x=8 --shape=loss=8 --arg=n=10 --arg=count=8 --arg=invocations_x=64 --interpret > %t.interpreter
// RUN: diff %t.cpu %t.interpreter
#version 460
layout(local_size_x = 64) in;
layout(std430, set = 0, binding = 0) readonly buffer X { float x[]; };  // adc: diff
layout(std430, set = 0, binding = 1) buffer Loss { float loss[]; };     // adc: diff
layout(push_constant) uniform P { int n; uint count; };
void main() {
  uint i = gl_GlobalInvocationID.x;
  if (i >= count) return;
  float v = x[i];
  for (int t = 0; t < n; ++t) v = sin(v) + 0.1;
  loss[i] = v;
}
// CHECK: kernel @relax(%x: buffer<f32, 1> diff readonly, %loss: buffer<f32, 1> diff, %n: i32, %count: u32, %invocations_x: i32) {
// CHECK-NEXT: parallel %gx in 0..%invocations_x block 64 {
// CHECK: for %{{.*}} in 0..%n carry(
// CHECK: store %loss[%gx]
// CHECK: kernel @relax.grad(
// CHECK: stack.push %{{.*}} at %
// CHECK: add_to %x.adj[%gx], %{{.*}} plain
