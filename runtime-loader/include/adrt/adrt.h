#ifndef ADRT_ADRT_H
#define ADRT_ADRT_H
/* adrt: loads bundles (.adcb) and runs their kernels. C11.
 *
 * Conventions. Every function returns an adrt_status, 0 on success, and writes its outputs only then.
 * Descriptors begin with struct_size, which the caller sets to sizeof, and end with reserved words, which
 * must be zero; start from {0}. A word that this version does not know (a reserved word, a word after the
 * end of its struct) is refused unless it is zero. Handles are counted: the creator of one releases it, and a
 * handle keeps alive the handles that it was made from. The last argument, which may be null, takes the
 * details of a failure; set its struct_size before. The library has no globals, reads no environment, prints
 * nothing, and starts no thread except in adrt_device_open_cpu. A debug build of it (ADRT_CHECK_HANDLES)
 * differs in that: it has a table of all handles, and a handle that was released, or never was one, ends the
 * process with the name of the function that got it.
 *
 *   adrt_bundle_open -> adrt_module_load -> adrt_bundle_find_kernel -> adrt_plan -> adrt_run
 *
 * Devices other than the CPU have a header each: adrt_cuda.h, adrt_hip.h, adrt_vk.h, adrt_metal.h.
 *
 * Thread rule. "Any thread" means at any time, also at once with the same handle. "One thread at a time"
 * means that the caller sees to it that no two calls with the same handle overlap; different handles are
 * independent.
 *
 * The bytes of a bundle may come from anywhere: opening is safe for any bytes. Running its code is not. It
 * runs only if the caller trusts it (ADRT_HOST_TRUST or the authorize callback), or if one of
 * adrt_host.public_keys has signed it. docs/security.md says what each of them means. */

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ADRT_VERSION_MAJOR 0
#define ADRT_VERSION_MINOR 1
#define ADRT_VERSION_PATCH 0
#define ADRT_VERSION (ADRT_VERSION_MAJOR << 16 | ADRT_VERSION_MINOR << 8 | ADRT_VERSION_PATCH)

/* Before each function. The build of the shared library defines ADRT_EXPORTS. Programs that link the shared
 * library on Windows define ADRT_SHARED (the CMake and pkg-config files of the package do). In the static
 * library nothing is visible beyond the program or library that it is linked into. */
#if defined(ADRT_API)
#elif defined(_WIN32) && defined(ADRT_EXPORTS)
#define ADRT_API __declspec(dllexport)
#elif defined(_WIN32) && defined(ADRT_SHARED)
#define ADRT_API __declspec(dllimport)
#elif defined(ADRT_EXPORTS)
#define ADRT_API __attribute__((visibility("default")))
#else
#define ADRT_API
#endif

typedef int32_t adrt_status;

/* Status codes are stable. */
enum {
  ADRT_OK = 0,

  ADRT_ERROR_ARGUMENT = 100, /* an argument is wrong: the text names it and says what was expected */
  ADRT_ERROR_OUT_OF_HOST_MEMORY = 101, /* the host's allocate returned null, or unaligned memory */
  ADRT_ERROR_OUT_OF_DEVICE_MEMORY = 102,
  ADRT_ERROR_NOT_FOUND = 103, /* no kernel of that name; no such device, or no driver for it */

  ADRT_ERROR_BAD_MAGIC = 200, /* not a bundle */
  ADRT_ERROR_TRUNCATED = 201,
  ADRT_ERROR_CORRUPT = 202,     /* a hash does not match */
  ADRT_ERROR_MALFORMED = 203,   /* a rule of the format is broken: adrt_error.rule */
  ADRT_ERROR_OVER_LIMIT = 204,  /* a limit of the host is passed */
  ADRT_ERROR_VERSION = 205,     /* made for another version of the format */
  ADRT_ERROR_UNSUPPORTED = 206, /* requires a feature that this loader does not know */
  ADRT_ERROR_UNTRUSTED = 207,   /* the bundle's code is neither trusted nor signed by a known key */

  ADRT_ERROR_NO_TARGET = 300,          /* the bundle has no code for this device */
  ADRT_ERROR_DEVICE_FEATURE = 301,     /* the device lacks a feature: the text names it */
  ADRT_ERROR_INTERFACE_MISMATCH = 302, /* the kernel's parameters are not those of the given hash */
  ADRT_ERROR_DRIVER = 303,             /* system or driver refused: adrt_error.native_code */
  ADRT_ERROR_DEVICE_LOST = 304,

  ADRT_ERROR_SIZE_OVERFLOW = 400,       /* a size does not fit 64 bits */
  ADRT_ERROR_NEEDS_DEVICE_DATA = 401,   /* sizes depend on buffer contents: resolve the plan or give a cap */
  ADRT_ERROR_HEAP_TOO_SMALL = 402,      /* adrt_error.needed_bytes would do */
  ADRT_ERROR_ADSTACK_OVERFLOW = 403,    /* a stack was too small, or a parallel loop has another number of
                                           iterations, since the contents of which that was computed have
                                           changed: the text names both, and both sizes */
  ADRT_ERROR_ASSERTION = 404,           /* an assertion of the kernel failed */
  ADRT_ERROR_INDEX_OUT_OF_BOUNDS = 405, /* a checked access was out of range */
  ADRT_ERROR_WRITE_PROMISE = 406,       /* a promise about writes is broken: writeonce, settled, disjoint */
  ADRT_ERROR_BOUNDS_CHANGED = 407, /* a loop's bounds are not those that the kernel ran with: the text names
                                     the loop. No gradient was computed (adrt_plan_desc.bounds_record) */
  ADRT_ERROR_ROWS_EXHAUSTED = 408, /* more threads passed a gate than were counted, since the data
                                      that decide there have changed: adrt_error.needed_bytes would do for any
                                      number */
  ADRT_ERROR_CANCELLED = 409       /* adrt_plan_desc.is_cancelled said so */
};

