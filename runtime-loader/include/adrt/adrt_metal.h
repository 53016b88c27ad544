#ifndef ADRT_ADRT_METAL_H
#define ADRT_ADRT_METAL_H
/* adrt on Metal. An engine that owns its device:
 *
 *   adrt_device_wrap_metal -> adrt_module_load -> adrt_plan     once
 *   adrt_record_metal                                           into its own command buffer, each frame
 *
 * A tool without a device: adrt_device_open_metal, adrt_memory_create, adrt_run.
 *
 * The header needs no Metal header: Objective-C objects are void* (a __bridge cast away). */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The struct to which adrt_arg.data points for a buffer or a layout on a Metal device, and which names heap
 * and status; copied by the call that takes it. The buffer must live until the work is done, and be
 * hazard-tracked, as buffers of a device are by default. */
typedef struct adrt_metal_buffer {
  uint32_t struct_size;
  uint32_t reserved0;
  void* buffer;    /* id<MTLBuffer> */
  uint64_t offset; /* bytes */
  uint64_t size;   /* bytes from the offset on; 0: to the buffer's end */
  uint64_t reserved[2];
} adrt_metal_buffer;

typedef struct adrt_metal_desc {
  uint32_t struct_size;
  uint32_t threads; /* how many a launch runs at once, which limits the rows of adstacks; 0: 32768 */
  void* device;     /* id<MTLDevice>; adrt_device_open_metal: null for the system's default device */
  void* queue;      /* id<MTLCommandQueue>, for adrt_run and adrt_memory_*; null: the loader makes its own */
  const struct adrt_metal_api* api; /* for tests: the functions to call in place of Metal; null: Metal */
  uint64_t reserved[4];
} adrt_metal_desc;

/* The caller's device; it and the queue are retained. Where this build of adrt holds no Metal:
 * ADRT_ERROR_UNSUPPORTED. Any thread. */
ADRT_API adrt_status adrt_device_wrap_metal(const adrt_host* host, const adrt_metal_desc* desc,
                                            adrt_device** device, adrt_error* error);
/* The system's default device; desc may be null. Where there is none: ADRT_ERROR_NOT_FOUND. Any thread. */
ADRT_API adrt_status adrt_device_open_metal(const adrt_host* host, const adrt_metal_desc* desc,
                                            adrt_device** device, adrt_error* error);

typedef struct adrt_metal_launch {
  uint32_t struct_size;
  uint32_t reserved0;
  const adrt_metal_buffer* heap;   /* heap_bytes of the plan, at a multiple of its alignment; null where 0 */
  const adrt_metal_buffer* status; /* ADRT_STATUS_BYTES, for adrt_status_read once the work is done */
  uint64_t reserved[4];
} adrt_metal_launch;

/* Encodes a launch into a command buffer (id<MTLCommandBuffer>) in which no encoder is open: encoders of its
 * own that clear status, scratch and counters and dispatch every task, with barriers between. Never commits,
 * waits, allocates device memory or reads back. The plan must be resolved and live until the work is done.
 * One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_metal(adrt_launch_plan* plan, void* command_buffer,
                                       const adrt_metal_launch* launch, adrt_error* error);

/* Encodes the counting of what adrt_plan_counting says, as adrt_record_metal encodes a launch: `memory` has
 * its size and alignment, and holds the counts at its start once the work is done. Give them to
 * adrt_plan_resolve. One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_size_metal(adrt_launch_plan* plan, void* command_buffer,
                                            const adrt_metal_buffer* memory, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
