#pragma once
// The baseline of the tape benchmark, by hand: the gradient of recurrence.ir with the adstack layout that is
// usual in systems that grow stacks at run time. Every thread has a row of its own, one after the other in
// memory, and a slot holds the primal with its adjoint beside it.
//
//   push   row[top] = {value, 0}; top += 1
//   pop    top -= 1; the adjoint of the slot is summed in memory and read back
//
// Neighbouring threads touch addresses that lie a whole row apart, so that one push of a warp is 32 lines.

#include <cstdint>

namespace adc::bench {

/// Gradient of `v = 1 - c*v*v`, `steps` times from x[i], over `count` elements. `rows`: `steps` pairs per
/// thread that runs.
__global__ void PairsGradient(const float* __restrict__ x, float* __restrict__ x_adjoint,
                              float* __restrict__ y_adjoint, float2* __restrict__ rows, float c, int steps,
                              int64_t count) {
  int64_t thread = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  int64_t threads = gridDim.x * int64_t{blockDim.x};
  float2* row = rows + thread * steps;
  for (int64_t i = thread; i < count; i += threads) {
    float v = x[i];
    int top = 0;
    for (int t = 0; t < steps; ++t) {
      row[top++] = make_float2(v, 0.0f);
      v = 1.0f - c * v * v;
    }
    float adjoint = y_adjoint[i];
    y_adjoint[i] = 0.0f;
    for (int t = steps - 1; t >= 0; --t) {
      --top;
      row[top].y += adjoint;
      adjoint = row[top].y * (-2.0f * c * row[top].x);
    }
    x_adjoint[i] += adjoint;
  }
}

/// The same with rows as adc lays them out, by hand: primals alone, 32 threads side by side. What the
/// compiler's code can be held against.
__global__ void LanesGradient(const float* __restrict__ x, float* __restrict__ x_adjoint,
                              float* __restrict__ y_adjoint, float* __restrict__ rows, float c, int steps,
                              int64_t count) {
  int64_t thread = blockIdx.x * int64_t{blockDim.x} + threadIdx.x;
  int64_t threads = gridDim.x * int64_t{blockDim.x};
  float* row = rows + thread / 32 * 32 * steps + thread % 32;
  for (int64_t i = thread; i < count; i += threads) {
    float v = x[i];
#pragma unroll 8
    for (int t = 0; t < steps; ++t) {
      row[t * 32] = v;
      v = 1.0f - c * v * v;
    }
    float adjoint = y_adjoint[i];
    y_adjoint[i] = 0.0f;
#pragma unroll 8
    for (int t = steps - 1; t >= 0; --t) adjoint = adjoint * (-2.0f * c * row[t * 32]);
    x_adjoint[i] += adjoint;
  }
}

}  // namespace adc::bench