/* Details of a failure, in the caller's memory. */
typedef struct adrt_error {
  uint32_t struct_size;
  adrt_status status;
  int32_t native_code; /* errno of the system call, or the code of the driver's call, that failed; or 0 */
  uint32_t section;    /* section of the bundle, or 0xFFFFFFFF */
  uint64_t offset;     /* byte in the file, or in the section's content where section is given */
  uint32_t rule;       /* number of the broken rule of the format page (3 for H3), or 0 */
  uint32_t reserved0;
  uint64_t needed_bytes; /* HEAP_TOO_SMALL, ROWS_EXHAUSTED: bytes of heap that would do, or, where the text
                            says that tasks are known later, do for the others; ADSTACK_OVERFLOW:
                            at least what the launch would have taken of the heap, or of the cap where a
                            cap sized the stack; OUT_OF_*_MEMORY: bytes asked for; 0: unknown */
  char text[512];        /* for people; ends with a zero */
} adrt_error;

/* ADRT_VERSION of the library that the program runs with: another one than that of the header, where the
 * shared library was replaced. Libraries of one major version (of one minor version, while the major version
 * is 0) take programs that were built with an older header. Any thread. */
ADRT_API uint32_t adrt_version(void);
/* A short English name: "adstack overflow". Any thread. */
ADRT_API const char* adrt_status_text(adrt_status status);

/* ------------------------------------------------------------------------------------------------ host */

/* Limits on what adrt_bundle_open accepts; 0 means the default. Those of single numbers count as the default
 * where they are larger. The last three are the budget of one open, and may be raised: it bounds the time
 * and memory of an open in proportion to the size of the file, for any bytes; an open that exceeds it is
 * ADRT_ERROR_OVER_LIMIT. adrt_bundle_report says what an open took; adc stores what would
 * take more than the defaults less compressed. */
typedef struct adrt_limits {
  uint32_t struct_size;
  uint32_t sections;          /* 1024 */
  uint64_t file_bytes;        /* 1 GiB */
  uint64_t section_bytes;     /* 256 MiB, uncompressed */
  uint64_t metadata_bytes;    /* 16 MiB */
  uint32_t targets;           /* 64 */
  uint32_t kernels;           /* 65535 */
  uint32_t name_bytes;        /* 255 */
  uint32_t ratio;             /* 1000: raw bytes per compressed byte */
  uint64_t open_memory_bytes; /* at any one time: 8 MiB, and 64 for each byte of the file; UINT64_MAX: any */
  uint64_t open_raw_bytes;    /* of all compressed sections: 4 MiB, and 16 for each byte of the file */
  uint64_t open_steps; /* 2^18, and 16 for each byte of the file and of its compressed sections' content, but
                          at most 19 * 2^20, and 40 for each byte of the file. A step is a byte that a pass
                          reads or an element that a loop visits: up to 0.75 ns */
  uint64_t reserved[2];
} adrt_limits;

enum {
  ADRT_HOST_TRUST = 1u /* code of every bundle opened with this host may run */
};

typedef struct adrt_heap_trace adrt_heap_trace; /* adrt_trace.h */

/* The services of the caller's program. May be null wherever a function takes it: then the C library
 * allocates, and nothing is trusted. The struct is copied; `user` and the functions must outlive everything
 * that is made with them, and be callable from any thread that uses it. */
typedef struct adrt_host {
  uint32_t struct_size;
  uint32_t flags; /* ADRT_HOST_* */
  void* user;
  void* (*allocate)(void* user, size_t size, size_t alignment); /* null: malloc; may return null */
  void (*release)(void* user, void* memory, size_t size, size_t alignment);
  void (*log)(void* user, const char* text); /* null: silent; texts for people: each choice and its reason */
  int (*authorize)(void* user,
                   const uint8_t content_id[32]); /* null: no; nonzero: this bundle's code may run */
  const adrt_limits* limits;                      /* null: defaults */
  /* Signatures: code of a bundle that one of these keys has signed (`adc sign`) may run. The keys are
   * public_key_count Ed25519 public keys of 32 bytes, one after the other, at most 64; adrt_bundle_open
   * reads them, and they may be freed afterwards. */
  const uint8_t* public_keys; /* null: none */
  /* Ed25519 of the caller's library, since the loader contains none: returns nonzero if `signature` is the
   * key's signature of the message. adrt_sodium.h has it for libsodium. Null: signatures are not checked,
   * and let no code run. */
  int (*check_signature)(void* user, const uint8_t key[32], const uint8_t signature[64], const void* message,
                         size_t message_size);
  uint32_t public_key_count;
  uint32_t reserved0;
  /* Of the host that a device was opened with: told what each launch on it takes of memory, task by task, on
   * the thread that launches. Null: no log, and a launch only looks whether there is one */
  void (*trace_heap)(void* user, const adrt_heap_trace* told);
  uint64_t reserved[1];
} adrt_host;

/* ---------------------------------------------------------------------------------------------- bundle */

typedef struct adrt_bundle adrt_bundle;
typedef struct adrt_kernel adrt_kernel; /* lives as long as its bundle */

enum {
  ADRT_BUNDLE_COPY = 0,  /* the bytes may be freed after the call */
  ADRT_BUNDLE_BORROW = 1 /* the bytes stay unchanged until the bundle is released */
};

