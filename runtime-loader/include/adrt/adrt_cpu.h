#ifndef ADRT_ADRT_CPU_H
#define ADRT_ADRT_CPU_H
/* adrt in an engine's own job system, without a worker that waits. C11.
 *
 * A record is a list of launches, cut into stages; a stage is a number of chunks, which the engine's jobs run
 * in any order, on any threads, at once or one after the other. Nothing here waits, and running allocates
 * nothing.
 *
 *   adrt_cpu_record_create(device, &record, &error);
 *   adrt_record_cpu(plan, record, heap, heap_size, status, &error);      // forward
 *   adrt_record_cpu(gradient, record, heap, heap_size, status2, &error); // and so on
 *   for each stage:  adrt_cpu_record_stage(record, stage, &report, &error);
 *   once all stages of report.waits are done, a job for each chunk below report.chunk_count:
 *     adrt_cpu_run_chunk(record, stage, chunk, &finished, &error);
 *     if (finished) tell the jobs that wait for the stage;
 *   adrt_status_read(plan, status, &error);
 *
 * The accesses of the launches decide for which stages a stage waits: the memory of their arguments, heaps
 * and status blocks. Launches that share none of what one of them writes wait for nothing of each other, and
 * may run at once. The results are those of adrt_run with as many workers. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_cpu_record adrt_cpu_record;

/* An empty record for plans of the device, which must be a CPU. Any thread. */
ADRT_API adrt_status adrt_cpu_record_create(adrt_device* device, adrt_cpu_record** record, adrt_error* error);
ADRT_API void adrt_cpu_record_retain(adrt_cpu_record* record);
ADRT_API void adrt_cpu_record_release(adrt_cpu_record* record);
/* Makes it empty. Its memory stays, so that recording as much again allocates nothing. No chunk may be under
 * way. One thread at a time. */
ADRT_API adrt_status adrt_cpu_record_reset(adrt_cpu_record* record, adrt_error* error);

/* Appends a launch, under the rules of adrt_record_* (adrt.h): the plan must be resolved, `heap` holds at
 * least heap_bytes of the plan, aligned to ADRT_HEAP_ALIGNMENT (null where that is 0), `status`
 * ADRT_STATUS_BYTES, aligned to 4. The plan may be updated and recorded again, or released, as soon as the
 * function returns. A plan whose numbers of iterations depend on what buffers hold is
 * ADRT_ERROR_NEEDS_DEVICE_DATA: adrt_run compares them at each launch, a record cannot. A plan with a bounds
 * record is ADRT_ERROR_UNSUPPORTED. If it fails the record is unchanged. No chunk may be under way. One
 * thread at a time, for plan and record. */
ADRT_API adrt_status adrt_record_cpu(adrt_launch_plan* plan, adrt_cpu_record* record, void* heap,
                                     uint64_t heap_size, void* status, adrt_error* error);

#define ADRT_CPU_NO_TASK 0xFFFFFFFFu

typedef struct adrt_cpu_stage_report {
  uint32_t struct_size;
  uint32_t chunk_count;  /* at least 1, at most the plan's workers: each has a row of the heap */
  uint32_t launch;       /* which adrt_record_cpu it comes from, from 0 */
  uint32_t task;         /* of the kernel; ADRT_CPU_NO_TASK: it clears status block, scratch or counters */
  const char* kernel;    /* for people and profilers; lives as long as the bundle */
  const char* place;     /* source place of the task, else empty */
  uint64_t iterations;   /* of the task; 0 where it clears */
  const uint32_t* waits; /* stages that must be done before; lives until the record changes */
  uint32_t wait_count;
  uint32_t reserved0;
  uint64_t reserved[2];
} adrt_cpu_stage_report;

/* Stages so far: a stage waits for earlier ones only, so that running them in order is always right. Any
 * thread. */
ADRT_API uint32_t adrt_cpu_record_stages(const adrt_cpu_record* record);
/* Any thread, while the record does not change. */
ADRT_API adrt_status adrt_cpu_record_stage(const adrt_cpu_record* record, uint32_t stage,
                                           adrt_cpu_stage_report* report, adrt_error* error);

/* Runs a chunk, each once a round, after the stages that its stage waits for: the engine orders memory
 * between stages, as its jobs do anyway. Chunks share a stage's iterations: a late chunk may find none left.
 * `finished`, which may be null, becomes 1 for the last chunk of the stage to end, else 0; then the stage may
 * run again, in the next round. After an adstack overflow the other stages of that launch do nothing, as
 * their values would be wrong; adrt_status_read says so. Any thread. */
ADRT_API adrt_status adrt_cpu_run_chunk(adrt_cpu_record* record, uint32_t stage, uint32_t chunk,
                                        uint32_t* finished, adrt_error* error);

typedef struct adrt_cpu_rounds {
  uint32_t struct_size;
  uint32_t most; /* rounds, at most; 0: one */
  const uint32_t*
      until;     /* a word that kernels set to end it: looked at after each round; null: all rounds run */
  uint32_t done; /* result: rounds that ran */
  uint32_t reserved0;
  uint64_t reserved[2];
} adrt_cpu_rounds;

/* Runs the whole record on the device's workers, stage after stage, and waits: once, or round after round
 * until *until is not 0. A round after which a status block holds a report is the last. `rounds` may be null.
 * Where `most` rounds did not make *until nonzero, that is no error. adrt_sequence_repeat
 * (adrt_sequence.h) is the same for sequences, on Vulkan as well. One thread at a time. */
ADRT_API adrt_status adrt_cpu_record_run(adrt_cpu_record* record, adrt_cpu_rounds* rounds, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
