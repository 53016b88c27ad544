#pragma once
/* How compiled CPU code is called: the contract between the code generator, the metadata and the loader. C11.
 *
 * cells, parameter by parameter in the kernel's order (companions and scratch included):
 *   buffer, scratch   address, then one extent per axis in elements (int64)
 *   layout            address
 *   scalar            one cell per component, row-major; little-endian bytes in the low end of the cell
 * adstack cells of one task:
 *   per claim group   byte offset of the group in the heap, bytes from one row to the next. All stacks of
 *                     code that is made now lie in the first group; other groups are there for the numbers of
 *                     what a size kernel counts
 *   then per stack that lives in a row, in stack order: byte offset inside its row, capacity in elements
 * An element of a stack is at heap + group offset + row * stride + stack offset + slot * sizeof(element).
 */

#include <stdint.h>

#include "artifact/status_codes.h"

/* Code is called as the System V ABI of its processor says, on every system. Windows has a convention of its
 * own for x86-64, in which the words would be looked for in other registers. */
#if defined(_WIN32) && defined(__x86_64__)
#define ADC_CPU_CALL_DIFFERS 1
#define ADC_CPU_CALL __attribute__((sysv_abi))
#elif defined(_MSC_VER) && !defined(__clang__)
#error "this compiler cannot call compiled CPU code: build the loader by GCC or clang, and link its DLL"
#else
#define ADC_CPU_CALL
#endif

/* One launch of one task on one worker; every pointer lives for the call. */
typedef struct adrt_cpu_frame {
  const uint64_t* cells;   /* the kernel's arguments */
  const uint64_t* adstack; /* the task's adstack cells; may be null when the task has no row */
  unsigned char* heap;     /* the launch's heap, 64-byte aligned; null when the task needs none */
  uint32_t* status;        /* 16 words, zero before the launch */
  uint64_t row;            /* this worker's row in every claim group; distinct for workers that run at once */
} adrt_cpu_frame;

/* Runs iterations [begin, end) of the task's flat iteration space, row-major over its axes. A call with
 * all of them may update memory without atomics: no other code that touches it may run beside such a call. */
typedef void(ADC_CPU_CALL* adrt_cpu_entry)(const adrt_cpu_frame* frame, uint64_t begin, uint64_t end);

/* Gives a counting kernel more trips of its loops; 0: it is to end at once. Threads call it at the same time.
 */
typedef uint64_t(ADC_CPU_CALL* adrt_cpu_more)(uint32_t* status);

/* The status block. A thread that has something to report writes its source to word 3 with a
 * compare-exchange from 0. The first thread fills the other words, so that they belong to one thread. Later
 * threads that find their own source there raise word 8 to the elements that they would have needed. So the
 * block finally holds one report, with the maximum over all threads that report the same. The source is the
 * code with task and index + 1 above it; if these are too large it is the code alone, which does not
 * identify the same report of other threads. */
enum {
  ADRT_CPU_STATUS_WORDS = 16,
  ADRT_CPU_STATUS_CODE = 0,   /* one of artifact/status_codes.h */
  ADRT_CPU_STATUS_TASK = 1,   /* task index in the kernel */
  ADRT_CPU_STATUS_INDEX = 2,  /* stack index in the task; assertion index or access index in the kernel */
  ADRT_CPU_STATUS_SOURCE = 3, /* number of the reporting source: the report is that of the first */
  ADRT_CPU_STATUS_NEEDED = 4, /* two words, low first: elements that the stack would have needed; of a broken
                                 promise 1 + the number of the other iteration, or 0 */
  ADRT_CPU_STATUS_ITERATION = 6, /* two words, low first: flat iteration */
  ADRT_CPU_STATUS_MOST = 8,      /* the most that a thread with this source needed, at most 2^32 - 1 */
  /* Of a counting kernel, written by the loader before the launch, two words each: */
  ADRT_CPU_STATUS_MORE = 10,  /* an adrt_cpu_more, which a call asks after each ADRT_CPU_FREE_TRIPS trips, and
                                 then after as many as it gave; null: no limit */
  ADRT_CPU_STATUS_OWNER = 12, /* the loader's own, for the function */
  ADRT_CPU_FREE_TRIPS = 1024, /* trips of loops that each call of an entry has without asking */

  ADRT_CPU_STATUS_SOURCE_TASK = 8,     /* where the task begins in a source, 12 bits */
  ADRT_CPU_STATUS_SOURCE_INDEX = 20,   /* where index + 1 begins, 12 bits */
  ADRT_CPU_STATUS_SOURCE_MOST = 0xFFF, /* the largest task, and index + 1 */

  ADRT_CPU_ROW_ALIGNMENT = 64 /* of the heap, of group offsets and of row strides */
};