/* Opens a bundle from memory and verifies all of it: hashes, form, metadata, and that payloads have the form
 * that they claim. Any thread. */
ADRT_API adrt_status adrt_bundle_open(const adrt_host* host, const void* data, size_t size, uint32_t mode,
                                      adrt_bundle** bundle, adrt_error* error);
/* Any thread. */
ADRT_API void adrt_bundle_retain(adrt_bundle* bundle);
ADRT_API void adrt_bundle_release(adrt_bundle* bundle);

/* The kernel of exactly this name ("relax.grad"). A nonzero interface_hash must match the kernel's. Any
 * thread. */
ADRT_API adrt_status adrt_bundle_find_kernel(const adrt_bundle* bundle, const char* name,
                                             uint64_t interface_hash, const adrt_kernel** kernel,
                                             adrt_error* error);

/* ---------------------------------------------------------------------------------------------- device */

typedef struct adrt_device adrt_device;

/* The caller's job system. parallel_for calls job(context, i) for each i in [0, count), in any order, on any
 * threads, at once or not, and returns when all are done. If it returns earlier the launch is
 * ADRT_ERROR_DRIVER. */
typedef struct adrt_cpu_jobs {
  uint32_t struct_size;
  uint32_t worker_count; /* how many jobs are worth having at once, at least 1 */
  void* user;
  void (*parallel_for)(void* user, uint32_t count, void (*job)(void* context, uint32_t index), void* context);
  uint64_t reserved[2];
} adrt_cpu_jobs;

/* The CPU through the caller's job system; null jobs: everything runs on the thread that calls adrt_run. Any
 * thread. */
ADRT_API adrt_status adrt_device_wrap_cpu(const adrt_host* host, const adrt_cpu_jobs* jobs,
                                          adrt_device** device, adrt_error* error);
/* The CPU through a pool of its own: worker_count - 1 threads that live as long as the device, and the caller
 * of adrt_run; 0: one worker per processor. Launches from several threads take turns. In a forked child,
 * which has none of the threads, launches that need them are ADRT_ERROR_DRIVER. Any thread. */
ADRT_API adrt_status adrt_device_open_cpu(const adrt_host* host, uint32_t worker_count, adrt_device** device,
                                          adrt_error* error);
/* Any thread. The last release stops a pool's threads and must not come from one of its jobs. */
ADRT_API void adrt_device_retain(adrt_device* device);
ADRT_API void adrt_device_release(adrt_device* device);

typedef struct adrt_device_report {
  uint32_t struct_size;
  uint32_t worker_count; /* CPU: jobs at once; GPU: threads that it runs at once */
  char kind[16];         /* "cpu", "cuda", "hip", "vulkan", "metal" */
  char arch[16];         /* "x86-64", "sm_90" */
  char features[1024];   /* those that bundles may ask for, with spaces between; of Vulkan also
                            "robustBufferAccess" and "robustBufferAccess2", where they are on */
  char name[64];         /* the hardware's own name; may be empty */
  uint64_t reserved[2];
} adrt_device_report;

/* Any thread. */
ADRT_API adrt_status adrt_device_info(const adrt_device* device, adrt_device_report* report,
                                      adrt_error* error);

enum { ADRT_TARGET_REFUSED = 0, ADRT_TARGET_USABLE = 1, ADRT_TARGET_CHOSEN = 2 };

typedef struct adrt_target_report {
  uint32_t struct_size;
  uint32_t verdict; /* ADRT_TARGET_* */
  const char* name; /* "cpu:x86-64-v3"; lives as long as the bundle */
  char reason[160]; /* why refused, or why another one is better */
  uint64_t reserved[2];
} adrt_target_report;

/* One report per target of the bundle, in its order. `reports` may be null: then only the count is given. Any
 * thread. */
ADRT_API adrt_status adrt_bundle_query_targets(const adrt_bundle* bundle, const adrt_device* device,
                                               adrt_target_report* reports, uint32_t capacity,
                                               uint32_t* count, adrt_error* error);

/* ---------------------------------------------------------------------------------------------- module */

typedef struct adrt_module adrt_module;

/* Loads the code of the best target for the device: decompresses, checks, maps. On CUDA the driver compiles a
 * kernel later, in the first adrt_plan of it. In a bundle that was merged of several, kernels may have no
 * code for that target: for those it loads the best target that has. Any thread. */
ADRT_API adrt_status adrt_module_load(adrt_device* device, adrt_bundle* bundle, adrt_module** module,
                                      adrt_error* error);
/* The code of one target by its index in the bundle, and no other. Any thread. */
ADRT_API adrt_status adrt_module_load_target(adrt_device* device, adrt_bundle* bundle, uint32_t target,
                                             adrt_module** module, adrt_error* error);
/* Index of the target whose code the module holds; of several the best. Any thread. */
ADRT_API uint32_t adrt_module_target(const adrt_module* module);
/* Any thread. */
ADRT_API void adrt_module_retain(adrt_module* module);
ADRT_API void adrt_module_release(adrt_module* module);

/* ---------------------------------------------------------------------------------------------- memory */

/* Memory of a device, for tools and first steps; an engine has its own. On a CPU it is plain memory. Its
 * content is undefined at first. */
typedef struct adrt_memory adrt_memory;
/* Any thread. */
ADRT_API adrt_status adrt_memory_create(adrt_device* device, uint64_t bytes, adrt_memory** memory,
                                        adrt_error* error);
