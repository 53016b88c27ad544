#ifndef ADC_SAMPLES_JOBS_H
#define ADC_SAMPLES_JOBS_H
/* The smallest job system that is one: workers that take jobs from one list. No job waits for another; what
 * must come later is added when what it waits for has ended. */

#include <stdint.h>

struct Jobs;

struct Job {
  void (*run)(struct Jobs* jobs, void* context, uint32_t stage, uint32_t chunk);
  void* context;
  uint32_t stage, chunk;
};

/* Null where threads or memory are refused. */
struct Jobs* jobs_start(uint32_t workers, uint32_t capacity);
void jobs_stop(struct Jobs* jobs);
/* From any thread, also from a job. At most `capacity` jobs are in the list. */
void jobs_add(struct Jobs* jobs, struct Job job);
/* From the thread that started the workers: until every job that was added has ended. */
void jobs_wait(struct Jobs* jobs);

#endif
