#pragma once
/* Stand-in for macOS's header: what Linux's has, and what the loader uses beyond it. */
#include_next <pthread.h>
#ifdef __cplusplus
extern "C" {
#endif
void pthread_jit_write_protect_np(int enabled);
#ifdef __cplusplus
}
#endif
