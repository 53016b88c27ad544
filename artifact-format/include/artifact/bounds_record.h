#pragma once
/* The bounds record of a kernel and the interface of a bounds kernel: the contract between the compiler and
 * the loader. C11.
 *
 * A bounds kernel has the plain parameters of the kernel whose bounds it records, in their order, and three
 * more: record (buffer<u64, 1>, of an earlier run), status (buffer<i32, 1>, a status block of
 * artifact/cpu_abi.h) and sums (buffer<u64, 1>, zero before the run). All tasks but the last one add up what
 * they count in `sums`; run with the record in its place they write the record. The last task compares the
 * two and fills the status block where they differ. KernelMeta::asserts says what each loop is. */

#include "artifact/status_codes.h"

enum {
  ADRT_BOUNDS_TAG = 0,   /* element of a record: names the kernel */
  ADRT_BOUNDS_LOOPS = 1, /* where loops begin */
  ADRT_BOUNDS_LOOP_SIZE =
      2,                  /* elements per loop: a checksum of (iteration, start, trips), the sum of trips */
  ADRT_BOUNDS_PARAMS = 3, /* parameters after the plain ones */

  /* The status block, with code ADRT_BOUNDS_CHANGED: */
  ADRT_BOUNDS_FOREIGN = 0xFFFFFFFFu, /* the index where the record is none of this kernel's */
  ADRT_BOUNDS_STATUS_CLOSED = 3,     /* a word that is nonzero as well, so that no other thread reports */
  ADRT_BOUNDS_STATUS_NOW = 4,        /* two words, low first: trips as they are now */
  ADRT_BOUNDS_STATUS_THEN = 6        /* and as the record has them */
};
