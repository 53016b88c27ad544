#pragma once
/* The functions of Metal that the loader calls, as a C table: metal_api.mm fills it with Metal, tests with
 * something that runs on the host. C11.
 *
 * Objects are void*. The result of a function named new_* or begin_* is the caller's, and goes back through
 * `release` or `end`; everything else is borrowed. `text` of `text_size` bytes gets the reason of a failure,
 * cut to fit and ended by a zero. `user` is the table's own first argument. Any function may be called from
 * several threads at once, but for those of one encoder or one command buffer. */

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct adrt_metal_facts {
  char name[64];          /* of the device */
  uint32_t language;      /* newest version of the language, 24 for 2.4 */
  uint32_t most_threads;  /* of a threadgroup */
  uint32_t table_tier;    /* of argument buffers, 1 or 2 */
  uint64_t most_bytes;    /* of one buffer */
  uint64_t working_bytes; /* that fit at once, by the system's recommendation; 0: unknown */
} adrt_metal_facts;

enum {
  ADRT_METAL_DONE = 0,
  ADRT_METAL_FAILED = 1,
  ADRT_METAL_OUT_OF_MEMORY = 2,
  ADRT_METAL_LOST = 3 /* the device is gone */
};

typedef struct adrt_metal_api {
  void* user;

  void (*retain)(void* user, void* object);
  void (*release)(void* user, void* object);

  void* (*new_default_device)(void* user); /* null: none */
  void (*describe)(void* user, void* device, adrt_metal_facts* facts);
  void* (*new_queue)(void* user, void* device); /* null: refused */

  /* Compiles source text; `language` as in the facts. Null: `text` says why. */
  void* (*new_library)(void* user, void* device, const char* source, uint64_t source_size, uint32_t language,
                       char* text, uint32_t text_size);
  int32_t (*has_function)(void* user, void* library, const char* name);
  /* `most_threads` of a threadgroup, for this kernel. Null: `text` says why. */
  void* (*new_pipeline)(void* user, void* library, const char* name, uint32_t* most_threads, char* text,
                        uint32_t text_size);

  void* (*new_buffer)(void* user, void* device, uint64_t bytes); /* that the host sees too; null: refused */
  void* (*contents)(void* user, void* buffer);                   /* null: the host does not see it */
  uint64_t (*length)(void* user, void* buffer);
  uint64_t (*address)(void* user, void* buffer); /* as kernels see it; 0: this system does not tell */

  void* (*new_commands)(void* user, void* queue); /* null: refused */
  /* ADRT_METAL_*; `code` is the system's own number. */
  int32_t (*commit_and_wait)(void* user, void* commands, int32_t* code, char* text, uint32_t text_size);

  /* One encoder is open at a time. Its work begins when that of encoders before it is done. */
  void* (*begin_compute)(void* user, void* commands); /* null: refused */
  void* (*begin_copy)(void* user, void* commands);
  void (*end)(void* user, void* encoder);

  void (*set_pipeline)(void* user, void* encoder, void* pipeline);
  void (*set_buffer)(void* user, void* encoder, void* buffer, uint64_t offset, uint32_t index);
  void (*set_bytes)(void* user, void* encoder, const void* bytes, uint64_t size, uint32_t index);
  /* Kernels of this encoder reach the buffer through its address, to read and write it. */
  void (*use_buffer)(void* user, void* encoder, void* buffer);
  void (*dispatch)(void* user, void* encoder, uint32_t blocks, uint32_t block_size);
  void (*barrier)(void* user, void* encoder); /* dispatches after it see what those before it wrote */

  void (*fill_zero)(void* user, void* encoder, void* buffer, uint64_t offset, uint64_t bytes);
  void (*copy)(void* user, void* encoder, void* from, uint64_t from_offset, void* to, uint64_t to_offset,
               uint64_t bytes);
} adrt_metal_api;

/* Metal's own table; null where this build holds none. */
const adrt_metal_api* adrt_metal_system_api(void);

#ifdef __cplusplus
}
#endif
