/* Kernels written by hand against artifact/cpu_abi.h, as the compiler would emit them: what the loader's
 * tests run. Compiled to a position-independent shared image without any library. */

#include "artifact/cpu_abi.h"

float sinf(float x);

#define ENTRY(name) \
  __attribute__((visibility("default"))) void name(const adrt_cpu_frame* frame, uint64_t begin, uint64_t end)

static float scalar_f32(uint64_t cell) {
  union {
    uint32_t bits;
    float value;
  } u = {(uint32_t)cell};
  return u.value;
}

static void report(const adrt_cpu_frame* frame, uint32_t code, uint32_t task, uint32_t index, uint64_t needed,
                   uint64_t iteration) {
  uint32_t source = code | task << ADRT_CPU_STATUS_SOURCE_TASK | (index + 1) << ADRT_CPU_STATUS_SOURCE_INDEX;
  uint32_t found = 0;
  if (!__atomic_compare_exchange_n(&frame->status[ADRT_CPU_STATUS_SOURCE], &found, source, 0,
                                   __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
    uint32_t* most = &frame->status[ADRT_CPU_STATUS_MOST];
    uint32_t known = __atomic_load_n(most, __ATOMIC_RELAXED);
    while (
        found == source && known < needed &&
        !__atomic_compare_exchange_n(most, &known, (uint32_t)needed, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return;
  }
  frame->status[ADRT_CPU_STATUS_CODE] = code;
  frame->status[ADRT_CPU_STATUS_TASK] = task;
  frame->status[ADRT_CPU_STATUS_INDEX] = index;
  frame->status[ADRT_CPU_STATUS_NEEDED] = (uint32_t)needed;
  frame->status[ADRT_CPU_STATUS_NEEDED + 1] = (uint32_t)(needed >> 32);
  frame->status[ADRT_CPU_STATUS_ITERATION] = (uint32_t)iteration;
  frame->status[ADRT_CPU_STATUS_ITERATION + 1] = (uint32_t)(iteration >> 32);
}

/* saxpy(x: buffer<f32, 1> read, y: buffer<f32, 1>, a: f32): y += a * x over the extent of y.
 * cells: x, x extent, y, y extent, a */
ENTRY(adc_saxpy_t0) {
  const float* x = (const float*)frame->cells[0];
  float* y = (float*)frame->cells[2];
  float a = scalar_f32(frame->cells[4]);
  for (uint64_t i = begin; i < end; ++i) y[i] += a * x[i];
}

/* tape(x: buffer<f64, 1> read, y: buffer<f64, 1>, n: i32): pushes n values and an i32 each, pops them, and
 * leaves the sum over t of t * x^t. cells: x, x extent, y, y extent, n; adstack: group offset, stride,
 * (offset, capacity) of two stacks. */
ENTRY(adc_tape_t0) {
  const double* x = (const double*)frame->cells[0];
  double* y = (double*)frame->cells[2];
  int64_t n = (int64_t)frame->cells[4];
  unsigned char* row = frame->heap + frame->adstack[0] + frame->row * frame->adstack[1];
  double* values = (double*)(row + frame->adstack[2]);
  int32_t* steps = (int32_t*)(row + frame->adstack[4]);
  uint64_t capacity = frame->adstack[3] < frame->adstack[5] ? frame->adstack[3] : frame->adstack[5];
  if (n > 0 && (uint64_t)n > capacity) {
    report(frame, ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, (uint64_t)n, begin);
    return;
  }
  for (uint64_t i = begin; i < end; ++i) {
    double power = 1, sum = 0;
    for (int64_t t = 0; t < n; ++t) {
      values[t] = power;
      steps[t] = (int32_t)t;
      power *= x[i];
    }
    for (int64_t t = n; t-- > 0;) sum += steps[t] * values[t];
    y[i] = sum;
  }
}

/* mean(x: buffer<f32, 1> read, y: buffer<f32, 1>, .s: scratch<f32, 1>): task 0 sums x into scratch, task 1
 * subtracts the mean, through an imported function that adds nothing. cells: x, x extent, y, y extent,
 * scratch, scratch extent */
ENTRY(adc_mean_t0) {
  const float* x = (const float*)frame->cells[0];
  float* sum = (float*)frame->cells[4];
  (void)begin;
  (void)end;
  for (uint64_t i = 0; i < frame->cells[1]; ++i) sum[0] += x[i];
}
ENTRY(adc_mean_t1) {
  const float* x = (const float*)frame->cells[0];
  float* y = (float*)frame->cells[2];
  const float* sum = (const float*)frame->cells[4];
  for (uint64_t i = begin; i < end; ++i) y[i] = x[i] - sum[0] / (float)frame->cells[1] + sinf(0.0f);
}

/* compact(x: buffer<i32, 1> read, count: buffer<i32, 0>, out: buffer<i32, 1>): task 0 moves the positive
 * values to the front of out and counts them, task 1, over count iterations, doubles them through a stack of
 * count elements. cells: x, x extent, count, out, out extent */
ENTRY(adc_compact_t0) {
  const int32_t* x = (const int32_t*)frame->cells[0];
  int32_t *count = (int32_t*)frame->cells[2], *out = (int32_t*)frame->cells[3];
  (void)begin;
  (void)end;
  *count = 0;
  for (uint64_t i = 0; i < frame->cells[1]; ++i) {
    if (x[i] > 0) out[(*count)++] = x[i];
  }
}
ENTRY(adc_compact_t1) {
  int32_t* out = (int32_t*)frame->cells[3];
  int32_t* stack =
      (int32_t*)(frame->heap + frame->adstack[0] + frame->row * frame->adstack[1] + frame->adstack[2]);
  for (uint64_t i = begin; i < end; ++i) {
    stack[frame->adstack[3] - 1] = out[i];
    out[i] += stack[frame->adstack[3] - 1];
  }
}

/* rows(start: buffer<i32, 1> read, x: buffer<f32, 1> read, y: buffer<f32, 1>): a ragged sum through a stack
 * as long as the longest row. cells: start, start extent, x, x extent, y, y extent */
ENTRY(adc_rows_t0) {
  const int32_t* start = (const int32_t*)frame->cells[0];
  const float* x = (const float*)frame->cells[2];
  float* y = (float*)frame->cells[4];
  float* stack =
      (float*)(frame->heap + frame->adstack[0] + frame->row * frame->adstack[1] + frame->adstack[2]);
  for (uint64_t i = begin; i < end; ++i) {
    int64_t length = start[i + 1] - start[i];
    if (length > (int64_t)frame->adstack[3]) {
      report(frame, ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, (uint64_t)length, i);
      continue;
    }
    for (int64_t t = 0; t < length; ++t) stack[t] = x[start[i] + t];
    float sum = 0;
    for (int64_t t = length; t-- > 0;) sum += stack[t];
    y[i] = sum;
  }
}

/* collatz(x: buffer<u32, 1>): counts the steps to 1 with one pushed value each: a size that only running
 * tells. cells: x, x extent */
ENTRY(adc_collatz_t0) {
  uint32_t* x = (uint32_t*)frame->cells[0];
  uint32_t* stack =
      (uint32_t*)(frame->heap + frame->adstack[0] + frame->row * frame->adstack[1] + frame->adstack[2]);
  for (uint64_t i = begin; i < end; ++i) {
    uint64_t steps = 0;
    for (uint32_t value = x[i]; value > 1; value = value % 2 ? 3 * value + 1 : value / 2) {
      if (steps >= frame->adstack[3]) {
        report(frame, ADRT_CPU_ADSTACK_OVERFLOW, 0, 0, steps + 1, i);
        break;
      }
      stack[steps++] = value;
    }
    x[i] = (uint32_t)steps;
  }
}

/* Collatz again, whose stack a size kernel counts. */
ENTRY(adc_counted_t0) {
  adc_collatz_t0(frame, begin, end);
}

/* The size kernel of a task like collatz: raises sizes[0] to the longest run.
 * cells: x, x extent, sizes, sizes extent */
ENTRY(adc_counted_2Esize0_t0) {
  const uint32_t* x = (const uint32_t*)frame->cells[0];
  int64_t* sizes = (int64_t*)frame->cells[2];
  for (uint64_t i = begin; i < end; ++i) {
    int64_t steps = 0;
    for (uint32_t value = x[i]; value > 1; value = value % 2 ? 3 * value + 1 : value / 2) ++steps;
    int64_t known = __atomic_load_n(sizes, __ATOMIC_RELAXED);
    while (known < steps &&
           !__atomic_compare_exchange_n(sizes, &known, steps, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
  }
}

/* check(x: buffer<f32, 2> read, m: mat<f32, 2, 2>, k: i8, u: u16, flag: i1, code: u32): every by-value form
 * at once; where flag is set reports `code` at the iteration |k|. cells: x, extents, m (4), k, u, flag, code
 */
ENTRY(adc_check_t0) {
  const float* x = (const float*)frame->cells[0];
  int64_t k = (int64_t)frame->cells[7];
  uint32_t code = (uint32_t)frame->cells[10];
  for (uint64_t i = begin; i < end; ++i) {
    float sum = x[i] + (float)frame->cells[8];
    for (int c = 0; c < 4; ++c) sum += scalar_f32(frame->cells[3 + c]);
    if (frame->cells[9] == 1 && (int64_t)i == -k && sum > 0) report(frame, code, 0, 1, 0, i);
  }
}
