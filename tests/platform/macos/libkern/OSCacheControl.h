#pragma once
/* Stand-in for macOS's header. */
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
void sys_icache_invalidate(void* start, size_t len);
#ifdef __cplusplus
}
#endif
