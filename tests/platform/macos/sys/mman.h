#pragma once
/* Stand-in for macOS's header: what Linux's has, and what the loader uses beyond it. */
#include_next <sys/mman.h>
#define MAP_JIT 0x0800
