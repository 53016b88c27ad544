#ifndef ADRT_ADRT_CALL_H
#define ADRT_ADRT_CALL_H
/* The parts of which typed calls are made. C11.
 *
 * A header that `adc --emit=header` writes has for each kernel a struct of its arguments, adc_NAME_args, and
 * a function that fills the table of adrt_plan_desc.args with them, adc_NAME_bind. Programs call those; the
 * functions here serve them, and need no library. */

#include <adrt/adrt.h>
#include <string.h>

static inline adrt_arg adrt_call_arg(uint32_t kind, const char* name, const void* data) {
  adrt_arg arg;
  memset(&arg, 0, sizeof arg);
  arg.struct_size = sizeof arg;
  arg.kind = kind;
  arg.name = name;
#ifdef __cplusplus
  arg.data = const_cast<void*>(data);
#else
  arg.data = (void*)(uintptr_t)data;
#endif
  return arg;
}

static inline adrt_arg adrt_call_scalar(const char* name, uint32_t type, uint32_t rows, uint32_t columns,
                                        const void* value) {
  adrt_arg arg = adrt_call_arg(ADRT_PARAM_SCALAR, name, value);
  arg.type = type;
  arg.rows = rows;
  arg.columns = columns;
  return arg;
}

static inline adrt_arg adrt_call_buffer(const char* name, uint32_t type, uint32_t rows, uint32_t columns,
                                        const void* data, uint32_t rank, const int64_t* shape) {
  adrt_arg arg = adrt_call_arg(ADRT_PARAM_BUFFER, name, data);
  arg.type = type;
  arg.rows = rows;
  arg.columns = columns;
  arg.rank = rank;
  for (uint32_t axis = 0; axis < rank; ++axis) arg.extents[axis] = shape[axis];
  return arg;
}

static inline adrt_arg adrt_call_layout(const char* name, const void* data, uint64_t bytes) {
  adrt_arg arg = adrt_call_arg(ADRT_PARAM_LAYOUT, name, data);
  arg.size = bytes;
  return arg;
}

/* Sizes, in the arithmetic of size expressions: 64-bit integers, where a division by zero gives 0. A size
 * that does not fit is `bad`, and so is each size that is computed from it. */
typedef struct adrt_size {
  int64_t value;
  int bad;
} adrt_size;

static inline adrt_size adrt_size_of(int64_t value) {
  adrt_size size = {value, 0};
  return size;
}
static inline adrt_size adrt_size_if(int fits, int64_t value) {
  adrt_size size = {value, 0};
  size.bad = !fits;
  return size;
}
static inline adrt_size adrt_size_of_u64(uint64_t value) {
  return value <= INT64_MAX ? adrt_size_of((int64_t)value) : adrt_size_if(0, 0);
}
/* Bytes for the caller; UINT64_MAX: they do not fit. */
static inline uint64_t adrt_size_bytes(adrt_size size) {
  return size.bad || size.value < 0 ? UINT64_MAX : (uint64_t)size.value;
}

static inline adrt_size adrt_size_add(adrt_size a, adrt_size b) {
  if (a.bad || b.bad) return adrt_size_if(0, 0);
  if (b.value > 0 ? a.value > INT64_MAX - b.value : a.value < INT64_MIN - b.value) return adrt_size_if(0, 0);
  return adrt_size_of(a.value + b.value);
}
static inline adrt_size adrt_size_neg(adrt_size a) {
  return a.bad || a.value == INT64_MIN ? adrt_size_if(0, 0) : adrt_size_of(-a.value);
}
static inline adrt_size adrt_size_sub(adrt_size a, adrt_size b) {
  if (a.bad || b.bad) return adrt_size_if(0, 0);
  if (b.value < 0 ? a.value > INT64_MAX + b.value : a.value < INT64_MIN + b.value) return adrt_size_if(0, 0);
  return adrt_size_of(a.value - b.value);
}
static inline adrt_size adrt_size_mul(adrt_size a, adrt_size b) {
  if (a.bad || b.bad) return adrt_size_if(0, 0);
  if (a.value == 0 || b.value == 0) return adrt_size_of(0);
  if (a.value == -1) return adrt_size_neg(b);
  if (b.value == -1) return adrt_size_neg(a);
  const int64_t limit = (a.value < 0) == (b.value < 0) ? INT64_MAX : INT64_MIN;
  const int64_t most = limit / b.value; /* of a, away from zero */
  if (a.value > 0 ? a.value > most : a.value < most) return adrt_size_if(0, 0);
  return adrt_size_of(a.value * b.value);
}
static inline adrt_size adrt_size_div(adrt_size a, adrt_size b) {
  if (a.bad || b.bad) return adrt_size_if(0, 0);
  if (b.value == 0) return adrt_size_of(0);
  return b.value == -1 ? adrt_size_neg(a) : adrt_size_of(a.value / b.value);
}
static inline adrt_size adrt_size_floordiv(adrt_size a, adrt_size b) {
  adrt_size quotient = adrt_size_div(a, b);
  if (quotient.bad || b.value == 0 || b.value == -1) return quotient;
  if (a.value % b.value != 0 && (a.value < 0) != (b.value < 0)) --quotient.value;
  return quotient;
}
static inline adrt_size adrt_size_ceil_div(adrt_size a, adrt_size b) {
  adrt_size quotient = adrt_size_div(a, b);
  if (quotient.bad || b.value <= 0) return adrt_size_if(!a.bad && !b.bad, 0);
  if (a.value % b.value > 0) ++quotient.value;
  return quotient;
}
static inline adrt_size adrt_size_mod(adrt_size a, adrt_size b) {
  if (a.bad || b.bad) return adrt_size_if(0, 0);
  if (b.value == 0 || b.value == -1) return adrt_size_of(0);
  const int64_t rest = a.value % b.value;
  return adrt_size_of(rest != 0 && (rest < 0) != (b.value < 0) ? rest + b.value : rest);
}
static inline adrt_size adrt_size_min(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value < b.value ? a.value : b.value);
}
static inline adrt_size adrt_size_max(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value > b.value ? a.value : b.value);
}
static inline adrt_size adrt_size_clamp0(adrt_size a) {
  return adrt_size_if(!a.bad, a.value > 0 ? a.value : 0);
}
static inline adrt_size adrt_size_eq(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value == b.value);
}
static inline adrt_size adrt_size_ne(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value != b.value);
}
static inline adrt_size adrt_size_lt(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value < b.value);
}
static inline adrt_size adrt_size_le(adrt_size a, adrt_size b) {
  return adrt_size_if(!a.bad && !b.bad, a.value <= b.value);
}
static inline adrt_size adrt_size_gt(adrt_size a, adrt_size b) {
  return adrt_size_lt(b, a);
}
static inline adrt_size adrt_size_ge(adrt_size a, adrt_size b) {
  return adrt_size_le(b, a);
}
/* The branch that is not taken may be bad. */
static inline adrt_size adrt_size_select(adrt_size condition, adrt_size if_true, adrt_size if_false) {
  return condition.bad ? condition : condition.value != 0 ? if_true : if_false;
}
/* Up to a multiple of `unit`. */
static inline adrt_size adrt_size_align(adrt_size a, int64_t unit) {
  return adrt_size_mul(adrt_size_ceil_div(a, adrt_size_of(unit)), adrt_size_of(unit));
}

#endif
