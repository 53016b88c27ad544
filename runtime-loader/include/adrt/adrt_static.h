#ifndef ADRT_ADRT_STATIC_H
#define ADRT_ADRT_STATIC_H
/* Kernels that are linked into the program, for systems that load no code (consoles, iOS). C11.
 *
 * `adc extract --static` writes the object of one CPU target, and a table of its entries: a C file, with a
 * header that declares the table. A module that is made of the table is like any other: plans, budgets, rows,
 * guards and reports are the same. Nothing is mapped, decompressed or copied.
 *
 *   #include "relax_entries.h"
 *   adrt_bundle_open(&host, bytes, size, ADRT_BUNDLE_BORROW, &bundle, &error);
 *   adrt_device_wrap_cpu(&host, &jobs, &device, &error);
 *   adrt_module_from_entries(device, bundle, &relax_entries, &module, &error);
 *   adrt_plan(kernel, &desc, &plan, &error);  // and so on, as in adrt.h */

#include <adrt/adrt.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How entries are called, as artifact/cpu_abi.h describes it. It is another number if that changes. */
#define ADRT_ENTRIES_ABI 1u

struct adrt_cpu_frame;

/* A task of a kernel, by the name that the bundle's metadata has for it. */
typedef struct adrt_entry {
  const char* name;
  void (*function)(const struct adrt_cpu_frame* frame, uint64_t begin, uint64_t end);
} adrt_entry;

/* The table that adc writes. Programs fill none by hand. */
typedef struct adrt_entries {
  uint32_t struct_size;
  uint32_t abi;       /* ADRT_ENTRIES_ABI of the adc that wrote it */
  const char* bundle; /* for messages: the name of the bundle's file */
  const char* target; /* "cpu:x86-64-v3" */
  /* Content ids: of the bundle that the object came from, and of the same bundle without code of processors,
   * which `adc extract --static` writes beside the object. */
  uint8_t content_ids[2][32];
  const adrt_entry* entries; /* ascending by name, as strcmp orders them */
  uint32_t entry_count;
  uint32_t reserved0;
  uint64_t reserved[2];
} adrt_entries;

/* A module of linked code. The bundle must be one of the two that the table was made for
 * (ADRT_ERROR_INTERFACE_MISMATCH: the text names both), by a content id of 256 bits over all that it holds;
 * so it needs no other trust, and the host's is not asked. ADRT_ERROR_VERSION: another adc wrote the table,
 * whose entries are called otherwise. ADRT_ERROR_DEVICE_FEATURE: this processor lacks what the code was
 * compiled for. ADRT_ERROR_ARGUMENT: the device is no CPU, or an entry that the metadata names is missing.
 * The table may go as soon as the function returns. Any thread. */
ADRT_API adrt_status adrt_module_from_entries(adrt_device* device, adrt_bundle* bundle,
                                              const adrt_entries* entries, adrt_module** module,
                                              adrt_error* error);

#ifdef __cplusplus
}
#endif
#endif