ADRT_API void adrt_memory_retain(adrt_memory* memory);
ADRT_API void adrt_memory_release(adrt_memory* memory);
/* The value for adrt_arg.data: a CPU's address; the device address of CUDA and HIP; a pointer to an
 * adrt_vk_buffer or an adrt_metal_buffer that lives as long as the memory. Any thread. */
ADRT_API void* adrt_memory_data(const adrt_memory* memory);
ADRT_API uint64_t adrt_memory_bytes(const adrt_memory* memory);
/* Copy, and wait. Any thread; launches that use the same bytes must be done. */
ADRT_API adrt_status adrt_memory_write(adrt_memory* memory, uint64_t offset, const void* from, uint64_t bytes,
                                       adrt_error* error);
ADRT_API adrt_status adrt_memory_read(const adrt_memory* memory, uint64_t offset, void* to, uint64_t bytes,
                                      adrt_error* error);

/* ----------------------------------------------------------------------------------------------- types */

enum {
  ADRT_TYPE_NONE = 0,
  ADRT_TYPE_I1 = 1, /* one byte, 0 or 1 */
  ADRT_TYPE_I8 = 2,
  ADRT_TYPE_I16 = 3,
  ADRT_TYPE_I32 = 4,
  ADRT_TYPE_I64 = 5,
  ADRT_TYPE_U8 = 6,
  ADRT_TYPE_U16 = 7,
  ADRT_TYPE_U32 = 8,
  ADRT_TYPE_U64 = 9,
  ADRT_TYPE_F16 = 10,
  ADRT_TYPE_F32 = 11,
  ADRT_TYPE_F64 = 12
};
/* "f32", or "?" for a number that is no type; bytes of a scalar, or 0. Any thread. */
ADRT_API const char* adrt_type_name(uint32_t type);
ADRT_API uint32_t adrt_type_size(uint32_t type);

/* The launch makes scratch, segment lengths (iterations between checkpoints) and trip counts (iterations of
 * a loop that only running code can count): the caller does not give them. */
enum {
  ADRT_PARAM_BUFFER = 1,
  ADRT_PARAM_SCALAR = 2,
  ADRT_PARAM_LAYOUT = 3,
  ADRT_PARAM_SCRATCH = 4,
  ADRT_PARAM_SEGMENT = 5,
  ADRT_PARAM_TRIPS = 6
};
enum { ADRT_ACCESS_READ = 1, ADRT_ACCESS_WRITE = 2, ADRT_ACCESS_READWRITE = 3 };
enum {
  ADRT_ROLE_PLAIN = 0,
  ADRT_ROLE_ADJOINT = 1,
  ADRT_ROLE_TANGENT = 2,
  ADRT_ROLE_SCRATCH = 3,
  ADRT_ROLE_SEGMENT = 4,
  ADRT_ROLE_TRIPS = 5,
  /* memory of the caller that a kernel fills with values, and its gradient reads (adrt_plan_saved) */
  ADRT_ROLE_SAVED = 6
};
enum { ADRT_CLASS_S0 = 0, ADRT_CLASS_S1 = 1, ADRT_CLASS_S2 = 2 };

/* ------------------------------------------------------------------------------------------------ plan */

/* One argument of a launch. All elements of an array have the same struct_size, which is the array's stride.
 */
typedef struct adrt_arg {
  uint32_t struct_size;
  uint32_t kind;    /* ADRT_PARAM_BUFFER, _SCALAR or _LAYOUT */
  const char* name; /* the parameter's name; null: `index` counts */
  uint32_t index;
  uint32_t type; /* ADRT_TYPE_*; of one component for vectors and matrices; not for layouts */
  uint32_t rows; /* element shape, 0 as 1: vec<T, 3> is 3 x 1, mat<T, 3, 3> is 3 x 3 */
  uint32_t columns;
  uint32_t rank; /* buffer: number of axes */
  uint32_t reserved0;
  void* data; /* buffer, layout: memory of the device as adrt_memory_data names it; scalar: the value in host
                 memory. adrt_plan copies the value */
  int64_t extents[8]; /* buffer: elements along each axis */
  uint64_t size;      /* layout: bytes; others: 0, or bytes of `data` to be checked against the extents */
  uint64_t
      content_version; /* nonzero: equal numbers promise equal contents, so that sizes read once stay valid */
  uint64_t reserved[2];
} adrt_arg;

typedef struct adrt_launch_plan adrt_launch_plan;

