#pragma once
/* The functions that a shared image may import, by name. C11, so that the C library's names are plain
 * functions. */

#ifdef __cplusplus
extern "C" {
#endif

struct adrt_import {
  const char* name;
  void (*function)(void);
};

/* The table; ends with a null name. */
const struct adrt_import* adrt_math_import_table(void);

#ifdef __cplusplus
}
#endif
