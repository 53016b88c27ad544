#ifndef ADRT_ADRT_CUDA_H
#define ADRT_ADRT_CUDA_H
/* adrt on NVIDIA's devices, through the CUDA driver, which is found at run time: neither building nor linking
 * needs anything of CUDA. The code is PTX. The driver compiles that of a kernel, and of the kernels that
 * count for it, in the first adrt_plan of it on a module, which therefore takes tens of milliseconds and
 * more; code that the driver's compiler refuses is an error of that call. It stays compiled as long as the
 * module lives. To compile before a frame or a capture of a stream begins, plan each kernel once at start-up;
 * the plan may be released at once. A kernel that is planned with a bounds record has one more to compile.
 *
 * An engine that has a context:
 *
 *   adrt_device_wrap_cuda -> adrt_module_load -> adrt_plan     once
 *   adrt_record_cuda                                           into its own stream
 *
 * A tool without one: adrt_device_open_cuda, adrt_memory_create, adrt_run.
 *
 * adrt_arg.data, heaps and status blocks are device addresses (CUdeviceptr), cast to pointers. Every function
 * leaves the calling thread's current context as it was. adrt_run and adrt_memory_* keep order with the
 * default stream, and with no other. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_cuda_desc {
  uint32_t struct_size;
  uint32_t index; /* open: number of the device as the driver counts them, from 0 */
  void* context;  /* wrap: CUcontext, which must outlive the device; null: the thread's current one */
  /* The driver's function of this exact name ("cuMemAlloc_v2"), null where it is not there; null:
   * libcuda.so.1 is opened, and stays open. */
  void* (*find)(void* user, const char* name);
  void* user;
  uint64_t reserved[4];
} adrt_cuda_desc;

/* The caller's context. desc may be null. Where there is no driver: ADRT_ERROR_NOT_FOUND. Any thread. */
ADRT_API adrt_status adrt_device_wrap_cuda(const adrt_host* host, const adrt_cuda_desc* desc,
                                           adrt_device** device, adrt_error* error);
/* The primary context of a device. desc may be null: the first one. Where there is no driver, or no device of
 * that number: ADRT_ERROR_NOT_FOUND. Any thread. */
ADRT_API adrt_status adrt_device_open_cuda(const adrt_host* host, const adrt_cuda_desc* desc,
                                           adrt_device** device, adrt_error* error);

/* Records a launch into a stream (CUstream, null: the default stream) of the device's context; one that is
 * being captured into a graph will do. `heap` holds at least heap_bytes of the plan, at a multiple of its
 * alignment (null where that is 0), `status` ADRT_STATUS_BYTES, at a multiple of 4. The plan may be released,
 * or recorded again, as soon as the function returns. One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_cuda(adrt_launch_plan* plan, void* stream, void* heap, uint64_t heap_size,
                                      void* status, adrt_error* error);

/* Records the counting of what adrt_plan_counting says: `memory` is device memory of its size and alignment,
 * and holds the counts at its start once the work is done. Read them back and give them to adrt_plan_resolve.
 * One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_size_cuda(adrt_launch_plan* plan, void* stream, void* memory,
                                           uint64_t memory_size, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