typedef struct adrt_plan_desc {
  uint32_t struct_size;
  uint32_t arg_count;
  const adrt_arg* args;
  adrt_module* module;  /* the module that will run it; null: sizes alone, for `target` */
  uint32_t target;      /* without a module: index of the target */
  uint32_t workers;     /* CPU: jobs, GPU: threads that hold rows, at most this many at once; 0: the device's
                           count, of which a CPU wakes those that have work; 1 without a module */
  uint64_t heap_budget; /* bytes that the heap may take; 0: as many as it needs. Fewer workers run where that
                           makes it fit, and loops keep checkpoints where the kernel was compiled for them.
                           Where not even that does it, adrt_error.needed_bytes says which budget would: at
                           once where all sizes are known, else by adrt_plan_resolve or adrt_run, which know
                           what all tasks take. It is a lower bound, and the text says so, without a module,
                           with a cap, and where a task's sizes are known at its turn only */
  /* Steps that each call on the plan may take to compute its sizes, all of them together
   * (adrt_plan_report.steps says how many it took); 0: 2^28, about a second. 64 trips of a loop in which a
   * CPU counts are a step, which is some ten seconds of counting. A call that takes more fails with
   * ADRT_ERROR_OVER_LIMIT: allow more for a bundle that you trust. */
  uint64_t size_budget;
  /* GPU: rows of gated stacks are counted before a launch if a row for every thread would take more bytes
   * than this, in a task; 0: 1 MiB, UINT64_MAX: never. They are not counted again as long as content_version
   * of all buffers that decide about the gates stays the same */
  uint64_t size_threshold;
  /* For bundles compiled with --bounds-record (others: ADRT_ERROR_UNSUPPORTED). Memory of the device, as
   * adrt_arg.data names it, aligned to 8; null: none. A kernel that has a gradient writes the bounds of its
   * loops there (trips, starts, in which iterations), after its last task. Its gradient, planned with the
   * same memory, compares the bounds of its own loops with them before its first task: bounds are scalars,
   * shapes and buffers, and any of them may have been changed in between. Where they differ adrt_run
   * computes nothing and gives ADRT_ERROR_BOUNDS_CHANGED. In a recorded launch the gradient runs all the
   * same and adrt_status_read gives that error: its results must not be used. A record is valid for any
   * number of launches of the gradient. It takes adrt_plan_report.bounds_bytes; if that is 0 no bound can
   * change, and no memory is touched. */
  void* bounds_record;
  uint64_t bounds_record_size; /* bytes */
  /* CPU: asked now and then while a call on the plan counts; anything but 0 ends the call with
   * ADRT_ERROR_CANCELLED. All threads that count ask, at the same time. Null: never asked */
  int (*is_cancelled)(void* cancel_user);
  void* cancel_user;
  uint64_t reserved[1];
} adrt_plan_desc;

/* Checks the arguments and computes the memory of the launch, on the host alone: it makes no driver call
 * that waits, and reads no buffer. Only on CUDA the first plan of a kernel on a module has the driver compile
 * it (adrt_cuda.h); threads that plan the same kernel wait for that. Sizes of class S2 stay open until
 * adrt_plan_resolve, adrt_plan_with_cap or adrt_run, and with a module also those of class S1 that take more
 * than 2^18 steps to evaluate and have a size kernel. Without a module, buffers may be null. Any thread; the
 * plan itself is for one thread at a time. */
ADRT_API adrt_status adrt_plan(const adrt_kernel* kernel, const adrt_plan_desc* desc, adrt_launch_plan** plan,
                               adrt_error* error);
/* Gives a plan other arguments: those listed, under the rules of adrt_plan; the others stay. Sizes stay too
 * unless a number, a shape, a buffer or a content_version on which they may depend has changed. Sizes of
 * class S2 are then open again until the next adrt_plan_resolve or adrt_run, which does not copy a buffer
 * again whose version it has seen. It works on the host only, and from the second call on allocates nothing
 * (except for unusually large expressions), so that adrt_plan_update and adrt_run in turn allocate nothing.
 * If it fails the plan is unchanged, except that sizes of class S2 are open. Launches that were recorded
 * from the plan do not change. One thread at a time. */
ADRT_API adrt_status adrt_plan_update(adrt_launch_plan* plan, const adrt_arg* args, uint32_t arg_count,
                                      adrt_error* error);
ADRT_API void adrt_plan_retain(adrt_launch_plan* plan);
ADRT_API void adrt_plan_release(adrt_launch_plan* plan);

#define ADRT_READBACK_COUNTS 0xFFFFFFFFu

/* The parts of a device's memory that sizing reads: piece `index` of the readback that adrt_plan_resolve
 * takes. Pieces are whole buffers, in the order of the parameters. If something is to be counted, the last
 * piece is the counts of adrt_record_size_*, from the start of the memory that it was given. */
typedef struct adrt_readback_report {
  uint32_t struct_size;
  uint32_t count;       /* pieces; 0 on a CPU, and where nothing is read before the launch */
  uint64_t total_bytes; /* of the readback */
  uint64_t offset;      /* where the piece begins in it, a multiple of 16 */
  uint64_t bytes;       /* to copy there, from the start of the parameter's buffer */
  uint32_t param;       /* the parameter, or ADRT_READBACK_COUNTS */
  uint32_t reserved0;
  const char* name; /* its name, lives as long as the bundle; null where count is 0 */
  uint64_t reserved[2];
} adrt_readback_report;

/* One thread at a time. */
ADRT_API adrt_status adrt_plan_readback(const adrt_launch_plan* plan, uint32_t index,
                                        adrt_readback_report* report, adrt_error* error);

/* The memory that counting takes on a device. It counts the elements of stacks of data-dependent loops, the
 * iterations that pass the gates of stacks, and those of loops whose bounds no expression gives.
 * adrt_record_size_cuda, _hip, _vk, _metal record it. */
typedef struct adrt_count_report {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t counts_bytes; /* of the counts, which come first in the memory; 0: nothing is to be counted */
  uint64_t memory_bytes; /* of device memory that recording takes */
  uint64_t memory_alignment;
  uint64_t reserved[4];
} adrt_count_report;

/* One thread at a time. */
ADRT_API adrt_status adrt_plan_counting(adrt_launch_plan* plan, adrt_count_report* report, adrt_error* error);

