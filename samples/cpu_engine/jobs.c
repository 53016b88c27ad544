#include "jobs.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST_WORKERS = 64 };

struct Jobs {
  pthread_mutex_t mutex;
  pthread_cond_t added, ended;
  pthread_t threads[MOST_WORKERS];
  uint32_t workers, capacity;
  uint32_t begin, count; /* the list is a ring */
  uint32_t open;         /* added and not ended */
  int stopping;
  struct Job list[];
};

static void* work(void* context) {
  struct Jobs* jobs = context;
  pthread_mutex_lock(&jobs->mutex);
  while (1) {
    while (jobs->count == 0 && !jobs->stopping) pthread_cond_wait(&jobs->added, &jobs->mutex);
    if (jobs->count == 0) break;
    struct Job job = jobs->list[jobs->begin];
    jobs->begin = (jobs->begin + 1) % jobs->capacity;
    --jobs->count;
    pthread_mutex_unlock(&jobs->mutex);
    job.run(jobs, job.context, job.stage, job.chunk);
    pthread_mutex_lock(&jobs->mutex);
    if (--jobs->open == 0) pthread_cond_signal(&jobs->ended);
  }
  pthread_mutex_unlock(&jobs->mutex);
  return NULL;
}

struct Jobs* jobs_start(uint32_t workers, uint32_t capacity) {
  if (workers == 0 || workers > MOST_WORKERS || capacity == 0) return NULL;
  struct Jobs* jobs = calloc(1, sizeof *jobs + capacity * sizeof *jobs->list);
  if (!jobs) return NULL;
  pthread_mutex_init(&jobs->mutex, NULL);
  pthread_cond_init(&jobs->added, NULL);
  pthread_cond_init(&jobs->ended, NULL);
  jobs->capacity = capacity;
  while (jobs->workers < workers) {
    if (pthread_create(&jobs->threads[jobs->workers], NULL, work, jobs) != 0) {
      jobs_stop(jobs);
      return NULL;
    }
    ++jobs->workers;
  }
  return jobs;
}

void jobs_stop(struct Jobs* jobs) {
  pthread_mutex_lock(&jobs->mutex);
  jobs->stopping = 1;
  pthread_cond_broadcast(&jobs->added);
  pthread_mutex_unlock(&jobs->mutex);
  for (uint32_t index = 0; index < jobs->workers; ++index) pthread_join(jobs->threads[index], NULL);
  pthread_cond_destroy(&jobs->ended);
  pthread_cond_destroy(&jobs->added);
  pthread_mutex_destroy(&jobs->mutex);
  free(jobs);
}

void jobs_add(struct Jobs* jobs, struct Job job) {
  pthread_mutex_lock(&jobs->mutex);
  if (jobs->count == jobs->capacity) {
    fprintf(stderr, "jobs: more than %u jobs are ready\n", jobs->capacity);
    abort();
  }
  jobs->list[(jobs->begin + jobs->count++) % jobs->capacity] = job;
  ++jobs->open;
  pthread_cond_signal(&jobs->added);
  pthread_mutex_unlock(&jobs->mutex);
}

void jobs_wait(struct Jobs* jobs) {
  pthread_mutex_lock(&jobs->mutex);
  while (jobs->open > 0) pthread_cond_wait(&jobs->ended, &jobs->mutex);
  pthread_mutex_unlock(&jobs->mutex);
}
