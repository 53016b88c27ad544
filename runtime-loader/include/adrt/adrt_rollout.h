#ifndef ADRT_ADRT_ROLLOUT_H
#define ADRT_ADRT_ROLLOUT_H
/* Time stepping and its gradient, within a budget of memory. C11.
 *
 * A simulation launches a kernel `steps` times on the same buffers, x <- f(x), and its gradient in reverse
 * order. The gradient of a step reads the values that the kernel saved in that step (a kernel compiled with
 * --save-overwritten, adrt_plan_saved). So every step needs memory for its saved values; if that is too
 * much, only some steps have it, and the others are run again from a copy of the state.
 *
 * A rollout is the schedule of that: a list of actions, in order, which the caller carries out on any
 * device. It knows no device, allocates only itself, and calls nothing. It only counts bytes: the memory is
 * the caller's, one arena of adrt_rollout_report.peak_bytes, and actions give offsets into it.
 *
 *   adrt_rollout_create(NULL, &desc, &rollout, &error);
 *   adrt_rollout_info(rollout, &report, &error);          // peak_bytes, forward_steps
 *   while (adrt_rollout_next(rollout, &action, &error) == ADRT_OK && action.kind != ADRT_ROLLOUT_DONE)
 *     switch (action.kind) {
 *       case ADRT_ROLLOUT_STORE:   copy the state to arena + action.offset; break;
 *       case ADRT_ROLLOUT_LOAD:    copy the state from arena + action.offset; break;
 *       case ADRT_ROLLOUT_FORWARD: run the kernel of action.step, save to arena + action.offset; break;
 *       case ADRT_ROLLOUT_SEED:    the last state is there: set the adjoints of the loss; break;
 *       case ADRT_ROLLOUT_REVERSE: run the gradient of action.step, read arena + action.offset; break;
 *     }
 *
 * Adjoints are updated from the last step to the first and never copied. Other memory that a step writes (a
 * history) is written again when the step runs again. A sum that steps add to must be part of the state. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  /* The cheapest of the others that the budget allows, in steps that run; then the smallest in bytes. */
  ADRT_ROLLOUT_AUTO = 0,
  /* Every step saves: no step runs twice. Bytes: steps * saved_bytes. */
  ADRT_ROLLOUT_WHOLE = 1,
  /* A copy of the state before each segment of equally many steps: each step but those of the last segment
   * runs twice. Bytes: (segments - 1) * state_bytes + segment * saved_bytes; without a budget, the fewest. */
  ADRT_ROLLOUT_UNIFORM = 2,
  /* Copies are dropped and taken again so that the fewest steps run (Griewank and Walther, "Revolve", TOMS
   * 26, 2000), over segments of equally many steps. */
  ADRT_ROLLOUT_BINOMIAL = 3
};

typedef struct adrt_rollout_desc {
  uint32_t struct_size;
  uint32_t schedule; /* ADRT_ROLLOUT_AUTO, ... */
  uint64_t steps;
  uint64_t state_bytes;  /* of one copy of all that a step reads and writes, but for adjoints */
  uint64_t saved_bytes;  /* that one step saves: adrt_plan_report.saved_bytes */
  uint64_t budget_bytes; /* most that the arena may take; 0: any */
  uint64_t alignment;    /* of offsets: a power of two; 0: 256 */
  uint64_t reserved[2];
} adrt_rollout_desc;

enum {
  ADRT_ROLLOUT_DONE = 0,
  ADRT_ROLLOUT_FORWARD = 1,
  ADRT_ROLLOUT_REVERSE = 2,
  ADRT_ROLLOUT_STORE = 3,
  ADRT_ROLLOUT_LOAD = 4,
  ADRT_ROLLOUT_SEED = 5
};

typedef struct adrt_rollout_action {
  uint32_t struct_size;
  uint32_t kind;   /* ADRT_ROLLOUT_FORWARD, ... */
  uint64_t step;   /* FORWARD, REVERSE: from 0; STORE, LOAD: the step that begins with this state */
  uint64_t offset; /* in the arena. FORWARD: the place where it saves, also if no action will read it */
  uint64_t reserved[2];
} adrt_rollout_action;

typedef struct adrt_rollout_report {
  uint32_t struct_size;
  uint32_t schedule;      /* the one that was chosen */
  uint64_t peak_bytes;    /* of the arena: exactly the bytes that the actions use */
  uint64_t segment;       /* steps whose saved values are there at once */
  uint64_t copies;        /* of the state that are there at once, at most */
  uint64_t forward_steps; /* launches of the kernel, all in all: `steps` and those that run again */
  uint64_t done;          /* actions that adrt_rollout_next has given */
  uint64_t reserved[3];
} adrt_rollout_report;

typedef struct adrt_rollout adrt_rollout;

/* Chooses a schedule. ADRT_ERROR_HEAP_TOO_SMALL where none fits the budget: needed_bytes is the least budget
 * that would do. ADRT_ERROR_SIZE_OVERFLOW where bytes or steps do not fit 64 bits. host may be null. Any
 * thread.
 */
ADRT_API adrt_status adrt_rollout_create(const adrt_host* host, const adrt_rollout_desc* desc,
                                         adrt_rollout** rollout, adrt_error* error);
ADRT_API void adrt_rollout_release(adrt_rollout* rollout);
/* One thread at a time, all of the following. */
ADRT_API adrt_status adrt_rollout_info(const adrt_rollout* rollout, adrt_rollout_report* report,
                                       adrt_error* error);
/* The next action; after the last one ADRT_ROLLOUT_DONE, again and again. */
ADRT_API adrt_status adrt_rollout_next(adrt_rollout* rollout, adrt_rollout_action* action, adrt_error* error);
/* Begins again with the first action. */
ADRT_API adrt_status adrt_rollout_restart(adrt_rollout* rollout, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