/* Determines sizes of class S2, and rows of gates. On a CPU, where buffers lie in host memory, readback is
 * null and they are read now. Elsewhere readback holds the pieces that adrt_plan_readback lists, and is
 * copied; it may end before the counts if no count is required (a plan that is resolved without counts takes
 * a row per thread). A plan may take several rounds of recording, reading back and resolving: if the count
 * of a stack depends on another's content or on iterations that are counted themselves, or if the counted
 * sizes do not fit the budget without checkpoints. Only adrt_run determines sizes that depend on memory that
 * the kernel itself writes: if nothing else is open, resolving on a device is ADRT_ERROR_NEEDS_DEVICE_DATA.
 * If counts change from round to round, ADRT_ERROR_OVER_LIMIT ends the counting, so that a loop of counting
 * and resolving until adrt_plan_report.resolved ends. One thread at a time. */
ADRT_API adrt_status adrt_plan_resolve(adrt_launch_plan* plan, const void* readback, size_t readback_size,
                                       adrt_error* error);

/* Sizes stacks of class S2 without reading: the heap takes at most max_bytes, and these stacks share evenly
 * what the rest leaves of it. If that is too little, the launch reports ADRT_ERROR_ADSTACK_OVERFLOW. A cap
 * does not replace numbers of iterations that depend on contents: if they are open it fails
 * (ADRT_ERROR_NEEDS_DEVICE_DATA: resolve the plan first), unless only adrt_run can determine them. If it
 * fails the plan is unchanged. One thread at a time. */
ADRT_API adrt_status adrt_plan_with_cap(adrt_launch_plan* plan, uint64_t max_bytes, adrt_error* error);

/* Sizes a plan without a module as if `iterations` iterations claimed a row of the group, as a launch does
 * after counting. No effect if they are not counted (adrt_group_report.can_count). One thread at a time. */
ADRT_API adrt_status adrt_plan_assume(adrt_launch_plan* plan, uint32_t task, uint32_t group,
                                      uint64_t iterations, adrt_error* error);

typedef struct adrt_plan_report {
  uint32_t struct_size;
  uint32_t size_class; /* ADRT_CLASS_* */
  uint32_t resolved;   /* nonzero: heap_bytes is final */
  uint32_t task_count;
  uint64_t heap_bytes; /* of what is known */
  uint64_t heap_alignment;
  uint64_t status_bytes;
  uint64_t scratch_bytes; /* part of heap_bytes */
  uint32_t workers;
  uint32_t target;
  uint64_t bounds_bytes; /* of the kernel's bounds record */
  uint64_t saved_bytes;  /* that saved values take, in all parameters of ADRT_ROLE_SAVED */
  uint64_t steps;        /* that the last call which computed sizes took (adrt_plan_desc.size_budget) */
  uint64_t reserved[1];
} adrt_plan_report;

typedef struct adrt_task_report {
  uint32_t struct_size;
  uint32_t parallel; /* 0: serial */
  uint32_t size_class;
  uint32_t resolved;
  uint32_t axis_count;
  uint32_t group_count;
  uint32_t stack_count;
  uint32_t lanes;
  int64_t extents[8];
  uint64_t iterations;
  uint64_t chunks;    /* pieces into which the iterations are divided; GPU: threads */
  uint64_t threads;   /* CPU: jobs, GPU: threads, at most this many at once */
  uint64_t rows;      /* of the largest claim group: threads up to whole blocks of lanes, or fewer */
  uint64_t row_bytes; /* over all claim groups */
  uint64_t
      heap_bytes; /* rows of all groups and claim counters; tasks use the same memory one after the other */
  const char* place;     /* source place, lives as long as the bundle */
  uint64_t segment;      /* iterations between checkpoints; 0: whole tapes */
  uint64_t counted_axes; /* bit n: code has to count the iterations of axis n before they are known */
  uint64_t reserved[2];
} adrt_task_report;

typedef struct adrt_group_report {
  uint32_t struct_size;
  uint32_t can_count; /* a size kernel counts the iterations that claim a row */
  uint32_t counted;   /* it has: `iterations` holds, and there are no more rows than that, in whole blocks */
  uint32_t reserved0;
  uint64_t iterations; /* that pass the gate */
  uint64_t rows;
  uint64_t row_bytes;
  const char* gate; /* source place, empty where none */
  uint64_t reserved[4];
} adrt_group_report;

typedef struct adrt_stack_report {
  uint32_t struct_size;
  uint32_t type; /* ADRT_TYPE_* */
  uint32_t group;
  uint32_t in_row;  /* 0: in private memory */
  uint32_t counted; /* 0: addressed by loop indices */
  uint32_t size_class;
  uint32_t known;    /* 0: no expression gives the capacity, the launch needs a cap */
  uint32_t bits;     /* flags, one bit each in words of 32 */
  uint64_t capacity; /* elements; 0 while open */
  uint64_t offset;   /* bytes from the start of its row */
  const char* place; /* source place of the push */
  const char* gate;  /* source place of its claim group's gate, empty where none */
  char formula[416]; /* the capacity as an expression */
  uint64_t bytes;    /* that the capacity takes, of its row or of private memory; 0 while open */
  uint64_t reserved[3];
} adrt_stack_report;

/* Elements of a buffer of saved values that a launch fills or reads: the least extent of the parameter, which
 * must have the role ADRT_ROLE_SAVED. Ask a plan without a module, whose saved buffers may be null and have
 * the extent 0; a plan with a module is refused (ADRT_ERROR_ARGUMENT, needed_bytes) where they are smaller.
 * Where data says how many values there are, *elements is what is known so far, and
 * ADRT_ERROR_NEEDS_DEVICE_DATA is returned as long as it may become more: make a plan with a module and the
 * extent 0, ask it after adrt_plan_resolve, and give the memory by adrt_plan_update. A launch for which it is
 * too small is refused before it runs anything, or before the first task that is sized at its turn; and where
 * nothing counts the values, its status says so (ADRT_ERROR_ADSTACK_OVERFLOW). Ask the kernel: its gradient
 * needs no more, and states less, or 0, where data says it; its status reports values that do not fit. Kernel
 * and gradient are given the same memory, which no other code writes in between. One thread at a time.
 */
