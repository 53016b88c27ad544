/* The compiler as a library: text in memory to a bundle in memory. docs/compiler-library.md is the guide.
 *
 * No call writes or reads a file of the caller's, prints, or changes the process; it reads only LLVM's own
 * libraries of math functions, for targets that need them. Every call may run on any number of threads at
 * once: there is no state besides what the caller holds. A call needs a stack of 8 MiB at most. */

#ifndef ADC_ADC_H
#define ADC_ADC_H

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#define ADC_API
#else
#define ADC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef enum adc_status {
  ADC_OK = 0,
  ADC_FAILED = 1,      /* errors were reported */
  ADC_USAGE = 2,       /* options that do not fit together, or no such target */
  ADC_UNSUPPORTED = 5, /* a target cannot express a kernel */
  ADC_CANCELLED = 6,   /* adc_options::cancel said so */
  ADC_NO_MEMORY = 7
} adc_status;

typedef enum adc_severity { ADC_SEVERITY_ERROR = 0, ADC_SEVERITY_WARNING = 1, ADC_SEVERITY_REMARK = 2 } adc_severity;

typedef enum adc_emit {
  ADC_EMIT_BUNDLE = 0, /* code and metadata for all targets */
  ADC_EMIT_IR = 1,     /* the module as text, with its derived kernels */
  ADC_EMIT_JSON = 2,   /* the metadata */
  ADC_EMIT_HEADER = 3, /* a C header with names and interface hashes */
  ADC_EMIT_SPIRV = 4,  /* the code of one Vulkan target */
  ADC_EMIT_OBJECT = 5, /* the object of one CPU target */
  ADC_EMIT_PTX = 6,    /* the code of one CUDA target */
  ADC_EMIT_MSL = 7,    /* the source text of one Metal target */
  ADC_EMIT_CHECK = 8   /* nothing: the text is read and verified */
} adc_emit;

typedef enum adc_float_mode { ADC_FLOAT_CONTRACT = 0, ADC_FLOAT_STRICT = 1, ADC_FLOAT_FAST = 2 } adc_float_mode;

/* Bits of adc_options::flags, each named after the option of `adc`. */
enum {
  ADC_CHECK_BOUNDS = 1,
  ADC_CHECK_WRITES = 2,
  ADC_DETERMINISTIC = 4,
  ADC_SAVE_OVERWRITTEN = 8,
  ADC_BOUNDS_RECORD = 16,
  ADC_ASSERTS = 32,
  ADC_LINE_TABLES = 64,
  ADC_KEEP_GOING = 128,
  ADC_FORBID_S2 = 256,
  ADC_NO_WARNINGS = 512,
  ADC_WARNINGS_ARE_ERRORS = 1024,
  ADC_PRINTS = 2048
};

/* A line of a text that a front end has printed, and the place in its own source that it comes from. */
typedef struct adc_place {
  uint32_t text_line; /* from 1, in growing order; lines between two entries are of the first one */
  uint32_t line;      /* from 1 */
  uint32_t column;    /* from 1 */
} adc_place;

typedef struct adc_source {
  const char* name; /* for messages and metadata */
  const char* text;
  size_t size; /* bytes of text */
  /* Of a text that was printed by a front end: places in `origin` take the place of those in the text, in
   * messages, reports, metadata and line tables. None: null and 0. */
  const adc_place* places;
  size_t place_count;
  const char* origin;      /* name of the front end's source; null: none */
  const char* origin_text; /* its text, for the lines that messages show; null: they show none */
  size_t origin_size;
} adc_source;

typedef struct adc_note {
  const char* message;
  const char* file; /* null: no place */
  uint32_t line, column;
} adc_note;

/* All pointers are good during the call of the report function alone. */
typedef struct adc_diagnostic {
  adc_severity severity;
  const char* id;      /* "E0107"; docs/errors.md */
  const char* message;
  const char* help;    /* the remedy; null: none */
  const char* file;    /* null: no place */
  uint32_t line, column, end_line, end_column; /* from 1 */
  const adc_note* notes;
  size_t note_count;
  const char* text; /* all of it, as `adc` prints it: the line, a caret, notes and help */
} adc_diagnostic;

typedef void (*adc_report_fn)(void* user, const adc_diagnostic* diagnostic);
/* Asked between steps of a compilation, from the thread that compiles: not 0 ends it. */
typedef int (*adc_cancel_fn)(void* user);
/* The text of an import, as the text names it. 0: there is none. The text has to stay until adc_compile returns. */
typedef int (*adc_import_fn)(void* user, const char* path, const char** text, size_t* size);

typedef struct adc_options {
  size_t struct_size; /* set by adc_options_init */
  adc_emit emit;
  const char* const* targets; /* "cpu:x86-64-v3", "vulkan"; none: those of `adc` */
  size_t target_count;
  const char* derive;         /* "grad" (as where it is null), "jvp", "grad,jvp", "jvp:4", "none" */
  const char* const* defines; /* "n=25", "real=f64" */
  size_t define_count;
  const char* const* active; /* of the parameters that are `diff`, those that count; none: all */
  size_t active_count;
  uint32_t optimisation; /* 0 to 3; default 2 */
  adc_float_mode float_mode;
  uint32_t flags;
  uint32_t checkpoint;  /* iterations of a segment of every long loop; 0: of the marked ones alone */
  uint32_t error_limit; /* 0: none; default 20 */
  uint32_t threads;     /* that this compilation may use, for several targets; default 1 */
  void* user;           /* for the functions */
  adc_report_fn report;
  adc_cancel_fn cancel;
  adc_import_fn import;
} adc_options;

typedef struct adc_product adc_product;

/* The text that `adc --version` prints. */
ADC_API const char* adc_version(void);
ADC_API void adc_options_init(adc_options* options);
/* Compiles `count` texts together, as one module. `product` is set where the result is ADC_OK, and is the
 * caller's to free. The same texts and options give the same bytes as `adc` writes for files of these names. */
ADC_API adc_status adc_compile(const adc_source* sources, size_t count, const adc_options* options,
                               adc_product** product);
/* The bytes of a product, until it is freed. Text ends with a zero byte that `size` does not count. */
ADC_API const uint8_t* adc_product_bytes(const adc_product* product, size_t* size);
ADC_API void adc_product_free(adc_product* product);

#ifdef __cplusplus
}
#endif

#endif
