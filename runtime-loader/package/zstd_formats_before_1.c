/* The distribution's zstd also reads the frame formats from before version 1.0, which bundles never hold: a
 * third of the decoder. Linked into the packaged loader alone, where every name below becomes local, these
 * take their place, and such a frame is simply not a frame. */

#include <stddef.h>

#define ABSENT(name)   \
  size_t name(void);   \
  size_t name(void) {  \
    return (size_t)-1; \
  }

ABSENT(ZSTDv05_createDCtx)
ABSENT(ZSTDv05_freeDCtx)
ABSENT(ZSTDv05_decompress_usingDict)
ABSENT(ZSTDv05_findFrameSizeInfoLegacy)
ABSENT(ZSTDv05_getFrameParams)
ABSENT(ZBUFFv05_createDCtx)
ABSENT(ZBUFFv05_freeDCtx)
ABSENT(ZBUFFv05_decompressInitDictionary)
ABSENT(ZBUFFv05_decompressContinue)
ABSENT(ZSTDv06_createDCtx)
ABSENT(ZSTDv06_freeDCtx)
ABSENT(ZSTDv06_decompress_usingDict)
ABSENT(ZSTDv06_findFrameSizeInfoLegacy)
ABSENT(ZSTDv06_getFrameParams)
ABSENT(ZBUFFv06_createDCtx)
ABSENT(ZBUFFv06_freeDCtx)
ABSENT(ZBUFFv06_decompressInitDictionary)
ABSENT(ZBUFFv06_decompressContinue)
ABSENT(ZSTDv07_createDCtx)
ABSENT(ZSTDv07_freeDCtx)
ABSENT(ZSTDv07_decompress_usingDict)
ABSENT(ZSTDv07_findFrameSizeInfoLegacy)
ABSENT(ZSTDv07_getFrameParams)
ABSENT(ZBUFFv07_createDCtx)
ABSENT(ZBUFFv07_freeDCtx)
ABSENT(ZBUFFv07_decompressInitDictionary)
ABSENT(ZBUFFv07_decompressContinue)