ADRT_API adrt_status adrt_plan_saved(const adrt_launch_plan* plan, uint32_t param, uint64_t* elements,
                                     adrt_error* error);
/* One thread at a time. */
ADRT_API adrt_status adrt_plan_info(const adrt_launch_plan* plan, adrt_plan_report* report,
                                    adrt_error* error);
ADRT_API adrt_status adrt_plan_task(const adrt_launch_plan* plan, uint32_t task, adrt_task_report* report,
                                    adrt_error* error);
ADRT_API adrt_status adrt_plan_group(const adrt_launch_plan* plan, uint32_t task, uint32_t group,
                                     adrt_group_report* report, adrt_error* error);
ADRT_API adrt_status adrt_plan_stack(const adrt_launch_plan* plan, uint32_t task, uint32_t stack,
                                     adrt_stack_report* report, adrt_error* error);

/* ------------------------------------------------------------------------------------------------- run */

/* Memory that launches of adrt_run reuse. It grows by doubling, or to exactly the required size if the
 * doubled size is refused. */
typedef struct adrt_heap adrt_heap;
/* Host memory, for launches on a CPU. Any thread; the heap itself serves one launch at a time. */
ADRT_API adrt_status adrt_heap_create(const adrt_host* host, adrt_heap** heap, adrt_error* error);
/* Memory of the device, for its launches. Any thread; the heap itself serves one launch at a time. */
ADRT_API adrt_status adrt_heap_create_on(adrt_device* device, adrt_heap** heap, adrt_error* error);
ADRT_API void adrt_heap_retain(adrt_heap* heap);
ADRT_API void adrt_heap_release(adrt_heap* heap);
ADRT_API uint64_t adrt_heap_bytes(const adrt_heap* heap);

enum { ADRT_STATUS_BYTES = 64, ADRT_HEAP_ALIGNMENT = 64 }; /* of a CPU's; adrt_plan_report says the plan's */

/* The times of adrt_run. On a CPU, recording a launch runs it. */
typedef struct adrt_run_times {
  uint32_t struct_size;
  uint32_t reserved0;
  uint64_t record_nanoseconds; /* of every launch, in the driver's calls */
  uint64_t wait_nanoseconds;   /* from the submission to the end of the last launch */
} adrt_run_times;

typedef struct adrt_run_desc {
  uint32_t struct_size;
  uint32_t repeat; /* launches, one after the other, recorded before the first is waited for; 0: one. The
                      status block is theirs: the first report stands */
  adrt_heap* heap; /* where the launch's memory comes from; null: `memory`, or a passing allocation */
  void* memory;    /* caller's memory of the device, as adrt_arg.data names it, aligned as the plan says */
  uint64_t memory_size; /* at least the plan's heap_bytes */
  void* status; /* ADRT_STATUS_BYTES of host memory that get the status block, 4-byte aligned; null: none */
  adrt_run_times* times; /* for measuring; null: none */
  uint64_t reserved[3];
} adrt_run_desc;

/* Runs a plan that has a module, and waits: determines open sizes, takes memory, launches every task,
 * reports. desc may be null. Two launches at once must not share a plan, a heap or memory. One thread at a
 * time. */
ADRT_API adrt_status adrt_run(adrt_launch_plan* plan, const adrt_run_desc* desc, adrt_error* error);

/* Launches in the caller's own queues: adrt_record_cuda, adrt_record_vk and so on (adrt_cuda.h, adrt_vk.h,
 * adrt_metal.h). They submit nothing, wait for nothing, allocate no device memory and read nothing back. The
 * plan must be resolved (adrt_plan_resolve, adrt_plan_with_cap). Module, arguments' memory, heap and status
 * block must stay as they are until the launch is done. Launches that may run at once must not share a heap
 * or a status block. The part of the heap that the launch takes, its status block and the arguments must not
 * overlap (ADRT_ERROR_ARGUMENT). A recorded launch clears the status block first; adrt_status_read reads it
 * afterwards. So a launch that shares its block with an earlier one in the same command buffer clears the
 * report of that one, unless it is chained. */

/* With `on` nonzero, launches that are recorded from now on leave the status block as they find it: launches
 * of this plan, with any arguments, that follow each other in a queue then share one block, and the first
 * report stands. Chain all but the first, which clears the block. Launches of other plans take blocks of
 * their own. One thread at a time. */
ADRT_API adrt_status adrt_plan_chain_status(adrt_launch_plan* plan, int on, adrt_error* error);

/* The report of a launch of this plan, from its status block, copied to host memory. Any thread. */
ADRT_API adrt_status adrt_status_read(const adrt_launch_plan* plan, const void* status, adrt_error* error);

/* ------------------------------------------------------------------------------------------ introspection */

/* The result of checking a bundle's signatures. Only GOOD lets code run. */
enum {
  ADRT_SIGNATURE_NONE = 0,        /* the bundle has none */
  ADRT_SIGNATURE_NOT_CHECKED = 1, /* it has, and the host has no keys or no check_signature */
  ADRT_SIGNATURE_GOOD = 2,        /* one of the host's keys has signed this content */
  ADRT_SIGNATURE_UNKNOWN = 3,     /* it is signed by keys alone that the host did not give */
  ADRT_SIGNATURE_BAD = 4          /* it names a key of the host, and that key has not signed this content */
};
/* A short English name: "signed by an unknown key". Any thread. */
ADRT_API const char* adrt_signature_text(uint32_t signature);

