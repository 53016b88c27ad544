#ifndef ADRT_ADRT_HIP_H
#define ADRT_ADRT_HIP_H
/* adrt on AMD's devices, through the HIP runtime of ROCm 6.0 or newer, which is found at run time: neither
 * building nor linking needs anything of ROCm. The code is an HSACO, which runs on the architecture that it
 * was compiled for and on no other: a bundle has one target per architecture.
 *
 * An engine that uses HIP already:
 *
 *   hipSetDevice, adrt_device_wrap_hip -> adrt_module_load -> adrt_plan     once
 *   adrt_record_hip                                                          into its own stream
 *
 * A tool that does not: adrt_device_open_hip, adrt_memory_create, adrt_run.
 *
 * adrt_arg.data, heaps and status blocks are device addresses, as hipMalloc gives them. Sums of floats are
 * made by instructions that work on memory of the device alone: not on host memory (hipHostMalloc), nor on
 * fine-grained or managed memory. Every function leaves the calling thread's current device as it was.
 * adrt_run and adrt_memory_* keep order with the default stream, and with no other. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_hip_desc {
  uint32_t struct_size;
  uint32_t index; /* open: number of the device as the runtime counts them, from 0 */
  /* The runtime's function of this exact name ("hipModuleLoadData"), null where it is not there; null:
   * libamdhip64.so is opened, and stays open. */
  void* (*find)(void* user, const char* name);
  void* user;
  uint64_t reserved[4];
} adrt_hip_desc;

/* The calling thread's current device. desc may be null. Where there is no runtime: ADRT_ERROR_NOT_FOUND. Any
 * thread. */
ADRT_API adrt_status adrt_device_wrap_hip(const adrt_host* host, const adrt_hip_desc* desc,
                                          adrt_device** device, adrt_error* error);
/* A device by its number. desc may be null: the first one. Where there is no runtime, or no device of that
 * number: ADRT_ERROR_NOT_FOUND. Any thread. */
ADRT_API adrt_status adrt_device_open_hip(const adrt_host* host, const adrt_hip_desc* desc,
                                          adrt_device** device, adrt_error* error);

/* Records a launch into a stream (hipStream_t, null: the default stream) of the device; one that is being
 * captured into a graph will do. `heap` holds at least heap_bytes of the plan, at a multiple of its alignment
 * (null where that is 0), `status` ADRT_STATUS_BYTES, at a multiple of 4. The plan may be released, or
 * recorded again, as soon as the function returns. One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_hip(adrt_launch_plan* plan, void* stream, void* heap, uint64_t heap_size,
                                     void* status, adrt_error* error);

/* Records the counting of what adrt_plan_counting says: `memory` is device memory of its size and alignment,
 * and holds the counts at its start once the work is done. Read them back and give them to adrt_plan_resolve.
 * One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_size_hip(adrt_launch_plan* plan, void* stream, void* memory,
                                          uint64_t memory_size, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
