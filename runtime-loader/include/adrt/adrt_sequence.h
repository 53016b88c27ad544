#ifndef ADRT_ADRT_SEQUENCE_H
#define ADRT_ADRT_SEQUENCE_H
/* Launches of several kernels as one: forward, gradient and step, recorded by one call on every kind of
 * device. C11.
 *
 *   adrt_sequence_create(device, &sequence, &error);
 *   adrt_sequence_add(sequence, forward, heap, heap_size, status, &error);      // once
 *   adrt_sequence_add(sequence, gradient, heap2, heap2_size, status2, &error);
 *   adrt_sequence_add(sequence, step, NULL, 0, status3, &error);
 *   adrt_sequence_record(sequence, queue, &error);                              // each frame
 *   adrt_status_read(forward, status, &error);                                  // once the work is done
 *
 * The queue is what the device works on:
 *
 *   Vulkan     a VkCommandBuffer: the commands of all launches go there.
 *   CUDA, HIP  a stream (null: the default stream): the launches are one graph, made at the first call and
 *              again when something has changed, and launched by each. A stream that is being captured gets
 *              it as one node.
 *   CPU        an adrt_cpu_record: stages for the engine's jobs (adrt_cpu.h).
 *
 * The order of launches is derived from their reads and writes: the memory of their arguments, as the
 * kernels' interfaces say it is accessed, heaps and status blocks. Launches that do not touch the same memory
 * have no barrier between them and no edge in the graph, and may run at once; memory that is only read is no
 * reason to wait. Tasks of one kernel follow each other, as they share a heap. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_sequence adrt_sequence;

/* An empty sequence for plans of the device. On Metal: ADRT_ERROR_UNSUPPORTED. Any thread. */
ADRT_API adrt_status adrt_sequence_create(adrt_device* device, adrt_sequence** sequence, adrt_error* error);
ADRT_API void adrt_sequence_retain(adrt_sequence* sequence);
/* The work of what it recorded must be done. */
ADRT_API void adrt_sequence_release(adrt_sequence* sequence);
/* Makes it empty. Its memory stays. The work of what it recorded must be done. One thread at a time. */
ADRT_API adrt_status adrt_sequence_reset(adrt_sequence* sequence, adrt_error* error);

/* Appends a launch of the plan, which it retains. `heap` and `status` are memory of the device, as
 * adrt_arg.data names it: the structs to which they point on Vulkan are copied. `heap` holds heap_size bytes,
 * at least heap_bytes of the plan when it is recorded, at a multiple of its alignment (null where that is 0);
 * `status` ADRT_STATUS_BYTES, at a multiple of 4. Launches that share a heap follow each other. The same plan
 * may be appended again; with one status block under adrt_plan_chain_status, else with another. If it fails
 * the sequence is unchanged. One thread at a time. */
ADRT_API adrt_status adrt_sequence_add(adrt_sequence* sequence, adrt_launch_plan* plan, void* heap,
                                       uint64_t heap_size, void* status, adrt_error* error);

/* Records all launches, in the order in which they were added where they touch the same memory, with the
 * arguments that the plans have now: an argument that adrt_plan_update changes is in the next recording, and
 * in no earlier one. Each plan must be resolved, under the rules of adrt_record_* for the device. A plan with
 * a bounds record is ADRT_ERROR_UNSUPPORTED. Never submits, waits or reads back; allocates host memory where
 * the sequence has grown, and where a graph is made. Where a launch is refused nothing is recorded.
 * On CUDA a driver of version 11.4 or newer is asked for, on HIP ROCm 6.0: ADRT_ERROR_DEVICE_FEATURE. One
 * thread at a time for the sequence and its plans. */
ADRT_API adrt_status adrt_sequence_record(adrt_sequence* sequence, void* queue, adrt_error* error);

/* The simple way: records into a queue of the device's own, submits, and waits. On a CPU the device's
 * workers run it. Status blocks are the caller's to read. One thread at a time for the sequence and its
 * plans. */
ADRT_API adrt_status adrt_sequence_run(adrt_sequence* sequence, adrt_error* error);

typedef struct adrt_sequence_rounds {
  uint32_t struct_size;
  uint32_t most; /* rounds, at most: 1 to 65535 */
  void* until;   /* a word that kernels make nonzero to end it, looked at after each round; null: all run */
  void* memory;  /* adrt_sequence_report.rounds_bytes, at a multiple of 16. Its first word is the number of
                    rounds that ran, once the work is done. On Vulkan the buffer has
                    VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT besides what adrt_vk_buffer asks for. On a CPU null
                    will do */
  uint64_t memory_size;
  uint64_t reserved[2];
} adrt_sequence_rounds;

/* From now on the sequence is repeated on the device, without a look from the host: round after round, until
 * *until is not 0, or a status block holds a report, or `most` rounds have run. Null: once, as at first.
 * `until` and `memory` are memory of the device, as adrt_arg.data names it; the structs to which they point
 * are copied. The program that records sets *until to 0 before. A status block is cleared before the first
 * round alone, so that the first report stands.
 *
 * On Vulkan all rounds are recorded, and tasks take their numbers of blocks from memory, which become 0:
 * rounds after the last only fill heaps. Needs bufferDeviceAddress (ADRT_ERROR_DEVICE_FEATURE). On a CPU
 * adrt_sequence_run repeats, and adrt_sequence_record is ADRT_ERROR_UNSUPPORTED, as adrt_cpu_record_run has
 * the rounds. On CUDA and HIP recording it is ADRT_ERROR_UNSUPPORTED. One thread at a time. */
ADRT_API adrt_status adrt_sequence_repeat(adrt_sequence* sequence, const adrt_sequence_rounds* rounds,
                                          adrt_error* error);

typedef struct adrt_sequence_report {
  uint32_t struct_size;
  uint32_t launch_count; /* that were added */
  /* Of the last recording; 0 before, and on a CPU, where the record has stages. */
  uint32_t command_count; /* fills and tasks */
  uint32_t wait_count;    /* pairs of commands of which one waits for the other: edges of a graph */
  uint32_t barrier_count; /* Vulkan: between its commands */
  uint32_t graph_count;   /* CUDA, HIP: how often a graph was made since adrt_sequence_create */
  uint32_t changed; /* nonzero: a launch was added, or a plan was given arguments, since the last recording,
                       which has those of before */
  uint32_t reserved0;
  uint64_t rounds_bytes; /* that adrt_sequence_rounds.memory takes */
  uint64_t reserved[3];
} adrt_sequence_report;

/* One thread at a time. */
ADRT_API adrt_status adrt_sequence_info(const adrt_sequence* sequence, adrt_sequence_report* report,
                                        adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
