#pragma once
/* How compiled code for devices is called: the contract between the code generators, the metadata and the
 * loader. C11.
 *
 * A launch of a task has a list of 64-bit little-endian words:
 *   the parameter cells, as artifact/cpu_abi.h has them (addresses are device addresses)
 *   the adstack words of the task:
 *     per claim group   byte offset of its rows in the heap, bytes of one row (the stride), number of rows,
 *                       byte offset of its claim counter in the heap
 *     then per stack that lives in a row, in stack order: byte offset inside its row, capacity in elements
 *   heap address, status address, number of iterations, number of threads that take part
 *
 * How code gets the words and reaches memory:
 *   - CUDA and HIP: every word is a kernel parameter, in order, without gaps. Of more than ADRT_GPU_MAX_WORDS
 *     words, those from ADRT_GPU_DIRECT_WORDS on but for the last four lie in a table in device memory, of
 *     8-byte words without gaps. The address of the table takes their place among the parameters, so that
 *     there are ADRT_GPU_MAX_WORDS. Code with such an entry needs the feature ADRT_GPU_TABLE_FEATURE of its
 *     target, and has the entry point ADRT_GPU_TABLE_WRITER, which is no task's: one thread writes the
 *     ADRT_GPU_TABLE_CHUNK words that follow the first parameter to the address that the first parameter is.
 *     So a table's bytes are a multiple of a chunk's, and a launch is queued like any other.
 *   - Vulkan: words lie in device memory; the push constants are their device address. Near entries reach
 *     buffers and layouts through descriptors of set 0, far ones through the addresses among the words. Both
 *     reach scratch, heap and status by address. An entry without a far one reaches all of them, words too,
 *     by descriptors; if its binding of the words has type u32, it sees each as two, the lower half first.
 *   - Metal: words, heap, status and parameters are buffer bindings. Below ADRT_METAL_TABLE a number is the
 *     index of a buffer. From there on, counted from 0, it is the place of a device address in a table,
 *     which is the buffer with the index ADRT_METAL_TABLE.
 *
 * Threads come in one-dimensional blocks of EntryMeta::block_size. Thread t of n that take part runs the
 * iterations t, t + n, t + 2n, ... of the flat iteration space, row-major over the task's axes. A serial
 * task is run by thread 0. Where EntryMeta::team says so, the threads of a block run an iteration together,
 * and all that this comment says of threads, their number and their rows holds for blocks. The target has the
 * feature ADRT_GPU_TEAM_FEATURE then. An entry with EntryMeta::team_turns has both forms: in a launch with a
 * block for each iteration, where the threads of all blocks take part, block b runs iteration b. With
 * EntryMeta::team_lanes, L, it has one form more: where the blocks are fewer, but L times as many suffice,
 * block b runs the L iterations from L * b on. If bounds
 * are read from memory, a launch is also made for no iterations, with one block and no threads that take
 * part: the code checks whether the bounds have grown.
 *
 * Rows of a heap lie interleaved in blocks of W (AdstackPlanMeta::lanes). With stride the bytes of one row,
 * an element of s bytes at byte o of row r, o a multiple of s, lies at
 *   - heap + group offset + (r / W) * stride * W + o * W + (r % W) * s
 *
 * A group without a gate gives row t to thread t. In a group with a gate, a thread takes the next row from
 * the group's counter when it first reaches the claim, and uses it from then on; the counter is zero before
 * the launch. If no row is left the thread reports ADRT_GPU_ROWS_EXHAUSTED and shares the last row.
 *
 * The status block is that of artifact/cpu_abi.h.
 *
 * For llvmpipe, a driver that runs on the CPU, the specialization constant ADRT_VULKAN_LLVMPIPE is true:
 *   - it allows the loops of a thread 65,535 iterations in all, and then silently ends each one after one
 *     iteration: an entry of Vulkan that has loops runs one more loop at its end, which ends early if any
 *     has, and reports ADRT_GPU_LOOPS_CUT
 *   - it may have no exchange of 64 bits: sums of f64 are made by compare-exchange alone, which other devices
 *     do not get, since a sum would wait for all threads that come to its cell. */

#include "artifact/status_codes.h"

#define ADRT_GPU_TABLE_WRITER "adc_write_table"
#define ADRT_GPU_TABLE_FEATURE "word-table"
#define ADRT_GPU_TEAM_FEATURE "teams"

enum {
  ADRT_GPU_GROUP_WORDS = 4, /* per claim group */
  ADRT_GPU_STACK_WORDS = 2, /* per stack in a row */
  ADRT_GPU_TAIL_WORDS = 4,  /* heap, status, iterations, threads */

  ADRT_GPU_STRIDE_ALIGNMENT = 8,  /* of the bytes of a row */
  ADRT_GPU_GROUP_ALIGNMENT = 256, /* of heaps and of group offsets */
  ADRT_METAL_TABLE = 30,          /* the last of Metal's 31 buffers */
  ADRT_GPU_MAX_WORDS = 511,       /* 4 KiB of kernel parameters less one word */
  ADRT_GPU_DIRECT_WORDS = 506,    /* of a launch with a table, in front of its address */
  ADRT_GPU_TABLE_CHUNK = 128,     /* words that one launch of the writer writes */

  ADRT_VULKAN_LLVMPIPE = 0 /* SpecId of a bool, false */
};