typedef struct adrt_bundle_report {
  uint32_t struct_size;
  uint16_t major, minor; /* of the format */
  uint8_t content_id[32];
  uint64_t file_bytes;
  uint32_t section_count;
  uint32_t target_count;
  uint32_t kernel_count;
  uint32_t layout_count;
  uint32_t source_count;
  uint32_t signature; /* ADRT_SIGNATURE_* */
  const char* producer;
  uint64_t open_memory_bytes; /* the most that opening it took (adrt_limits) */
  uint64_t open_raw_bytes;
  uint64_t open_steps;
  uint8_t signer[32]; /* signature GOOD, BAD: the key; else zeros */
  uint64_t reserved[1];
} adrt_bundle_report;

typedef struct adrt_section_report {
  uint32_t struct_size;
  uint32_t target; /* 0xFFFFFFFF: none */
  char kind[8];    /* "META" */
  uint64_t offset;
  uint64_t stored_bytes;
  uint64_t raw_bytes;
  uint32_t required;
  uint32_t compressed;
  uint32_t alignment;
  uint32_t reserved0;
  uint64_t reserved[4];
} adrt_section_report;

typedef struct adrt_target_info {
  uint32_t struct_size;
  uint32_t feature_count;
  const char* name;
  const char* kind;
  const char* arch;
  const char* abi;
  uint64_t reserved[4];
} adrt_target_info;

typedef struct adrt_kernel_report {
  uint32_t struct_size;
  uint32_t index; /* in the bundle, by name */
  const char* name;
  const char* role; /* "primal", "grad", "jvp", "size", "bounds" */
  const char* of;   /* kernel that it was derived from, or empty */
  const char* place;
  uint64_t interface_hash;
  uint32_t param_count;
  uint32_t task_count;
  uint32_t size_class; /* highest of its tasks */
  uint32_t checks; /* assertions and checked accesses, of which recorded launches report; 0: a resolved plan
                      has nothing to report. A loader for the CPU alone says 0 */
  uint64_t bounds_bytes; /* of its bounds record (adrt_plan_desc); 0: there is none, or nothing to record */
  uint64_t reserved[3];
} adrt_kernel_report;

typedef struct adrt_param_report {
  uint32_t struct_size;
  uint32_t kind;
  const char* name;
  uint32_t type;
  uint32_t rows, columns;
  uint32_t rank;
  uint32_t access;
  uint32_t role;
  uint32_t primal; /* parameter that it is the companion of, or 0xFFFFFFFF */
  uint32_t layout; /* index of its layout, or 0xFFFFFFFF */
  uint32_t diff, alias, write_once;
  uint32_t reserved0;
  uint64_t reserved[4];
} adrt_param_report;

typedef struct adrt_layout_report {
  uint32_t struct_size;
  uint32_t field_count;
  const char* name;
  uint64_t bytes;
  uint64_t alignment;
  uint64_t reserved[4];
} adrt_layout_report;

/* A field of a layout. The index along an axis has one digit per level, outermost first; the address is
 * offset + sum of digit * stride. */
typedef struct adrt_field_report {
  uint32_t struct_size;
  uint32_t type;
  const char* name;
  uint32_t rows, columns;
  uint32_t diff;
  uint32_t level_count;
  uint64_t offset;
  uint32_t axis_count[8]; /* per level */
  int64_t extents[8][8];  /* per level and axis */
  int64_t strides[8][8];  /* bytes */
  uint64_t reserved[4];
} adrt_field_report;

/* Any thread. Texts live as long as the bundle. An index that is too large is ADRT_ERROR_ARGUMENT. */
ADRT_API adrt_status adrt_bundle_info(const adrt_bundle* bundle, adrt_bundle_report* report,
                                      adrt_error* error);
ADRT_API adrt_status adrt_bundle_section(const adrt_bundle* bundle, uint32_t index,
                                         adrt_section_report* report, adrt_error* error);
/* Copies a section's uncompressed content; *size is its length. A capacity that is too small is an error and
 * copies nothing; null bytes ask for the length. */
ADRT_API adrt_status adrt_bundle_section_data(const adrt_bundle* bundle, uint32_t index, void* bytes,
                                              size_t capacity, size_t* size, adrt_error* error);
ADRT_API adrt_status adrt_bundle_target(const adrt_bundle* bundle, uint32_t index, adrt_target_info* info,
                                        adrt_error* error);
ADRT_API const char* adrt_bundle_target_feature(const adrt_bundle* bundle, uint32_t target, uint32_t index);
ADRT_API const char* adrt_bundle_source(const adrt_bundle* bundle, uint32_t index);
ADRT_API adrt_status adrt_bundle_kernel(const adrt_bundle* bundle, uint32_t index, const adrt_kernel** kernel,
                                        adrt_error* error);
ADRT_API adrt_status adrt_bundle_layout(const adrt_bundle* bundle, uint32_t index, adrt_layout_report* report,
                                        adrt_error* error);
ADRT_API adrt_status adrt_bundle_field(const adrt_bundle* bundle, uint32_t layout, uint32_t index,
                                       adrt_field_report* report, adrt_error* error);
ADRT_API adrt_status adrt_kernel_info(const adrt_kernel* kernel, adrt_kernel_report* report,
                                      adrt_error* error);
ADRT_API adrt_status adrt_kernel_param(const adrt_kernel* kernel, uint32_t index, adrt_param_report* report,
                                       adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
