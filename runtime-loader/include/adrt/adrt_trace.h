#ifndef ADRT_ADRT_TRACE_H
#define ADRT_ADRT_TRACE_H
/* The log of a launch's memory, of which adrt_host.trace_heap is told for each launch. C11.
 *
 * A host that wants to know why a launch takes the memory that it takes sets the function, and is told of
 * each task and of the launch: rows, bytes, budget, and where the sizes come from. Telling allocates nothing
 * and costs a comparison where there is no function. docs/memory.md has what a log looks like.
 */
#include <adrt/adrt.h>

/* The source of the sizes of a task. */
enum {
  ADRT_SIZES_OPEN = 0,    /* nowhere: the launch is refused before they are known */
  ADRT_SIZES_FORMULA = 1, /* expressions, evaluated for this launch */
  ADRT_SIZES_COUNTED = 2, /* a size or trip kernel, run for this launch */
  ADRT_SIZES_CACHED = 3,  /* an earlier launch of the plan: no data on which they depend have changed */
  ADRT_SIZES_CAPPED = 4   /* adrt_plan_with_cap: the rest of the cap */
};

#define ADRT_TRACE_LAUNCH 0xFFFFFFFFu

/* The argument of adrt_host.trace_heap. adrt_run tells of each task that is sized before the launch, then of
 * the launch as a whole, once its heap is there or refused; after that, of each task that is sized at its
 * turn. A recorded launch is told of when it is recorded. A launch that only counts for another one is not
 * logged. */
struct adrt_heap_trace {
  uint32_t struct_size; /* of the library's struct, which a later version may make longer */
  uint32_t task;        /* ADRT_TRACE_LAUNCH: the launch as a whole */
  uint32_t source;      /* of a task: ADRT_SIZES_* */
  adrt_status status;   /* why the launch is refused here; ADRT_OK: it goes on */
  /* May be asked now (adrt_plan_info, _task, _group, _stack), and for nothing else. */
  const adrt_launch_plan* plan;
  const char* kernel; /* its name; all three texts live as long as the bundle */
  const char* target;
  const char* place;       /* source place of the task, or of the kernel */
  uint64_t heap_bytes;     /* of a task: as adrt_task_report; of the launch: as adrt_plan_report */
  uint64_t rows;           /* of a task, as adrt_task_report says what these are */
  uint64_t row_bytes;      /* a row's stride */
  uint64_t threads;        /* that take part at once */
  uint64_t wanted_threads; /* the same without a budget */
  uint64_t budget;         /* bytes that the heap may take: the smaller of budget and cap; 0: any number */
  /* Bytes of the memory that holds it, before and now: of the launch's heap; of a task that is sized at its
   * turn, of its own rows, which the plan keeps; of other tasks, which are part of the heap, 0 */
  uint64_t held_before;
  uint64_t held;
};

#endif
