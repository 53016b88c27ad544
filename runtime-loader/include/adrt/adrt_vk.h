#ifndef ADRT_ADRT_VK_H
#define ADRT_ADRT_VK_H
/* adrt on Vulkan. An engine that owns its device:
 *
 *   adrt_vk_choose_target                                    once it has picked a VkPhysicalDevice
 *   adrt_vk_required_extensions, adrt_vk_require_features    before it makes its VkDevice
 *   adrt_device_wrap_vk -> adrt_module_load -> adrt_plan     once
 *   adrt_record_vk                                           into its own command buffer, each frame
 *
 * A tool without a device: adrt_device_open_vk, adrt_memory_create, adrt_run.
 *
 * The header needs no Vulkan header: dispatchable handles are void*, others uint64_t, as on every 64-bit
 * system. No Vulkan library is linked: functions come from vkGetInstanceProcAddr. */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The struct to which adrt_arg.data points for a buffer or a layout on a Vulkan device, and which names heap
 * and status; copied by the call that takes it. The buffer needs VK_BUFFER_USAGE_STORAGE_BUFFER_BIT and
 * VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT; heap, status and the buffers of adrt_memory_write or
 * adrt_memory_read need both VK_BUFFER_USAGE_TRANSFER bits as well. A part of a buffer that begins at a
 * multiple of minStorageBufferOffsetAlignment and is at most maxStorageBufferRange long is reached through a
 * descriptor, any other through its address. Code without device addresses needs every buffer, and the heap,
 * to be the former; where it updates elements of less than four bytes atomically, the VkBuffer has whole
 * words. */
typedef struct adrt_vk_buffer {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t buffer;  /* VkBuffer */
  uint64_t offset;  /* bytes */
  uint64_t size;    /* bytes from the offset on */
  uint64_t address; /* vkGetBufferDeviceAddress of the buffer, plus the offset: the driver is asked again, and
                       another one is ADRT_ERROR_ARGUMENT. Not looked at where the device was made without
                       bufferDeviceAddress, which adrt_memory_data says as 0 */
  uint64_t reserved[2];
} adrt_vk_buffer;

/* The requirements of a target of a bundle for a device. Texts live as long as the library. */
typedef struct adrt_vk_requirements {
  uint32_t struct_size;
  uint32_t api_version; /* at least, as VK_MAKE_API_VERSION makes it */
  uint32_t extension_count;
  uint32_t wanted_count;
  uint32_t feature_count;
  uint32_t reserved0;
  const char* extensions[8]; /* must be enabled */
  const char* wanted[8];     /* make it faster or tell more; enable those that the device has */
  const char* features[64];  /* members of the feature structures, subgroup operations, float controls */
  uint64_t reserved[4];
} adrt_vk_requirements;

/* For target number `target` of the bundle, which must be one of kind "vulkan". Any thread. */
ADRT_API adrt_status adrt_vk_required_extensions(const adrt_bundle* bundle, uint32_t target,
                                                 adrt_vk_requirements* requirements, adrt_error* error);
/* Enables, in a chain that begins with a VkPhysicalDeviceFeatures2 and goes to vkCreateDevice, every feature
 * that the target needs. Features that the chain already enables stay enabled. A feature whose structure is
 * not in the chain is ADRT_ERROR_DEVICE_FEATURE, and the text names it. Any thread. */
ADRT_API adrt_status adrt_vk_require_features(const adrt_bundle* bundle, uint32_t target, void* features2,
                                              adrt_error* error);

/* An engine's profiler and progress bar. Functions may be null; `user` is handed to each. Copied. */
typedef struct adrt_vk_hooks {
  uint32_t struct_size;
  uint32_t reserved0;
  void* user;
  /* Before and after the dispatch of a task is recorded, inside of every adrt_record_vk, adrt_record_size_vk,
   * adrt_sequence_record and adrt_run: the place to write timestamps. They may record anything that leaves
   * compute's pipeline, push constants and set 0 as they are. `kernel` and `place` live as long as the
   * bundle. On the thread that records. */
  void (*task_begin)(void* user, void* command_buffer, const char* kernel, uint32_t task, const char* place);
  void (*task_end)(void* user, void* command_buffer, const char* kernel, uint32_t task, const char* place);
  /* A pipeline was made, of the code with this name. On the thread that loads, or records where
   * ADRT_VK_LAZY is set. */
  void (*pipeline_made)(void* user, const char* symbol);
  uint64_t reserved[4];
} adrt_vk_hooks;

enum {
  /* VK_EXT_debug_utils is enabled in the instance: pipelines, shaders and buffers that the loader makes get
   * names, and each task a label around its commands. */
  ADRT_VK_NAMES = 4u,
  /* A pipeline is made when a recording first takes it, instead of by adrt_module_load: loading is quick, and
   * the first recording is slow and allocates. Recordings of several threads make theirs at once. */
  ADRT_VK_LAZY = 8u
};

