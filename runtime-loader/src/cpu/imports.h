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

/* Ends with a null name. */
extern const struct adrt_import adrt_math_imports[];

#ifdef __cplusplus
}
#endif
