#pragma once
/* The codes of a status block (artifact/cpu_abi.h), one list for all that report them, so that no number is
 * used twice. C11. */

enum {
  ADRT_CPU_OK = 0,
  ADRT_CPU_ADSTACK_OVERFLOW = 1,
  ADRT_CPU_ASSERTION = 2,
  ADRT_CPU_INDEX_OUT_OF_BOUNDS = 3,
  ADRT_CPU_WRITE_PROMISE_BROKEN = 4,
  ADRT_GPU_ROWS_EXHAUSTED = 5, /* index is the claim group */
  ADRT_CPU_BOUNDS_MOVED = 6,   /* the bounds of a parallel loop give another number of iterations than the
                                  launch was made for; needed: the number that they give */
  ADRT_GPU_LOOPS_CUT = 7,      /* the driver ended loops early */
  ADRT_BOUNDS_CHANGED = 8, /* the bounds record differs (artifact/bounds_record.h); index: the first loop that
                              does */
  ADRT_STATUS_CODES = 9,   /* how many there are */

  ADRT_BOUNDS_CHANGED_TO_1_4 = 6 /* the code that bundles before format 1.5 report for ADRT_BOUNDS_CHANGED,
                                    with a source that is this alone */
};