/* The caller's Vulkan. Everything stays the caller's and must outlive the device. */
typedef struct adrt_vk_desc {
  uint32_t struct_size;
  uint32_t api_version; /* that the caller uses the device with (VkApplicationInfo); 0: 1.2 */
  void* instance;
  void* physical_device;
  void* device;
  void* queue;           /* for adrt_run and adrt_memory_*, which submit to it; null: they are refused */
  uint32_t queue_family; /* of the queue; compute */
  uint32_t extension_count;
  const char* const* extensions; /* device extensions that were enabled */
  const void* features; /* the chain that went to vkCreateDevice, from VkPhysicalDeviceFeatures2 on */
  void (*get_instance_proc_addr)(void); /* vkGetInstanceProcAddr, cast */
  /* Around each submission to the queue, for callers that submit from several threads; may be null. */
  void* user;
  void (*lock_queue)(void* user);
  void (*unlock_queue)(void* user);
  /* Whether a module of SPIR-V is valid by Vulkan's rules, as spirv-val says; not 0: it is. Called for each
   * unverified module, after the loader's own checks; may be null. */
  int (*check_spirv)(void* user, const uint32_t* words, size_t count);
  uint64_t pipeline_cache;          /* VkPipelineCache for every pipeline, made without
                                       VK_PIPELINE_CACHE_CREATE_EXTERNALLY_SYNCHRONIZED_BIT; 0: none. The engine loads
                                       and saves it */
  const void* allocation_callbacks; /* VkAllocationCallbacks for every object that the loader makes; null:
                                       the driver's. Called from every thread that uses the device */
  const adrt_vk_hooks* hooks;       /* null: none */
  uint32_t flags;                   /* ADRT_VK_NAMES, ADRT_VK_LAZY */
  uint32_t reserved0;
  uint64_t reserved[3];
} adrt_vk_desc;

/* The number of the target that a device should be made for: the best of the bundle's that the physical
 * device can run when it is made with the extensions of adrt_vk_required_extensions and the features of
 * adrt_vk_require_features. A bundle by default holds code for all devices (vulkan:1.2), and where a kernel
 * adds floats in memory also code for those that can (vulkan:1.3). Of `desc` instance, physical_device,
 * api_version and get_instance_proc_addr are read. Where the device can run none: ADRT_ERROR_NO_TARGET, and
 * the text says of each target why. Any thread. */
ADRT_API adrt_status adrt_vk_choose_target(const adrt_bundle* bundle, const adrt_vk_desc* desc,
                                           uint32_t* target, adrt_error* error);

/* A device of the caller. Features and extensions count as enabled only if the descriptor says so. If the
 * chain enables robustBufferAccess, adrt_module_load accepts unverified bundles that hold code without
 * device addresses (vulkan:1.2-near). docs/security.md describes its confinement, and the addition of
 * robustBufferAccess2, which counts as enabled if the chain enables it. Makes no Vulkan object until
 * adrt_module_load, adrt_run or adrt_memory_*. Any thread. */
ADRT_API adrt_status adrt_device_wrap_vk(const adrt_host* host, const adrt_vk_desc* desc,
                                         adrt_device** device, adrt_error* error);

enum {
  ADRT_VK_VALIDATE = 1u, /* with VK_LAYER_KHRONOS_validation, which must be installed; to the host's log */
  ADRT_VK_ROBUST = 2u    /* with robustBufferAccess, and robustBufferAccess2 if the device has it, so that
                            unverified code runs confined; adrt_device_report.features says which */
};

typedef struct adrt_vk_open_desc {
  uint32_t struct_size;
  uint32_t flags; /* ADRT_VK_* */
  uint32_t index; /* of the physical device; one past the last is ADRT_ERROR_NOT_FOUND */
  uint32_t reserved0;
  void (*get_instance_proc_addr)(void); /* vkGetInstanceProcAddr, cast; null: that of libvulkan.so.1 */
  /* As in adrt_vk_desc, with this `user`. */
  int (*check_spirv)(void* user, const uint32_t* words, size_t count);
  void* user;
  uint64_t reserved[2];
} adrt_vk_open_desc;

/* A device of its own, with an instance, a compute queue and every feature that bundles may ask for and the
 * device has. Null desc: the first one. Where the system has no Vulkan: ADRT_ERROR_NOT_FOUND. Any thread. */
ADRT_API adrt_status adrt_device_open_vk(const adrt_host* host, const adrt_vk_open_desc* desc,
                                         adrt_device** device, adrt_error* error);

typedef struct adrt_vk_launch {
  uint32_t struct_size;
  uint32_t reserved0;
  const adrt_vk_buffer*
      heap; /* heap_bytes of the plan, at a multiple of its alignment; null where that is 0 */
  const adrt_vk_buffer* status; /* ADRT_STATUS_BYTES, for adrt_status_read once the work is done */
  uint64_t reserved[4];
} adrt_vk_launch;

/* Records a launch into a command buffer (VkCommandBuffer) that is recording, outside of a render pass, for
 * a queue with compute: clears status, scratch and counters, dispatches every task with barriers between.
 * Before and after it orders memory against everything else on the queue, and makes what it wrote visible to
 * the host. Never submits, waits or reads back. Allocates nothing, with one exception: code without device
 * addresses that has more descriptors than the device can push gets a descriptor set, which is freed with
 * the plan; after 4,096 of them ADRT_ERROR_OVER_LIMIT. With ADRT_VK_LAZY it also makes the pipelines that it
 * takes. The bound pipeline, push constants and set 0 for compute are different afterwards. The plan must be
 * resolved; it, its arguments' buffers and heap and status must live until the work is done. One thread at a
 * time for the plan. */
ADRT_API adrt_status adrt_record_vk(adrt_launch_plan* plan, void* command_buffer,
                                    const adrt_vk_launch* launch, adrt_error* error);

/* Records the counting of what adrt_plan_counting says, as adrt_record_vk records a launch: `memory` has its
 * size and alignment, and holds the counts at its start once the work is done. Read them back and give them
 * to adrt_plan_resolve. One thread at a time for the plan. */
ADRT_API adrt_status adrt_record_size_vk(adrt_launch_plan* plan, void* command_buffer,
                                         const adrt_vk_buffer* memory, adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
